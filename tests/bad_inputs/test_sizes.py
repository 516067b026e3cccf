"""Too much of something: requests, fields and answers: 6, 7 and 8."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message
from stemma.kernel.v1 import floor_pb2, message_pb2

from tests.bad_inputs.wire import filler
from tests.bad_inputs.world import ON_SQLITE_ONLY, RPCS, World, a_world, invalid, path_of, refused
from tests.conftest import DatabaseFactory
from tests.rpc.plumbing import Answer
from tests.support.client import Client, answer_of, assistant, request_for, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

MIB = 1024 * 1024
MOST = 4 * MIB
# Each a little below 1 MiB; three of them fit a page.
LARGE = [user("x" * (MIB - 100)) for _ in range(3)]

Messages = list[message_pb2.Message]


@ON_SQLITE_ONLY
async def test_bad_input_6_requests_of_one_byte_too_many(world: World) -> None:
    for name in RPCS:
        sample = world.sample(name).SerializeToString()
        refused(await world.ask(name, sample + filler(MOST + 1 - len(sample))), "RESOURCE_EXHAUSTED", "LIMIT")
    most = await world.ask("ListSessions", filler(MOST))
    assert most.code == grpc.StatusCode.OK


@ON_SQLITE_ONLY
async def test_bad_input_6_requests_far_too_large(world: World) -> None:
    for name in ("GetSession", "AppendFloor", "Respond"):
        assert (await world.ask(name, filler(3 * MOST))).code == grpc.StatusCode.RESOURCE_EXHAUSTED


def part(**kind: Any) -> message_pb2.Message:
    return message_pb2.Message(role=message_pb2.ROLE_USER, parts=[kind])


OVER_A_CAP: dict[str, tuple[Messages, str]] = {
    "a message": ([user("x" * (MIB + 1))], "[0]"),
    "a page": ([user("x" * 900_000)] * 4, ""),
    "messages": ([user("x")] * 1_001, ""),
    "a speaker's name": ([user("x", name="n" * 257)], "[0].name"),
    "metadata": ([user("x", metadata={str(number): "" for number in range(65)})], "[0].metadata"),
    "a metadata key": ([user("x", metadata={"k" * 129: ""})], "[0].metadata"),
    "a call's id": ([part(tool_call={"call_id": "c" * 257, "name": "n"})], "[0].parts[0].tool_call.call_id"),
    "a tool's name": ([part(tool_call={"call_id": "c", "name": "n" * 257})], "[0].parts[0].tool_call.name"),
    "a file's name": (
        [part(file={"uri": "a:b", "media_type": "a/b", "name": "n" * 257})],
        "[0].parts[0].file.name",
    ),
}


def carrying(world: World, messages: Messages) -> list[tuple[str, Message, str]]:
    """Every RPC that takes messages, with these. -> its name, the request, the field"""
    found = [
        ("AppendFloor", world.sample("AppendFloor", input=messages), "input"),
        ("AppendFloor", world.sample("AppendFloor", output=messages, input=[]), "output"),
        ("OpenFloor", world.sample("OpenFloor", input=messages), "input"),
        ("AddPage", world.sample("AddPage", messages=messages), "messages"),
        ("EditFloor", world.sample("EditFloor", input=messages), "input"),
        ("RegenerateFloor", world.sample("RegenerateFloor", output=messages), "output"),
        ("Respond", world.sample("Respond", input={"messages": messages}), "input.messages"),
        ("AssembleContext", world.sample("AssembleContext", input={"messages": messages}), "input.messages"),
    ]
    edit = world.sample("Respond")
    edit.edit.floor_id = world.places.second
    edit.edit.messages.extend(messages)
    return [*found, ("Respond", edit, "edit.messages")]


@ON_SQLITE_ONLY
@pytest.mark.parametrize("what", list(OVER_A_CAP))
async def test_bad_input_7_messages_over_a_cap(world: World, what: str) -> None:
    messages, where = OVER_A_CAP[what]
    for name, request, field in carrying(world, messages):
        invalid(await world.ask(name, request), field + where)


@ON_SQLITE_ONLY
@pytest.mark.parametrize(
    ("name", "changes", "field"),
    [
        ("CreateSession", {"title": "t" * 501}, "title"),
        ("CreateSession", {"config": {"system_prompt": "s" * (256 * 1024 + 1)}}, "config.system_prompt"),
        ("CreateSession", {"config": {"model": {"name": "n" * 201}}}, "config.model.name"),
        ("CreateSession", {"config": {"model": {"stop": ["s"] * 17}}}, "config.model.stop"),
        ("CreateSession", {"config": {"model": {"stop": ["s" * 201]}}}, "config.model.stop"),
        ("CreateBranch", {"name": "b" * 65}, "name"),
        ("AbandonFloor", {"reason": "r" * 501}, "reason"),
        ("AppendFloor", {"usage": {"tokens_in": 2**63 - 1}}, "usage.tokens_in"),
        ("AppendFloor", {"usage": {"tokens_out": -1}}, "usage.tokens_out"),
    ],
)
async def test_bad_input_7_other_fields_over_a_cap(
    world: World, name: str, changes: dict[str, Any], field: str
) -> None:
    invalid(await world.ask(name, world.sample(name, **changes)), field)


class Large:
    """A session of its own, on whose path there are three turns of 3 MiB."""

    def __init__(self, world: World, session: str, path: list[str]) -> None:
        self.world = world
        self.session = session
        self.path = path

    async def ask(self, name: str, **fields: Any) -> Answer:
        """As a client with gRPC's own limit, 4 MiB: any answer that it cannot take is a failure here."""
        async with grpc.aio.insecure_channel(self.world.service.address) as channel:
            raw = await channel.unary_unary(path_of(name))(
                request_for(name, **fields).SerializeToString(), timeout=30
            )
        answer = answer_of(name, raw)
        assert len(raw) <= MOST
        return answer

    async def pages(self, name: str, list_field: str, **fields: Any) -> list[list[Any]]:
        """Every page of a listing."""
        found: list[list[Any]] = []
        token = ""
        while token or not found:
            answer: Any = await self.ask(name, page_token=token, **fields)
            found.append(list(getattr(answer, list_field)))
            token = answer.next_page_token
        return found


@pytest.fixture(scope="module")
def large_url(database_factory: DatabaseFactory) -> Iterator[str]:
    """One engine is enough: how an answer is cut is the same code."""
    with database_factory("sqlite") as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def large(large_url: str) -> AsyncIterator[Large]:
    async with a_world(large_url) as world:
        client = Client(world.raw.channel)
        session = await client.new_session()
        floors = [
            (await client.call("AppendFloor", session_id=session, input=LARGE)).floor.floor_id
            for _ in range(3)
        ]
        yield Large(world, session, floors)


@pytest.mark.parametrize("order", [floor_pb2.PATH_ORDER_ROOT_FIRST, floor_pb2.PATH_ORDER_HEAD_FIRST])
async def test_bad_input_8_a_long_path_is_paged(large: Large, order: int) -> None:
    pages = await large.pages("ListPath", "floors", session_id=large.session, order=order)
    shown = [floor.floor_id for page in pages for floor in page]
    assert shown == (large.path if order == floor_pb2.PATH_ORDER_ROOT_FIRST else large.path[::-1])
    assert [len(page) for page in pages] == [1, 1, 1]
    assert all(len(floor.input_page.messages) == 3 for page in pages for floor in page)


async def test_bad_input_8_siblings_and_versions_are_paged(large: Large) -> None:
    await large.ask("EditFloor", floor_id=large.path[0], input=LARGE, output=[assistant("x")])
    siblings = await large.pages("ListSiblings", "floors", floor_id=large.path[0])
    assert [len(page) for page in siblings] == [1, 1]
    await large.ask("MoveHead", session_id=large.session, floor_id=large.path[-1])
    words = [user("x" * 800_000)] * 2
    opened: Any = await large.ask("OpenFloor", session_id=large.session, input=words)
    page = {"floor_id": opened.floor.floor_id, "slot": message_pb2.SLOT_INPUT, "messages": words}
    await large.ask("AddPage", **page)
    versions = await large.pages("ListPages", "pages", floor_id=opened.floor.floor_id)
    assert [len(page) for page in versions] == [1, 1]
    await large.ask("AbandonFloor", floor_id=opened.floor.floor_id)


async def test_bad_input_8_a_context_that_cannot_be_sent(large: Large) -> None:
    there = {"session_id": large.session, "floor_id": large.path[-1]}
    whole = request_for("AssembleContext", **there)
    answer = refused(await large.world.ask("AssembleContext", whole), "RESOURCE_EXHAUSTED", "LIMIT")
    assert "budget" in answer.text
    budget = {"overrides": {"budget": {"max_input_tokens": 1_000_000}}}
    trimmed: Any = await large.ask("AssembleContext", **there, options=budget)
    assert (len(trimmed.messages), len(trimmed.explanation.left_out)) == (3, 2)


async def wide(large: Large, how: str) -> Message:
    """A write of at most 4 MiB, whose answer would be larger: with ids, or with a page that is there."""
    small = [assistant("y" * 2_050) for _ in range(1_000)]
    abandon = {"on_pending": floor_pb2.ON_PENDING_ABANDON}
    named = {**abandon, "floor_id": large.path[0]}
    if how == "append":
        here = {**abandon, "session_id": large.session}
        return request_for("AppendFloor", **here, input=small, output=small)
    if how == "edit":
        return request_for("EditFloor", **named, input=small, output=small)
    if how == "regenerate":
        return request_for("RegenerateFloor", **named, output=LARGE)
    opened: Any = await large.ask("OpenFloor", **abandon, session_id=large.session, input=LARGE)
    return request_for("AddPage", floor_id=opened.floor.floor_id, slot=2, messages=LARGE)


@pytest.mark.parametrize("how", ["append", "edit", "regenerate", "add page"])
async def test_bad_input_8_what_could_not_be_shown_is_not_stored(large: Large, how: str) -> None:
    """Of a write that is refused nothing has happened, and what is stored can be read."""
    request = await wide(large, how)
    name = request.DESCRIPTOR.name.removesuffix("Request")
    before = await large.world.rows()
    answer = await large.world.ask(name, request)
    if answer.code == grpc.StatusCode.OK:
        await large.ask("GetFloor", floor_id=answer_of(name, answer.messages[0]).floor.floor_id)
    else:
        assert answer.code.name in ("INVALID_ARGUMENT", "RESOURCE_EXHAUSTED")
        assert [table for table, rows in (await large.world.rows()).items() if rows != before[table]] == []


@pytest.mark.parametrize("megabytes", [2, 3])
async def test_bad_input_8_a_page_of_any_size_is_answered(large: Large, megabytes: int) -> None:
    """A page may have 3 MiB: adding it must not fail because the answer shows it twice."""
    abandon = {"on_pending": floor_pb2.ON_PENDING_ABANDON}
    opened: Any = await large.ask("OpenFloor", **abandon, session_id=large.session)
    floor_id = opened.floor.floor_id
    page: Any = await large.ask("AddPage", floor_id=floor_id, slot=2, messages=LARGE[:megabytes])
    await large.ask("ActivatePage", page_id=page.page.page_id)
    committed: Any = await large.ask("CommitFloor", floor_id=floor_id)
    assert len(committed.floor.output_page.messages) == megabytes
