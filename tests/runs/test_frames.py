"""What a run that ends well shows, in which order, and that it is so before it is said (R4)."""

from typing import Any

import pytest
from stemma.kernel.v1 import floor_pb2, message_pb2, run_pb2

from tests.runs.stage import (
    STORY,
    Stage,
    end_of,
    kinds,
    text_of_frames,
)
from tests.support.client import Client, assistant, texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

COMMITTED = floor_pb2.FLOOR_STATE_COMMITTED


async def append(client: Client, session: str, asked: str) -> floor_pb2.Floor:
    turn = {"input": [user(asked)], "output": [assistant(f"re: {asked}")]}
    return (await client.call("AppendFloor", session_id=session, **turn)).floor


async def assert_as_shown(stage: Stage, session: str, frames: list[run_pb2.RunEvent]) -> floor_pb2.Floor:
    """A committed run's frames, against what another channel reads. -> its floor"""
    assert kinds(frames)[-2:] == ["page_completed", "floor_committed"]
    assert set(kinds(frames)[1:-2]) == {"text_delta"}
    floor, branch = frames[-1].floor_committed.floor, frames[-1].floor_committed.branch
    assert (await stage.floor(floor.floor_id)) == floor
    assert (await stage.branch(session)) == branch
    assert (branch.head_floor_id, branch.pending_floor_id) == (floor.floor_id, "")
    assert (await stage.other.path_ids(session))[-1] == floor.floor_id

    page = frames[-2].page_completed.page
    assert page == floor.output_page
    assert {frame.text_delta.page_id for frame in frames[1:-2]} == {page.page_id}
    assert [text_of_frames(frames)] == texts(page)
    assert (page.source, page.partial, page.floor_id) == ("model", False, floor.floor_id)
    assert [message.message_id for message in page.messages] == [f"{page.page_id}.0"]
    assert [message.role for message in page.messages] == [message_pb2.ROLE_ASSISTANT]
    assert floor.state == COMMITTED
    assert floor.digest

    run = await stage.run(floor.run_id)
    assert (run.run_id, run.floor_id, run.session_id) == (frames[0].run_id, floor.floor_id, session)
    assert (run.state, run.usage) == (run_pb2.RUN_STATE_COMMITTED, floor.usage)
    assert run.HasField("end_time")
    return floor


async def test_a_new_turn(stage: Stage, session: str) -> None:
    first = await append(stage.client, session, "hello")
    part = stage.part({"text": STORY, "usage": {"tokens_in": 7, "tokens_out": 5}})
    frames = await stage.watch(session, part, expected_head=first.floor_id).end()

    floor = await assert_as_shown(stage, session, frames)
    assert text_of_frames(frames) == STORY
    assert (floor.parent_floor_id, floor.depth, floor.ordinal) == (first.floor_id, 2, 0)
    assert texts(floor.input_page) == [part.text]
    assert floor.input_page.source == "client"
    assert (floor.usage.tokens_in, floor.usage.tokens_out, floor.usage.estimated) == (7, 5, False)
    assert await stage.other.path_ids(session) == [first.floor_id, floor.floor_id]
    (sent,) = part.sent
    assert [message.text for message in sent.messages] == ["hello", "re: hello", part.text]
    # Each message follows the one before it on the path.
    parents = [
        floor.input_page.messages[0].parent_message_id,
        floor.output_page.messages[0].parent_message_id,
    ]
    assert parents == [first.output_page.messages[0].message_id, floor.input_page.messages[0].message_id]
    (move,) = (await stage.other.call("ListHeadMoves", session_id=session, page_size=1)).head_moves
    assert (move.kind, move.from_floor_id, move.to_floor_id) == ("commit", first.floor_id, floor.floor_id)


async def test_a_turn_without_an_input(stage: Stage, session: str) -> None:
    first = await append(stage.client, session, "hello")
    frames = await stage.respond(session_id=session, input={}).end()
    floor = await assert_as_shown(stage, session, frames)
    assert not floor.HasField("input_page")
    before = floor.output_page.messages[0].parent_message_id
    assert before == first.output_page.messages[0].message_id


async def test_an_edit(stage: Stage, session: str) -> None:
    first, second = [await append(stage.client, session, text) for text in ("one", "two")]
    part = stage.part()
    edit = {"floor_id": first.floor_id, **part.input}
    frames = await stage.respond(edit=edit, expected_head=second.floor_id).end()
    floor = await assert_as_shown(stage, session, frames)
    assert (floor.parent_floor_id, floor.ordinal) == (first.parent_floor_id, 1)
    assert [message.text for message in part.sent[0].messages] == [part.text]
    assert floor.output_page.messages[0].parent_message_id == floor.input_page.messages[0].message_id
    assert await stage.floor(first.floor_id) == first


async def test_a_regeneration_shares_the_input(stage: Stage, session: str) -> None:
    part = stage.part({"text": "the first"}, {"text": "the second"})
    first = end_of(await stage.watch(session, part).end())
    frames = await stage.respond(session_id=session, regenerate={"floor_id": first.floor_id}).end()
    floor = await assert_as_shown(stage, session, frames)
    assert floor.input_page == first.input_page
    assert (texts(first.output_page), texts(floor.output_page)) == (["the first"], ["the second"])
    position = (await stage.other.call("GetFloor", floor_id=floor.floor_id)).position
    assert (position.output_index, position.output_count) == (2, 2)


async def test_a_resumed_floor_keeps_its_id_and_input(stage: Stage, session: str) -> None:
    part = stage.part()
    opened = (await stage.client.call("OpenFloor", session_id=session, input=[user(part.text)])).floor
    frames = await stage.respond(resume={"floor_id": opened.floor_id}).end()
    floor = await assert_as_shown(stage, session, frames)
    assert floor.floor_id == opened.floor_id == frames[0].floor_id
    assert floor.input_page == opened.input_page
    again = await stage.client.refused("Respond", session_id=session, resume={"floor_id": opened.floor_id})
    assert (again.code, again.reason) == ("FAILED_PRECONDITION", "FLOOR_SEALED")


async def test_reasoning_is_shown_apart_and_kept(stage: Stage, session: str) -> None:
    frames = await stage.play(session, {"reasoning": "I wonder.", "text": "Yes."})
    assert "reasoning_delta" in kinds(frames)
    assert text_of_frames(frames) == "Yes."
    (message,) = end_of(frames).output_page.messages
    assert [part.WhichOneof("kind") for part in message.parts] == ["reasoning", "text"]
    assert message.parts[0].reasoning.text == "I wonder."


async def test_started_says_what_the_model_is_sent(stage: Stage, session: str) -> None:
    part = stage.part()
    asked = await stage.client.call("AssembleContext", session_id=session, input=part.input)
    frames = await stage.watch(session, part).end()
    started, explained = frames[0].started, asked.explanation
    assert started.context_digest == explained.context_digest
    assert (started.tokens_in, started.left_out_count) == (explained.tokens_in, 0)


async def test_usage_is_estimated_when_the_provider_gives_none(
    stage: Stage, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = stage.part()
    whole = part.provider.stream

    async def without_usage(request: Any) -> Any:
        async for chunk in whole(request):
            if hasattr(chunk, "text"):
                yield chunk

    monkeypatch.setattr(part.provider, "stream", without_usage)
    frames = await stage.watch(session, part).end()
    usage = end_of(frames).usage
    assert usage.estimated
    assert (usage.tokens_in, usage.tokens_out > 0) == (frames[0].started.tokens_in, True)


async def test_the_end_is_durable_before_it_is_sent(
    stage: Stage, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = stage.part(hold_at=3)
    watch = await stage.watch(session, part).until_text(STORY)
    live = stage.service.service.generation.hub.get(watch.run_id)
    assert live is not None
    store = stage.service.service.store
    once, published = store._once, []

    async def noted(tenant_id: str, work: Any) -> Any:
        """One transaction of the run: what had been published when it had been committed."""
        result = await once(tenant_id, work)
        if "StoreSink" not in work.__qualname__:
            return result
        published.append([type(frame.event).__name__ for frame in live.frames])
        return result

    monkeypatch.setattr(store, "_once", noted)
    part.go()
    frames = await watch.end()
    assert len(published) == 1
    assert set(published[0]) == {"Started", "TextDelta"}
    await assert_as_shown(stage, session, frames)
