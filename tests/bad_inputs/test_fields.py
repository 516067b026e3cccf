"""Sizes of pages, page tokens, unknown enum numbers, and what is output only: 35, 36, 41 and 43."""

from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from stemma.kernel.v1 import message_pb2

from tests.bad_inputs.wire import filler
from tests.bad_inputs.world import RPCS, World, a_world, fields_of, invalid
from tests.support.client import METHODS, Client, answer_of, assistant, request_for, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

PAGED = tuple(name for name in RPCS if "page_token" in fields_of(name))
# What the world holds only one of.
ONE_ONLY = {"ListProjects", "ListProjectMembers", "ListConfigVersions", "ListApiKeys"}
MARKS = "ABCwxyz0189-_"


async def test_bad_input_35_page_sizes(world: World) -> None:
    assert len(PAGED) >= 7
    for name in PAGED:
        for size in (-1, -(2**31)):
            invalid(await world.ask(name, world.sample(name, page_size=size)), "page_size")
        most = await world.ask(name, world.sample(name, page_size=2**31 - 1))
        thousand = await world.ask(name, world.sample(name, page_size=1_000))
        assert (most.code.name, most.messages) == ("OK", thousand.messages)


async def tokens(world: World) -> dict[str, str]:
    """For each listing a token that it gave out."""
    found = {}
    for name in PAGED:
        answer = await world.ask(name, world.sample(name, page_size=1))
        token = answer_of(name, answer.messages[0]).next_page_token
        assert bool(token) is (name not in ONE_ONLY), name
        if token:
            found[name] = token
    return found


async def test_a_token_continues_its_listing(world: World) -> None:
    for name, token in (await tokens(world)).items():
        assert (await world.ask(name, world.sample(name, page_token=token))).code.name == "OK", name


async def test_bad_input_36_tokens_that_nobody_gave_out(world: World) -> None:
    strange = ["x", "a" * 64, "=", "ä", "a b", "\0", "[]", "-1", "A" * 10_000, "../..", "e30", "MTIz"]
    for name in PAGED:
        for token in strange:
            invalid(await world.ask(name, world.sample(name, page_token=token)), "page_token")


async def test_bad_input_36_tokens_that_were_changed(world: World) -> None:
    for name, token in (await tokens(world)).items():
        changed = [token[:cut] for cut in (1, 20, 43, len(token) - 1)]
        changed += [token + "A", token + "=", f" {token}", token.swapcase()]
        for place in (0, 5, 42, 43, len(token) // 2, len(token) - 1):
            mark = next(mark for mark in MARKS if mark != token[place])
            changed.append(token[:place] + mark + token[place + 1 :])
        for given in changed:
            invalid(await world.ask(name, world.sample(name, page_token=given)), "page_token")


def other_queries(world: World) -> dict[str, dict[str, Any]]:
    """For each listing another query that is answered, too."""
    at = world.places
    elsewhere = {"session_id": at.other_session}
    return {
        "ListSessions": {"order": 2},
        "ListBranches": elsewhere,
        "ListHeadMoves": {"branch": "side"},
        "ListSiblings": {"branch": "side"},
        "ListPages": {"floor_id": at.first},
        "ListPath": {"order": 2},
        "GetTree": elsewhere,
        "DiffBranches": {"base": "side"},
        "SearchMessages": {"query": "se"},
        "ListStagedWrites": {"state": 1},
    }


async def test_bad_input_36_tokens_of_another_query_or_method(world: World) -> None:
    given = await tokens(world)
    for name, changes in other_queries(world).items():
        assert (await world.ask(name, world.sample(name, **changes))).code.name == "OK", name
        answer = await world.ask(name, world.sample(name, **changes, page_token=given[name]))
        invalid(answer, "page_token")
    for name in PAGED:
        for method, token in given.items():
            if method != name:
                invalid(await world.ask(name, world.sample(name, page_token=token)), "page_token")


Path = tuple[FieldDescriptor, ...]


def enum_fields(kind: Descriptor, above: tuple[Descriptor, ...] = ()) -> Iterator[Path]:
    """Every enum in a message, however deep."""
    for field in kind.fields:
        if field.enum_type is not None:
            yield (field,)
        elif field.message_type is not None and field.message_type not in (*above, kind):
            for inner in enum_fields(field.message_type, (*above, kind)):
                yield (field, *inner)


def set_number(message: Message, path: Path, number: int) -> str:
    """Sets an enum deep in a message, in the first of each list. -> the path's name in violations"""
    names = []
    for field in path[:-1]:
        holder = getattr(message, field.name)
        if field.is_repeated:
            message = holder[0] if holder else holder.add()
            names.append(f"{field.name}[0]")
        else:
            message = holder
            names.append(field.name)
    last = path[-1]
    if last.is_repeated:
        getattr(message, last.name).append(number)
    else:
        setattr(message, last.name, number)
    return ".".join([*names, last.name])


@pytest.mark.parametrize("number", [99, -1, 2**31 - 1])
async def test_bad_input_41_unknown_enum_numbers(world: World, number: int) -> None:
    asked = 0
    for name in RPCS:
        for path in enum_fields(METHODS[name].input_type):
            request = world.sample(name)
            field = set_number(request, path, number)
            if field.startswith("edit."):
                request.edit.floor_id = world.places.second
            answer = await world.ask(name, request)
            assert field in invalid(answer).fields, (name, answer)
            asked += 1
    assert asked > 20


async def test_bad_input_41_required_enums_left_out(world: World) -> None:
    invalid(await world.ask("AddPage", world.sample("AddPage", slot=0)), "slot")
    nobody = {"input": [message_pb2.Message(parts=[{"text": {"text": "x"}}])]}
    invalid(await world.ask("AppendFloor", world.sample("AppendFloor", **nobody)), "input[0].role")


async def test_bad_input_43_what_is_output_only_is_not_taken_from_a_client(migrated_url: str) -> None:
    async with a_world(migrated_url) as world:
        client = Client(world.raw.channel)
        forged = {"message_id": f"{world.places.page}.7", "parent_message_id": "x" * 50, "token_count": 10**6}
        session = {"session_id": world.places.other_session}
        plain = (
            await client.call("AppendFloor", **session, input=[user("asked")], output=[assistant("said")])
        ).floor
        await client.call("MoveHead", **session, floor_id=plain.parent_floor_id)
        request = request_for(
            "AppendFloor", **session, input=[user("asked", **forged)], output=[assistant("said", **forged)]
        )
        # With fields that nobody knows, which are dropped as well.
        raw = request.SerializeToString() + filler(50)
        answer = await world.ask("AppendFloor", raw)
        floor = answer_of("AppendFloor", answer.messages[0]).floor
        assert "token_count: 1000000" not in str(floor)
        for page, known in ((floor.input_page, plain.input_page), (floor.output_page, plain.output_page)):
            assert [message.message_id for message in page.messages] == [f"{page.page_id}.0"]
            assert (page.digest, page.token_count) == (known.digest, known.token_count)
        assert floor.digest == plain.digest
        (said,) = floor.output_page.messages
        assert said.parent_message_id == floor.input_page.messages[0].message_id
        stored = str(await world.rows())
        assert "x" * 50 not in stored
        # The fingerprint is over what was understood: the same request without the unknown is its repeat.
        repeated = await world.ask("AppendFloor", request)
        assert repeated.messages == answer.messages
