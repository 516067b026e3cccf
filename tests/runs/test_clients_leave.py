"""A run belongs to the server: what becomes of it when its caller goes away (R3, R5)."""

import asyncio
from typing import Any

import grpc
import pytest
from stemma.kernel.v1 import floor_pb2, run_pb2

from tests.runs.stage import PIECES, STORY, WAIT, Stage, Watch, as_bytes, end_of, kinds, text_of_frames
from tests.support.client import request_for, texts

pytestmark = pytest.mark.asyncio(loop_scope="session")

SHOWN = "".join(PIECES[:2])


async def gone(stage: Stage) -> None:
    """Until the server has noticed that no stream is open any more."""
    async with asyncio.timeout(WAIT):
        await stage.service.service.server._gate.idle()


async def left(watch: Watch) -> None:
    watch.leave()
    with pytest.raises(asyncio.CancelledError):
        await watch.rest()


async def test_a_client_that_leaves_does_not_stop_the_run(stage: Stage, session: str) -> None:
    part = stage.part(hold_at=2)
    request = request_for("Respond", session_id=session, input=part.input)
    watch = await stage.sent(request).until_text(SHOWN)
    await left(watch)
    await gone(stage)
    assert (await stage.run(watch.run_id)).state == run_pb2.RUN_STATE_RUNNING
    part.go()
    await stage.idle()
    floor = await stage.floor(watch.floor_id)
    assert (floor.state, texts(floor.output_page)) == (floor_pb2.FLOOR_STATE_COMMITTED, [STORY])
    assert not floor.output_page.partial
    frames = await stage.sent(request).end()
    assert as_bytes(frames[: len(watch.frames)]) == as_bytes(watch.frames)
    assert end_of(frames) == floor


async def test_a_call_whose_time_is_up_does_not_stop_the_run(stage: Stage, session: str) -> None:
    part = stage.part(hold_at=2)
    request = request_for("Respond", session_id=session, input=part.input)
    call = stage.client._channel.unary_stream(
        "/stemma.conversation.v1.RunService/Respond",
        request_serializer=lambda message: message.SerializeToString(),
    )(request, timeout=0.5)
    with pytest.raises(grpc.aio.AioRpcError) as late:
        async for _ in call:
            pass
    assert late.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    again = await stage.sent(request).started()
    await part.held()
    part.go()
    frames = await again.end()
    assert kinds(frames)[-1] == "floor_committed"
    assert len(part.sent) == 1


async def test_a_client_may_ask_that_its_leaving_ends_the_run(stage: Stage, session: str) -> None:
    part = stage.part(hold_at=2)
    request = request_for("Respond", session_id=session, input=part.input, cancel_on_disconnect=True)
    watch = await stage.sent(request).until_text(SHOWN)
    await left(watch)
    await stage.idle()
    floor = await stage.floor(watch.floor_id)
    assert (floor.state, texts(floor.output_page)) == (floor_pb2.FLOOR_STATE_COMMITTED, [SHOWN])
    assert floor.output_page.partial
    assert (await stage.run(watch.run_id)).state == run_pb2.RUN_STATE_CANCELLED
    assert await stage.other.path_ids(session) == [floor.floor_id]
    frames = await stage.sent(request).end()
    assert (kinds(frames)[-1], end_of(frames)) == ("cancelled", floor)


async def test_one_that_has_seen_the_end_cancels_nothing(stage: Stage, session: str) -> None:
    part = stage.part()
    frames = await stage.watch(session, part, cancel_on_disconnect=True).end()
    await gone(stage)
    assert kinds(frames)[-1] == "floor_committed"
    assert text_of_frames(frames) == STORY
    assert (await stage.run(frames[0].run_id)).state == run_pb2.RUN_STATE_COMMITTED


@pytest.mark.parametrize("ends_run", [False, True])
async def test_a_client_that_leaves_while_the_floor_is_opened(
    stage: Stage, session: str, monkeypatch: pytest.MonkeyPatch, ends_run: bool
) -> None:
    """The floor is opened all the same: then it must be written, and not be left to block its branch."""
    store = stage.service.service.store
    once, reached, go = store._once, asyncio.Event(), asyncio.Event()

    async def held(*given: Any) -> Any:
        reached.set()
        await go.wait()
        return await once(*given)

    part = stage.part(hold_at=0)
    request = request_for("Respond", session_id=session, input=part.input, cancel_on_disconnect=ends_run)
    with monkeypatch.context() as patch:
        patch.setattr(store, "_once", held)
        watch = stage.sent(request)
        waiting = asyncio.create_task(watch.rest())
        async with asyncio.timeout(WAIT):
            await reached.wait()
        watch.leave()
        await asyncio.wait({waiting})
        await gone(stage)
        go.set()
        async with asyncio.timeout(WAIT):
            await store.idle()
    if ends_run:
        await stage.idle()
        failed = await stage.floor((await stage.branch(session)).failed_floor_id)
        assert (failed.failure_reason, failed.HasField("output_page")) == ("CANCELLED", False)
    else:
        await part.held()
        part.go()
        frames = await stage.sent(request).end()
        assert kinds(frames)[-1] == "floor_committed"
        assert await stage.other.path_ids(session) == [end_of(frames).floor_id]
    assert len(part.sent) <= 1
