"""A run on one replica, and everything that can be done to it from another (R5, design 7)."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
import pytest_asyncio
from stemma.kernel.v1 import floor_pb2, run_pb2

from kernel.generation.runner import RunLimits
from kernel.runs.control import end_overdue, recover
from tests.conformance.world import rows_of
from tests.conftest import DatabaseFactory
from tests.runs.stage import (
    PIECES,
    STORY,
    WAIT,
    Part,
    Stage,
    Watch,
    as_bytes,
    end_of,
    kinds,
    on_stage,
    text_of_frames,
)
from tests.support.client import refusal_of, request_for, texts
from tests.tools_runs.acts import calls, first, play, result, session_with, then, tool

pytestmark = pytest.mark.asyncio(loop_scope="session")

FAILED, COMMITTED = floor_pb2.FLOOR_STATE_FAILED, floor_pb2.FLOOR_STATE_COMMITTED
SHOWN = "".join(PIECES[:2])
TENANT = "local"


@dataclass(frozen=True)
class Pair:
    """`there` has the runs, `here` is another replica on the same database."""

    there: Stage
    here: Stage

    async def in_mid_run(self, session: str, **fields: Any) -> tuple[Part, Watch]:
        """Silent after two pieces, which the log has."""
        part = self.there.part(hold_at=2)
        watch = await self.there.watch(session, part, **fields).until_text(SHOWN)
        await part.held()
        attached = await self.here.attach(watch.run_id, watch.frames[0]).until_text(SHOWN)
        attached.leave()
        return part, watch

    async def rows(self) -> dict[str, list[Any]]:
        """Without the index of words and the audit, which follow by themselves."""
        found = await rows_of(self.here.service.service.store._engines, TENANT)
        # Whether it is audited is a request's last column.
        found["request"] = [row[:-1] for row in found["request"]]
        return {name: rows for name, rows in found.items() if not name.startswith(("search_", "audit_"))}


@pytest.fixture(scope="module")
def pair_url(database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory("postgres") as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def pair(pair_url: str) -> AsyncIterator[Pair]:
    limits = RunLimits(wait_seconds=0)
    async with on_stage(pair_url) as there, on_stage(pair_url, limits=limits) as here:
        yield Pair(there, here)


@pytest_asyncio.fixture(loop_scope="session")
async def session(pair: Pair) -> AsyncIterator[str]:
    yield await pair.there.client.new_session()
    await pair.there.idle()
    await pair.here.idle()


@pytest.mark.parametrize("keep", [run_pb2.KEEP_COMMIT, run_pb2.KEEP_FAIL])
async def test_cancelled_while_its_provider_is_silent(pair: Pair, session: str, keep: int) -> None:
    _, watch = await pair.in_mid_run(session)
    done = await pair.here.other.call("CancelRun", run_id=watch.run_id, keep=keep)
    frames = await watch.end()
    assert (kinds(frames)[-1], end_of(frames)) == ("cancelled", done.floor)
    assert done.floor.state == (COMMITTED if keep == run_pb2.KEEP_COMMIT else FAILED)
    assert texts(done.floor.output_page) == [SHOWN] == [text_of_frames(frames)]
    assert as_bytes(await pair.here.attach(watch.run_id).end()) == as_bytes(frames)


async def test_a_run_that_is_asked_to_end_does_not_begin_to_wait(pair: Pair) -> None:
    """Nobody would end it then."""
    session = await session_with(pair.there, tool("ask"))
    part = pair.there.part(first(calls("ask", "a", n=1), deltas=["Once "]), then(), hold_at=1)
    watch = await pair.there.watch(session, part).until_text("Once ")
    await part.held()
    run = pair.there.service.service.generation.hub.get(watch.run_id)
    assert run is not None
    log = pair.there.service.service.generation.log
    # Its process does not look whether somebody asks.
    await log.hand_over(run)
    cancel = asyncio.create_task(pair.here.other.call("CancelRun", run_id=watch.run_id))
    async with asyncio.timeout(WAIT):
        while not await _asked(pair, watch.run_id):
            pass
    part.go()
    frames = await watch.end()
    assert kinds(frames)[-1] == "cancelled"
    assert (await cancel).floor == end_of(frames)


async def _asked(pair: Pair, run_id: str) -> str:
    async with pair.here.service.service.store.reading(TENANT) as tx:
        run = await tx.run(run_id)
        assert run is not None
        return run.asked


@pytest.mark.parametrize(
    ("name", "reason", "given"),
    [("AbandonFloor", "ABANDONED", "floor_id"), ("ArchiveSession", "ARCHIVED", "session_id")],
)
async def test_ended_with_its_floor(pair: Pair, session: str, name: str, reason: str, given: str) -> None:
    part, watch = await pair.in_mid_run(session)
    named = {"floor_id": watch.floor_id, "session_id": session}
    await pair.here.client.call(name, **{given: named[given]})
    floor = await pair.here.floor(watch.floor_id)
    assert (floor.state, floor.failure_reason, texts(floor.output_page)) == (FAILED, reason, [SHOWN])
    before = await pair.rows()
    part.go()
    frames = await watch.end()
    assert kinds(frames)[-2:] == ["reset", "cancelled"]
    assert list(frames[-2].reset.pages) == [floor.output_page]
    assert end_of(frames) == floor
    await pair.there.idle()
    assert await pair.rows() == before
    elsewhere = await pair.here.attach(watch.run_id, frames[0]).rest()
    assert as_bytes(elsewhere[-2:]) == as_bytes(frames[-2:])


async def test_erased_with_its_session(pair: Pair) -> None:
    """Running, and waiting: no row of them is left, whatever their process writes meanwhile."""
    session = await session_with(pair.there, tool("ask"))
    waiting = await play(pair.there, session, first(calls("ask", "a", n=1), text="canary"), then())
    await pair.here.client.call("AbandonFloor", floor_id=waiting.watch.floor_id)
    part, watch = await pair.in_mid_run(session)
    kept = await pair.rows()
    assert {run_id for name in ("run_chunk", "tool_call") for run_id in _runs(kept[name])} >= {watch.run_id}
    await pair.here.client.call("DeleteSession", session_id=session)
    with pytest.raises(grpc.aio.AioRpcError) as gone:
        await watch.rest()
    assert refusal_of(gone.value).code == "NOT_FOUND"
    part.go()
    await pair.there.idle()
    left = await pair.rows()
    assert not {watch.run_id, waiting.run_id} & {run_id for name in left for run_id in _runs(left[name])}
    for canary in ("canary", part.text):
        assert (_holds(kept, canary), _holds(left, canary)) == (True, False)
    for run_id in (watch.run_id, waiting.run_id):
        assert (await pair.here.other.refused("AttachRun", run_id=run_id)).code == "NOT_FOUND"


def _holds(rows: dict[str, list[Any]], word: str) -> bool:
    return word in str(rows)


def _runs(rows: list[Any]) -> set[str]:
    return {str(value) for row in rows for value in row}


async def test_a_process_that_was_given_up_and_wakes_writes_nothing(pair: Pair, session: str) -> None:
    part, watch = await pair.in_mid_run(session)
    # As another does when its lease is over.
    assert await recover(pair.here.service.service.env, [(TENANT, watch.run_id)]) == 1
    before = await pair.rows()
    part.go()
    frames = await watch.end()
    assert kinds(frames)[-2:] == ["reset", "failed"]
    assert [texts(page) for page in frames[-2].reset.pages] == [[SHOWN]]
    await pair.there.idle()
    assert await pair.rows() == before
    failed = await pair.here.floor(watch.floor_id)
    assert (end_of(frames), failed.failure_reason) == (failed, "CRASHED")
    again = end_of(await pair.here.respond(regenerate={"floor_id": failed.floor_id}).end())
    assert await pair.here.other.path_ids(session) == [again.floor_id]


@pytest.mark.parametrize("keep", [run_pb2.KEEP_COMMIT, run_pb2.KEEP_FAIL])
async def test_a_run_that_waits_is_cancelled(pair: Pair, keep: int) -> None:
    session = await session_with(pair.there, tool("ask"))
    act = await play(pair.there, session, first(calls("ask", "a", n=1), text="Once "), then())
    done = await pair.here.other.call("CancelRun", run_id=act.run_id, keep=keep)
    assert (done.run.state, done.floor.state == COMMITTED) == (run_pb2.RUN_STATE_CANCELLED, keep == 1)
    for stage in (pair.there, pair.here):
        assert end_of(await stage.attach(act.run_id, act.frames[-1]).rest()) == done.floor
    refused = await pair.there.other.refused("SubmitToolResults", run_id=act.run_id, results=[result("a")])
    assert refused.code == "FAILED_PRECONDITION"


async def test_a_run_goes_on_elsewhere_and_every_replica_shows_all_of_it(pair: Pair) -> None:
    session = await session_with(pair.there, tool("ask"))
    act = await play(pair.there, session, first(calls("ask", "a", n=1), text="Once "), then())
    await pair.here.client.call("SubmitToolResults", run_id=act.run_id, results=[result("a")])
    await act.go_on()
    assert kinds(act.frames)[-1] == "floor_committed"
    for stage in (pair.there, pair.here):
        assert as_bytes(await stage.attach(act.run_id).end()) == as_bytes(act.frames)
    verified = await pair.here.client.call("VerifySession", session_id=session)
    assert not verified.problems


async def test_a_run_that_waits_too_long_fails(pair: Pair) -> None:
    session = await session_with(pair.here, tool("ask"))
    act = await play(pair.here, session, first(calls("ask", "a", n=1), text="Once "), then())
    service = pair.there.service.service
    await end_overdue(service.env, service.store.run_log)
    frames = await pair.there.attach(act.run_id, act.frames[-1]).rest()
    assert (kinds(frames), frames[-1].failed.reason) == (["failed"], "LIMIT")
    assert frames[-1].seq == act.frames[-1].seq + 1
    assert texts(end_of(frames).output_page)[0] == "Once "


async def test_two_sessions_at_once_never_mix(pair: Pair) -> None:
    async def one(number: int) -> None:
        stage, other = (pair.there, pair.here) if number % 2 else (pair.here, pair.there)
        session = await stage.client.new_session()
        pieces = [f"s{number}.{index} " for index in range(20)]
        watch = await stage.watch(session, stage.part({"deltas": pieces, "delay_ms": 2})).started()
        seen, frames = await asyncio.gather(other.attach(watch.run_id).end(), watch.end())
        assert as_bytes(seen) == as_bytes(frames)
        assert text_of_frames(frames) == "".join(pieces) == "".join(texts(end_of(frames).output_page))
        assert end_of(frames).session_id == session

    await asyncio.gather(*map(one, range(6)))


async def test_what_is_held_can_be_verified_exported_and_forked(pair: Pair, session: str) -> None:
    base = end_of(await pair.there.play(session))
    part = pair.there.part({"text": "one"}, {"text": "two"})
    held = end_of(await pair.there.watch(session, part, candidate_count=2).end())
    verified = await pair.here.client.call("VerifySession", session_id=session)
    assert not verified.problems
    forked = await pair.here.client.call("ForkSession", session_id=session, floor_id=base.floor_id)
    assert len(await pair.here.other.path_ids(forked.session.session_id)) == 1
    exported = pair.here.client.stream("ExportSession", request_for("ExportSession", session_id=session))
    assert STORY in b"".join([part.SerializeToString() async for part in exported]).decode(errors="replace")
    await pair.here.client.call("ArchiveSession", session_id=session)
    failed = await pair.here.floor(held.floor_id)
    assert (failed.state, failed.failure_reason) == (FAILED, "ARCHIVED")
    assert failed.output_page == held.output_page
    assert (await pair.here.branch(session)).head_floor_id == base.floor_id
    assert not (await pair.here.client.call("VerifySession", session_id=session)).problems
