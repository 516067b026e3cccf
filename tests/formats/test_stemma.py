"""Stemma's own files: every digest is derived again, and what is no session is refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from conversation_service.domain.exports.model import ExportBranch, ExportFloor, ExportTree
from conversation_service.domain.exports.stemma import write
from conversation_service.domain.imports.model import BadConversation, NativeConversation
from kernel.tree.digest import ROOT_DIGEST
from kernel.tree.message import Message, Text
from kernel.tree.model import FloorState, Role, Slot
from tests.formats.support import bad, found
from tests.formats.trees import digest_of, page


def session() -> ExportTree:
    """Two turns, the second regenerated, and a failed floor."""
    question = page("p1", Slot.INPUT, (Message(Role.USER, (Text("q"),)),))
    answer = page("p2", Slot.OUTPUT, (Message(Role.ASSISTANT, (Text("a"),)),))
    other = page("p3", Slot.OUTPUT, (Message(Role.ASSISTANT, (Text("b"),)),))
    cut = page("p4", Slot.OUTPUT, (Message(Role.ASSISTANT, (Text("half"),)),), partial=True)
    root = ROOT_DIGEST.hex()
    first = ExportFloor(
        "f1", "root", 0, FloorState.COMMITTED, question, answer, digest_of(root, question, answer), (cut,)
    )
    second = ExportFloor(
        "f2", "root", 1, FloorState.COMMITTED, question, other, digest_of(root, question, other)
    )
    third = ExportFloor("f3", "f2", 0, FloorState.FAILED, question, cut, failure_reason="CRASHED")
    branches = (ExportBranch("main", "f2", None, "f3"), ExportBranch("old", "f1"))
    return ExportTree("Talk", "root", branches, (first, second, third), '{"system_prompt":"s"}')


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in write(session())]


def data_of(values: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def of(values: list[dict[str, Any]], **members: object) -> dict[str, Any]:
    """The first line that has these members."""
    return next(value for value in values if members.items() <= value.items())


def test_a_shared_page_is_written_once() -> None:
    assert [value["page_id"] for value in lines() if value["kind"] == "page"] == ["p1", "p2", "p4", "p3"]
    (read,) = found("stemma", data_of(lines()))
    assert isinstance(read, NativeConversation)
    assert read.tree == session()
    first, second, _ = read.tree.floors
    assert first.input is second.input


def test_several_sessions_in_one_file() -> None:
    broken = lines()
    of(broken, page_id="p2")["messages"][0]["parts"] = [{"text": "forged"}]
    one, two, three = found("stemma", data_of(lines() + broken + lines()))
    assert isinstance(one, NativeConversation)
    assert isinstance(two, BadConversation)
    assert isinstance(three, NativeConversation)
    assert [one.index, two.index, three.index] == [0, 1, 2]


Change = Callable[[list[dict[str, Any]]], object]


@pytest.mark.parametrize(
    "change",
    [
        lambda v: of(v, page_id="p2")["messages"][0].update(parts=[{"text": "forged"}]),
        lambda v: of(v, page_id="p4").update(partial=False),
        lambda v: of(v, page_id="p4").update(digest="00"),
        lambda v: of(v, floor_id="f1").update(digest="0" * 64),
        lambda v: of(v, floor_id="f2").update(output="p2"),
        lambda v: of(v, floor_id="f2").update(parent_floor_id="f1"),
    ],
)
def test_bad_input_44_a_stated_digest_that_does_not_match(change: Change) -> None:
    values = lines()
    change(values)
    result = bad("stemma", data_of(values))
    assert (result.title, result.reason) == ("Talk", "DIGEST_MISMATCH")


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v.pop(),
        lambda v: v.pop(2),
        lambda v: v.remove(of(v, floor_id="f3")),
        lambda v: v.insert(1, {"kind": "news"}),
        lambda v: v.insert(1, {"kind": ["page"]}),
        lambda v: v[0].update(stemma=2),
        lambda v: v[0].update(branches=None),
        lambda v: v[0].update(branches=[]),
        lambda v: v[0].update(branches=[5]),
        lambda v: v[0].update(root_floor_id=""),
        lambda v: v[0].update(config_json="[]"),
        lambda v: v[0].update(config_json="{"),
        lambda v: v[0]["branches"][0].update(head_floor_id="f3"),
        lambda v: v[0]["branches"][0].update(failed_floor_id="f9"),
        lambda v: v[0]["branches"][1].update(name="main"),
        lambda v: v[0]["branches"][1].update(name="../x"),
        lambda v: of(v, floor_id="f1").update(floor_id="f2"),
        lambda v: of(v, floor_id="f1").update(floor_id="root"),
        lambda v: of(v, floor_id="f1").update(parent_floor_id="f9"),
        lambda v: of(v, floor_id="f1").update(parent_floor_id="f1"),
        lambda v: of(v, floor_id="f2").update(parent_floor_id="f3"),
        lambda v: of(v, floor_id="f1").update(input="p9"),
        lambda v: of(v, floor_id="f1").update(input="p2"),
        lambda v: of(v, floor_id="f1").update(input=None, output=None),
        lambda v: of(v, floor_id="f1").update(state="gone"),
        lambda v: of(v, floor_id="f1").update(ordinal=-1),
        lambda v: of(v, floor_id="f1").update(usage={"tokens_in": 1}),
        lambda v: of(v, floor_id="f1").update(candidates=[["p1"]]),
        lambda v: of(v, page_id="p1").update(page_id="p2"),
        lambda v: of(v, page_id="p1").update(slot="middle"),
        lambda v: of(v, page_id="p1").update(messages=[{"role": "user", "parts": [{"text": 1}]}]),
        lambda v: of(v, page_id="p1").update(messages=[{"role": "user", "parts": [{"future": {}}]}]),
        lambda v: of(v, page_id="p1").update(messages=[{"role": "king", "parts": [{"text": "x"}]}]),
    ],
)
def test_what_is_no_session_is_reported_by_title(change: Change) -> None:
    values = lines()
    change(values)
    result = bad("stemma", data_of(values))
    assert result.reason == "INVALID"
    assert result.title in ("Talk", "session 1")


def test_bad_input_26_floors_in_a_cycle() -> None:
    values = lines()
    for floor_id, parent in (("f1", "f2"), ("f2", "f1")):
        of(values, floor_id=floor_id)["parent_floor_id"] = parent
    assert "cycle" in bad("stemma", data_of(values)).message


def test_a_line_that_is_not_json_refuses_its_session_alone() -> None:
    values = data_of(lines()).splitlines(keepends=True)
    broken = b"".join([values[0], b'{"kind": NaN}\n', *values[1:]])
    one, two = found("stemma", broken + data_of(lines()))
    assert isinstance(one, BadConversation)
    assert (one.title, one.reason) == ("Talk", "INVALID")
    assert "Line 2" in one.message
    assert isinstance(two, NativeConversation)


def test_a_file_without_its_first_line() -> None:
    result = bad("stemma", data_of(lines()[1:]))
    assert "first line is missing" in result.message


def test_digests_that_are_not_stated_are_warned_about() -> None:
    values = lines()
    for value in values:
        value.pop("digest", None)
    (read,) = found("stemma", data_of(values))
    assert isinstance(read, NativeConversation)
    assert len(read.warnings) == 2
