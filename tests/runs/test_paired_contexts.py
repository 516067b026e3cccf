"""Whatever a session holds, its contexts are such as the OpenAI API takes, and say what was done (T8)."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import update
from stemma.kernel.v1 import message_pb2

from kernel.generation.openai_messages import request_body
from kernel.generation.provider import ChatRequest
from kernel.prompt.pairing import NO_RESULT
from kernel.storage import tables as t
from kernel.tree.digest import context_digest
from kernel.tree.message import Message, ToolResult
from kernel.tree.model import Role
from kernel.wire.codec import WireCodec
from tests.runs.stage import Stage, end_of
from tests.support.histories import Floor, broken, calling, floors, results, said
from tests.support.openai_rules import refusals

pytestmark = pytest.mark.asyncio(loop_scope="session")

CODEC = WireCodec()
USER, ANSWER = said(Role.USER), said(Role.ASSISTANT)


def sides(floor: Floor) -> dict[str, list[message_pb2.Message]]:
    """As a request has them."""
    return {
        name: list(message_pb2.MessageList.FromString(CODEC.page(messages).blob).messages) if messages else []
        for name, messages in zip(("input", "output"), floor, strict=True)
    }


def read(messages: Iterable[message_pb2.Message]) -> tuple[Message, ...]:
    return CODEC.messages(message_pb2.MessageList(messages=messages).SerializeToString())


def closed(*ids: str) -> Message:
    return Message(Role.TOOL, tuple(ToolResult(one, NO_RESULT, is_error=True) for one in ids))


def assert_taken(messages: Sequence[Message]) -> None:
    found = refusals(request_body(ChatRequest(tuple(messages)), "m"))
    assert found == ([] if messages else ["no messages"]), messages


async def appended(stage: Stage, session: str, held: Iterable[Floor]) -> list[str]:
    calls = [{"session_id": session, **sides(floor)} for floor in held if any(floor)]
    return [(await stage.client.call("AppendFloor", **call)).floor.floor_id for call in calls]


async def assembled(
    stage: Stage, session: str, most: int | None = None, **fields: Any
) -> tuple[Message, ...]:
    budget = {"overrides": {"budget": {"max_input_tokens": most}}} if most else {}
    answer = await stage.other.call("AssembleContext", session_id=session, options=budget, **fields)
    assert len(answer.messages) == len(answer.explanation.entries)
    messages = read(answer.messages)
    assert_taken(messages)
    return messages


def drawn(count: int) -> list[list[Floor]]:
    """The same histories in every run."""
    found: list[list[Floor]] = []

    @settings(max_examples=count, database=None, derandomize=True, phases=[Phase.generate])
    @given(st.lists(broken(), min_size=2, max_size=2).flatmap(lambda two: floors(two[0] + two[1])))
    def draw(held: list[Floor]) -> None:
        found.append([floor for floor in held if any(floor)])

    draw()
    return [held for held in found if held]


async def test_every_history_on_every_way(stage: Stage) -> None:
    """Appended, cut at any floor, trimmed, edited in the middle, forked, and written on by a run."""
    histories = drawn(10)
    assert len(histories) > 5
    for held in histories:
        session = await stage.client.new_session()
        ids = await appended(stage, session, held)
        for most in (None, 1, 20):
            await assembled(stage, session, most)
        for floor_id in ids[:-1]:
            await assembled(stage, session, floor_id=floor_id)
        middle = ids[len(ids) // 2]
        await stage.client.call("EditFloor", floor_id=middle, **sides(((USER,), (calling("a"),))))
        await appended(stage, session, held[:2])
        whole = await assembled(stage, session)
        head = (await stage.branch(session)).head_floor_id
        fork = await stage.client.call("ForkSession", session_id=session, floor_id=head)
        assert await assembled(stage, fork.session.session_id) == whole
        part = stage.part()
        floor = end_of(await stage.watch(session, part).end())
        (sent,) = part.sent
        assert_taken(sent.messages)
        assert sent.messages[: len(whole)] == whole
        explained = await stage.other.call("ExplainFloor", floor_id=floor.floor_id)
        assert explained.recorded
        assert read(explained.messages) == sent.messages


async def test_results_may_come_in_the_next_turn(stage: Stage, session: str) -> None:
    await appended(stage, session, [((USER,), (calling("a", "b"),))])
    assert await assembled(stage, session) == (USER, calling("a", "b"), closed("a", "b"))
    # What an OpenFloor holds, and what the call itself brings, count like what is committed.
    given = sides(((results("a", "b"),), ()))["input"]
    whole = (USER, calling("a", "b"), results("a", "b"))
    assert await assembled(stage, session, input={"messages": given}) == whole
    await stage.client.call("OpenFloor", session_id=session, input=given)
    assert await assembled(stage, session) == whole
    assert await assembled(stage, session, most=1) == whole


async def test_it_is_explained(stage: Stage, session: str) -> None:
    torn = ((results("x"), USER), (calling("a", "b"), results("b", "c")))
    first, _ = await appended(stage, session, [torn, ((USER,), (ANSWER,))])
    answer = await stage.other.call("AssembleContext", session_id=session)
    expected = [USER, calling("a", "b"), results("b"), closed("a"), USER, ANSWER]
    assert list(read(answer.messages)) == expected
    entry = answer.explanation.entries[3]
    assert (entry.why, entry.floor_id, entry.page_id, entry.message_id) == ("closed_call", first, "", "")
    assert entry.tokens == CODEC.page([closed("a")]).tokens
    assert answer.explanation.tokens_in == sum(one.tokens for one in answer.explanation.entries)
    floor = (await stage.other.call("GetFloor", floor_id=first)).floor
    assert [(out.message_id, out.why) for out in answer.explanation.left_out] == [
        (floor.input_page.messages[0].message_id, "unpaired"),
        (floor.output_page.messages[1].message_id, "unpaired"),
    ]


async def test_contexts_differ_by_what_was_closed(stage: Stage, session: str) -> None:
    """A message of which other parts are sent is another one."""
    torn = ((USER,), (calling("a"), results("a", "b")))
    left, _ = await appended(stage, session, [torn, ((USER,), (calling("a"),))])
    right = end_of(await stage.play(session))
    found = await stage.other.call("DiffContexts", left_floor_id=left, right_floor_id=right.floor_id)
    assert [entry.why for entry in found.added] == ["path", "path", "path", "path", "closed_call", "pending"]
    assert [entry.why for entry in found.kept] == ["path"]
    assert list(found.removed) == []


async def test_the_errors_count_for_the_size_of_an_answer(stage: Stage, session: str) -> None:
    """Calls are shorter than what stands for their results."""
    many = calling(*map(str, range(20_000)))
    await appended(stage, session, [((USER,), (many, many))])
    refusal = await stage.other.refused("AssembleContext", session_id=session)
    assert (refusal.code, refusal.reason) == ("RESOURCE_EXHAUSTED", "LIMIT")


async def test_what_was_sent_before_there_was_pairing_is_explained_as_it_was(
    stage: Stage, session: str
) -> None:
    stored = [USER, calling("a")]
    await appended(stage, session, [((stored[0],), (stored[1],))])
    part = stage.part()
    floor = end_of(await stage.watch(session, part).end())
    now = await stage.other.call("ExplainFloor", floor_id=floor.floor_id)
    assert [entry.why for entry in now.explanation.entries] == ["path", "path", "closed_call", "pending"]
    digest = context_digest([CODEC.page([*stored, said(Role.USER, part.text)]).blob])
    async with stage.service.service.store._engines.writing() as connection:
        record = update(t.prompt).where(t.prompt.c.floor_id == floor.floor_id).values(context_digest=digest)
        assert (await connection.execute(record)).rowcount == 1
    was = await stage.other.call("ExplainFloor", floor_id=floor.floor_id)
    assert (was.recorded, was.explanation.context_digest) == (True, digest.hex())
    assert [entry.why for entry in was.explanation.entries] == ["path", "path", "pending"]
    assert read(was.messages)[:2] == tuple(stored)
