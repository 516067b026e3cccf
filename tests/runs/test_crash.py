"""The service's process ends in the middle of runs: killed, or told to stop."""

import asyncio
import json
import signal
from pathlib import Path

import grpc
import pytest
from stemma.kernel.v1 import floor_pb2, run_pb2

from tests.runs.programs import ask, service_process, talking_to, until
from tests.runs.stage import Stage, as_bytes, end_of, kinds, on_stage
from tests.support.client import refusal_of, request_for, texts, user

FAILED, GENERATING = floor_pb2.FLOOR_STATE_FAILED, floor_pb2.FLOOR_STATE_GENERATING
# A lease of 10 s, and the next look of those who live, every 2 s.
LEASE_SECONDS = 12.0
SCRIPT = json.dumps(
    {
        "replies": [
            {"when": "hang", "deltas": ["Once ", "upon "], "hang_after": 2},
            {"when": "finish", "deltas": ["and "] * 10, "delay_ms": 100},
        ]
    }
)


async def assert_usable(stage: Stage, session: str, failed: floor_pb2.Floor) -> None:
    """The crashed floor is off the path, its branch goes on, and it can be tried again."""
    assert (failed.state, failed.failure_reason) == (FAILED, "CRASHED")
    assert not failed.HasField("output_page") or "Once upon ".startswith(*texts(failed.output_page))
    explained = await stage.other.call("ExplainFloor", floor_id=failed.floor_id)
    assert explained.recorded, "what was sent is kept before it is sent"
    branch = await stage.branch(session)
    assert (branch.pending_floor_id, branch.failed_floor_id) == ("", failed.floor_id)
    assert branch.head_floor_id == failed.parent_floor_id
    run = await stage.run(failed.run_id)
    assert (run.state, run.failure_reason) == (run_pb2.RUN_STATE_FAILED, "CRASHED")
    again = end_of(await stage.respond(regenerate={"floor_id": failed.floor_id}).end())
    assert again.input_page == failed.input_page
    following = end_of(await stage.play(session))
    assert (await stage.other.path_ids(session))[-2:] == [again.floor_id, following.floor_id]
    assert (await stage.branch(session)).failed_floor_id == ""


async def test_killed_in_mid_run_on_sqlite(sqlite_url: str, tmp_path: Path) -> None:
    async with service_process(sqlite_url, tmp_path, script=SCRIPT) as program, talking_to(program) as client:
        session = await client.new_session()
        told = await client.respond(session, input={"messages": [user("hello")]})
        request = request_for("Respond", session_id=session, input={"messages": [user("hang")]})
        watch = await Stage.sent_by(client, request).until_text("Once upon ")
        await program.kill()
        with pytest.raises(grpc.aio.AioRpcError):
            await watch.rest()
    async with on_stage(sqlite_url) as stage:
        # At start, before anything is served.
        failed = await stage.floor(watch.floor_id)
        assert await stage.floor(told.floor_id) == told
        repeated = await stage.sent(request).rest()
        assert (kinds(repeated), end_of(repeated)) == (["failed"], failed)
        assert (repeated[0].failed.code, repeated[0].failed.reason) == (14, "CRASHED")
        assert failed.parent_floor_id == told.floor_id
        await assert_usable(stage, session, failed)


async def test_killed_in_mid_run_on_postgres(postgres_database_url: str, tmp_path: Path) -> None:
    async with (
        on_stage(postgres_database_url) as stage,
        service_process(postgres_database_url, tmp_path, script=SCRIPT) as program,
        talking_to(program) as client,
    ):
        session = await client.new_session()
        request = request_for("Respond", session_id=session, input={"messages": [user("hang")]})
        watch = await Stage.sent_by(client, request).until_text("Once upon ")
        mine = stage.part(hold_at=1)
        alive = await stage.watch(await stage.client.new_session(), mine).started()
        await mine.held()
        # From another process: so it is in the log.
        attached = await stage.attach(watch.run_id, watch.frames[0]).until_text("Once upon ")
        await program.kill()

        # While the lease lasts, nobody can tell whether the other process lives.
        assert (await stage.floor(watch.floor_id)).state == GENERATING
        # A repeat, and who attaches, are told what the other process has logged, and wait for the rest.
        repeat = await stage.sent(request).until_text("Once upon ")

        async def ended() -> bool:
            return (await stage.floor(watch.floor_id)).state == FAILED

        await until("the dead process's run has ended", ended, LEASE_SECONDS + 1)
        assert (await stage.run(alive.run_id)).state == run_pb2.RUN_STATE_RUNNING
        mine.go()
        assert kinds(await alive.end())[-1] == "floor_committed"
        rest = (await repeat.end())[-2:]
        assert kinds(rest) == ["reset", "failed"]
        assert texts(rest[0].reset.pages[0]) == ["Once upon "]
        assert as_bytes((await attached.rest())[-2:]) == as_bytes(rest)
        assert kinds(await stage.sent(request).rest()) == ["failed"]
        await assert_usable(stage, session, await stage.floor(watch.floor_id))


async def test_a_run_of_another_process_may_be_given_up_at_once(postgres_database_url: str) -> None:
    """Nobody need wait for a process that is slow or gone; what it brings afterwards is too late."""
    async with on_stage(postgres_database_url) as there, on_stage(postgres_database_url) as here:
        session = await there.client.new_session()
        part = there.part(hold_at=1)
        request = request_for("Respond", session_id=session, input=part.input)
        watch = await there.sent(request).started()
        await part.held()
        abandon = floor_pb2.ON_PENDING_ABANDON
        floor = end_of(await here.watch(session, here.part(), on_pending=abandon).end())
        gone = await here.floor(watch.floor_id)
        assert (gone.state, gone.failure_reason) == (FAILED, "ABANDONED")
        part.go()
        late = await watch.end()
        assert (kinds(late)[-2:], end_of(late)) == (["reset", "cancelled"], gone)
        assert as_bytes(await here.sent(request).rest()) == as_bytes(late[-1:])
        assert await here.floor(gone.floor_id) == gone
        assert await here.other.path_ids(session) == [floor.floor_id]


async def test_told_to_stop_in_mid_stream(postgres_database_url: str, tmp_path: Path) -> None:
    async with (
        service_process(postgres_database_url, tmp_path, script=SCRIPT) as program,
        talking_to(program) as client,
    ):
        sessions = [await client.new_session() for _ in range(2)]
        hangs = await ask(client, sessions[0], "hang").until_text("Once upon ")
        finishes = ask(client, sessions[1], "finish")
        await finishes.started()
        program.send(signal.SIGTERM)
        await program.line("stopping")
        async with talking_to(program) as late:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await ask(late, sessions[1], "hello").rest()
        streams = await asyncio.gather(hangs.end(), finishes.end())
        assert await program.wait() == 0
    assert refusal_of(refused.value).code == "UNAVAILABLE"
    cut, whole = streams
    assert (kinds(cut)[-1], cut[-1].failed.reason) == ("failed", "CRASHED")
    assert texts(end_of(cut).output_page) == ["Once upon "]
    assert kinds(whole)[-1] == "floor_committed"
    async with on_stage(postgres_database_url) as stage:
        for frames in streams:
            assert await stage.floor(frames[0].floor_id) == end_of(frames)
        again = end_of(await stage.respond(regenerate={"floor_id": end_of(cut).floor_id}).end())
        assert await stage.other.path_ids(sessions[0]) == [again.floor_id]
        assert len(set(as_bytes(cut))) == len(cut)
