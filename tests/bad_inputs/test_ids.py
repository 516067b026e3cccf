"""Ids, branches' names and request ids that cannot be, or are of nothing or of something else: 18 to 21."""

from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from tests.bad_inputs.world import RPCS, WRITES, World, fields_of, invalid, refused, samples, unknown
from tests.support.client import METHODS, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

ID = "0193a1b2-0000-7000-8000-000000000001"
BAD_IDS = [
    "a" * 1_025,
    "a/b",
    "..",
    "a\0b",
    "a\nb",
    "%2e%2e",
    "\u200f" + ID[1:],
    ID + "\n",
    f" {ID}",
    f"{{{ID}}}",
    ID.replace("-", ""),
    "\uff10" + ID[1:],
    "main",
]
BAD_BRANCHES = ["a/b", "..", "-a", ".a", "a b", "a\0b", "a\nb", "%2e", "a\u200f", "é", "a" * 65]
# With which action a Respond names a floor.
ACTIONS: dict[str, Any] = {"edit": {"messages": [user("x")]}, "regenerate": {}, "resume": {}}


def id_fields(kind: Descriptor) -> Iterator[str]:
    """The request's own fields that hold an id; `request_id` is another matter."""
    for field in kind.fields:
        named = field.name.endswith("_id") or field.name == "expected_head"
        if named and field.name != "request_id":
            yield field.name


def with_id(world: World, name: str, field: str, value: str) -> Message:
    """The sample with that one field changed; not together with what excludes it."""
    request = world.sample(name)
    either = {"session_id", "project_id"}
    if either <= set(fields_of(name)) and field in either and name != "CreateSession":
        for other in either - {field}:
            request.ClearField(other)
    setattr(request, field, value)
    return request


def responding(world: World, action: str, floor_id: str) -> Message:
    request = world.sample("Respond")
    getattr(request, action).MergeFrom(type(getattr(request, action))(**ACTIONS[action], floor_id=floor_id))
    return request


async def test_bad_input_18_malformed_ids(world: World) -> None:
    asked = 0
    for name in RPCS:
        for field in id_fields(METHODS[name].input_type):
            for value in BAD_IDS:
                invalid(await world.ask(name, with_id(world, name, field, value)), field)
                asked += 1
    assert asked > len(RPCS) * len(BAD_IDS) * 0.8


async def test_bad_input_18_malformed_ids_of_an_action(world: World) -> None:
    for action in ACTIONS:
        for value in ["", *BAD_IDS]:
            invalid(await world.ask("Respond", responding(world, action, value)), f"{action}.floor_id")


async def test_bad_input_18_empty_ids(world: World) -> None:
    """Where the RPC needs one, it says so."""
    for name, fields in samples(world.places).items():
        for field in fields:
            if field in id_fields(METHODS[name].input_type):
                answer = await world.ask(name, world.sample(name, **{field: ""}))
                invalid(answer)
                assert field in answer.text, (name, answer)


def branch_fields(name: str) -> list[str]:
    """The request's own fields that hold a branch's name."""
    if name == "ListAuditEntries":
        # Its `target` is whatever a write was about.
        return []
    named = {"branch", "source_branch", "base", "target"}
    return [one for one, field in fields_of(name).items() if one in named and field.message_type is None]


async def test_bad_input_18_malformed_branches(world: World) -> None:
    asked = set()
    for name in RPCS:
        for field in branch_fields(name):
            for value in BAD_BRANCHES:
                invalid(await world.ask(name, world.sample(name, **{field: value})), field)
            asked.add(name)
    for value in ["", *BAD_BRANCHES]:
        invalid(await world.ask("CreateBranch", world.sample("CreateBranch", name=value)), "name")
    assert len(asked) >= 10


def wrong_kinds(world: World, field: str) -> list[str]:
    """Well-formed ids that are not of what the field names."""
    at = world.places
    kinds = {
        "session_id": {at.session, at.other_session},
        "project_id": {at.project},
        "page_id": {at.page},
        "from_page_id": {at.page},
        "run_id": {at.run},
        "staged_write_id": {at.staged},
        "api_key_id": {at.key},
        "floor_id": {at.root, at.second, at.other_floor},
    }
    kinds["left_floor_id"] = kinds["right_floor_id"] = kinds["floor_id"]
    zero = "00000000-0000-0000-0000-000000000000"
    others = {value for kind, values in kinds.items() if kind != field for value in values}
    return [unknown(), zero, *sorted(others - kinds[field])]


async def test_bad_input_19_ids_of_nothing_and_of_other_things(world: World) -> None:
    asked = 0
    for name in RPCS:
        if name in ("ListSessions", "ListStagedWrites", "ListAuditEntries", "Introspect"):
            # There an id is a filter: see below. And somebody is nothing in what is not there.
            continue
        for field in id_fields(METHODS[name].input_type):
            if field == "expected_head":
                continue
            for value in wrong_kinds(world, field):
                request = with_id(world, name, field, value)
                if field == "from_page_id":
                    request.ClearField("output")
                refused(await world.ask(name, request), "NOT_FOUND", "NOT_FOUND")
                asked += 1
    for action in ACTIONS:
        for value in wrong_kinds(world, "floor_id"):
            request = responding(world, action, value)
            refused(await world.ask("Respond", request), "NOT_FOUND", "NOT_FOUND")
    assert asked > 200


async def test_bad_input_19_an_unknown_project_has_no_sessions(world: World) -> None:
    for name in ("ListSessions", "ListStagedWrites"):
        answer = await world.ask(name, world.sample(name, project_id=unknown()))
        assert (answer.code.name, answer.messages) == ("OK", (b"",))


async def test_bad_input_19_unknown_and_foreign_are_told_alike(world: World) -> None:
    """R6: nothing says whether an id is of nothing, or of another session."""
    at = world.places
    for name in ("EditFloor", "RegenerateFloor", "Respond", "MoveHead", "SelectSibling", "CreateBranch"):
        answers = []
        for floor_id in (unknown(), at.other_floor):
            request = responding(world, "regenerate", floor_id) if name == "Respond" else None
            request = request or world.sample(name, session_id=at.session, floor_id=floor_id)
            answers.append(refused(await world.ask(name, request), "NOT_FOUND", "NOT_FOUND"))
        assert answers[0].status == answers[1].status


async def test_bad_input_19_unknown_branches(world: World) -> None:
    for name in RPCS:
        for field in branch_fields(name):
            if name == "ListHeadMoves":
                # The moves of a deleted branch stay readable under its name.
                continue
            answer = await world.ask(name, world.sample(name, **{field: "nowhere"}))
            refused(answer, "NOT_FOUND", "NOT_FOUND")


async def test_bad_input_20_bad_request_ids(world: World) -> None:
    zero = "00000000-0000-0000-0000-000000000000"
    for name in WRITES:
        for value in (zero, "a" * 300, "no-uuid", f"{ID}\n", ID.replace("-", ""), f"{{{ID}}}", "\0", "é"):
            invalid(await world.ask(name, world.sample(name, request_id=value)), "request_id")


async def test_bad_input_21_no_request_id(world: World) -> None:
    assert len(WRITES) >= 14
    for name in WRITES:
        invalid(await world.ask(name, world.sample(name, request_id="")), "request_id")
