"""Digests against the golden vectors: what equal content is, for ever."""

import json
from pathlib import Path
from typing import Any

import pytest
from stemma.kernel.v1 import message_pb2 as pb

from kernel.tree.digest import (
    ABSENT,
    ROOT_DIGEST,
    context_digest,
    effects_digest,
    floor_digest,
    page_digest,
)
from kernel.tree.model import Page, PageContent, Slot
from kernel.wire.codec import page_content
from tests.fixtures.make_digests import rendered
from tests.unit.builders import NOW

FILE = Path(__file__).parent.parent / "fixtures" / "digests.json"
VECTORS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
PAGES = {found["name"]: found for found in VECTORS["pages"]}
EFFECTS = {found["name"]: bytes.fromhex(found["digest"]) for found in VECTORS["effects"]}
FLOORS = {found["name"]: bytes.fromhex(found["digest"]) for found in VECTORS["floors"]}


def named(kind: str) -> Any:
    return [pytest.param(found, id=found["name"]) for found in VECTORS[kind]]


def part_of(value: dict[str, Any]) -> pb.Part:
    ((kind, body),) = value.items()
    if kind == "text":
        body = {"text": body}
    if kind == "file" and "data" in body:
        body = body | {"data": bytes.fromhex(body["data"])}
    return pb.Part(**{kind: body})


def message_of(value: dict[str, Any]) -> pb.Message:
    """The message as a caller may send it: metadata in the vector's order, with ids and counts."""
    message = pb.Message(role=value["role"], name=value.get("name", ""), hidden=value.get("hidden", False))
    message.parts.extend(part_of(one) for one in value["parts"])
    for key, text in value.get("metadata", []):
        message.metadata[key] = text
    message.message_id, message.parent_message_id, message.token_count = "mine", "its", 77
    return message


def vector_page(name: str | None) -> Page | None:
    if name is None:
        return None
    found = PAGES[name]
    digest = page_digest(Slot(found["slot"]), found["partial"], bytes.fromhex(found["blob"]))
    return Page("p", "f", Slot(found["slot"]), PageContent(b"", ()), digest, 0, False, "", NOW)


def test_the_vectors_are_what_the_formulas_give() -> None:
    assert FILE.read_text(encoding="utf-8") == rendered()


@pytest.mark.parametrize("vector", named("pages"))
def test_a_page_has_the_bytes_and_the_digest_of_its_vector(vector: dict[str, Any]) -> None:
    stored = page_content(message_of(one) for one in vector["messages"])
    assert stored is not None
    assert stored.blob.hex() == vector["blob"]
    assert page_digest(Slot(vector["slot"]), vector["partial"], stored.blob).hex() == vector["digest"]


@pytest.mark.parametrize("vector", named("effects"))
def test_effects_have_the_digest_of_their_vector(vector: dict[str, Any]) -> None:
    assert effects_digest(bytes.fromhex(vector["blob"])).hex() == vector["digest"]


def test_the_root_has_the_digest_of_its_vector() -> None:
    assert ROOT_DIGEST.hex() == VECTORS["root"]


@pytest.mark.parametrize("vector", named("floors"))
def test_a_floor_has_the_digest_of_its_vector(vector: dict[str, Any]) -> None:
    parent = ROOT_DIGEST if vector["parent"] == "root" else FLOORS[vector["parent"]]
    effects = EFFECTS[vector["effects"]] if vector["effects"] else ABSENT
    found = floor_digest(parent, vector_page(vector["input"]), vector_page(vector["output"]), effects)
    assert found.hex() == vector["digest"]


@pytest.mark.parametrize("vector", named("contexts"))
def test_a_context_has_the_digest_of_its_vector(vector: dict[str, Any]) -> None:
    blobs = [bytes.fromhex(PAGES[name]["blob"]) for name in vector["pages"]]
    assert context_digest(blobs).hex() == vector["digest"]
    assert context_digest([b"".join(blobs)]) == context_digest(blobs)


def test_slot_partial_parent_and_place_of_a_side_all_count() -> None:
    """Vectors that differ in one thing differ in their digest."""
    digests = [found["digest"] for kind in ("pages", "floors", "effects") for found in VECTORS[kind]]
    assert len(set(digests)) == len(digests)
    side = vector_page("one word in")
    assert floor_digest(ROOT_DIGEST, side, None) != floor_digest(ROOT_DIGEST, None, side)
