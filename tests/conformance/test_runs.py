"""Runs as the store keeps them: calls, logs, and what the log asks for many runs at once."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from kernel.errors import Unavailable
from kernel.storage.store import SqlStore
from kernel.tree.model import Floor, FloorState
from kernel.verbs.records import CallState, OwnedChunk, Run, RunMark, RunState
from kernel.verbs.store import WriteTx
from tests.conformance.run_cases import NOWHERE, call, chunk, running
from tests.conformance.world import START, World, new_world


def owned(world: World, run: Run, first: int, last: int, **fields: object) -> OwnedChunk:
    return OwnedChunk(world.tenant, run.owner, replace(chunk(run, first, last), **fields))


async def chunks_of(world: World, run: Run, after: tuple[int, int] = NOWHERE, limit: int = 99) -> list[str]:
    found = await world.read(lambda tx: tx.chunks(run.run_id, after, limit))
    return [f"{one.epoch}.{one.first_seq}-{one.last_seq}" for one in found]


async def changed(world: World, run: Run, **fields: object) -> Run:
    run = replace(run, **fields)
    await world.write(lambda tx: tx.update_run(run))
    return run


@pytest.fixture
async def floor(world: World) -> Floor:
    return await world.child(world.root, FloorState.GENERATING, output=None)


@pytest.fixture
async def run(world: World, floor: Floor) -> Run:
    return await running(world, floor)


async def test_chunks_come_by_position_from_after_one(world: World, run: Run) -> None:
    later = replace(run, epoch=2)

    async def work(tx: WriteTx) -> None:
        for of, first, last in ((later, 1, 4), (run, 3, 9), (run, 10, 10), (run, 1, 2)):
            await tx.insert_chunk(run.session_id, chunk(of, first, last))

    await world.write(work)
    assert await chunks_of(world, run) == ["1.1-2", "1.3-9", "1.10-10", "2.1-4"]
    assert await chunks_of(world, run, (1, 2)) == ["1.3-9", "1.10-10", "2.1-4"]
    assert await chunks_of(world, run, (1, 5)) == ["1.3-9", "1.10-10", "2.1-4"], "it holds some after that"
    assert await chunks_of(world, run, (1, 10), 1) == ["2.1-4"]
    assert await chunks_of(world, run, (2, 4)) == []


async def test_calls_are_recorded_by_number_and_change_in_place(world: World, floor: Floor, run: Run) -> None:
    other = await running(world, floor, create_time=run.create_time + timedelta(seconds=1))
    first, second = call(run, 1), call(run, 2, state=CallState.ACTING)

    async def work(tx: WriteTx) -> None:
        await tx.insert_calls(run.session_id, [call(other, 1)])
        await tx.insert_calls(run.session_id, [second, first])

    await world.write(work)
    assert await world.read(lambda tx: tx.tool_calls(run.run_id)) == [first, second]
    done = replace(
        second,
        state=CallState.DONE,
        end_time=START,
        decision="approved",
        decided_by="p",
        reason="r",
        content="result\n",
        is_error=True,
    )
    await world.write(lambda tx: tx.update_calls([done]))
    assert await world.read(lambda tx: tx.tool_calls(run.run_id)) == [first, done]
    found = await world.read(lambda tx: tx.floor_calls(floor.floor_id))
    assert found == [first, done, call(other, 1)], "all runs of the floor, in their order"
    assert await world.read(lambda tx: tx.floor_calls(world.root.floor_id)) == []


async def test_the_log_takes_what_the_owner_writes_in_its_epoch(world: World, run: Run) -> None:
    marks = await world.store.run_log.write([owned(world, run, 1, 2), owned(world, run, 3, 3)])
    assert marks == [RunMark(run.owner, 1, RunState.RUNNING, "", seq) for seq in (2, 3)]
    assert await chunks_of(world, run) == ["1.1-2", "1.3-3"]
    stored = await world.read(lambda tx: tx.run(run.run_id))
    assert stored == replace(run, logged=True)
    # What a run says of itself does not take the mark away.
    await changed(world, run, asked="keep")
    stored = await world.read(lambda tx: tx.run(run.run_id))
    assert stored == replace(run, asked="keep", logged=True)


@pytest.mark.parametrize(
    "now",
    [
        {"owner": "f0000000-0000-7000-8000-000000000001"},
        {"epoch": 2},
        {"state": RunState.WAITING},
        {"state": RunState.FAILED},
    ],
)
async def test_the_log_takes_nothing_of_a_run_that_is_not_the_owners_any_more(
    world: World, run: Run, now: dict[str, object]
) -> None:
    """A process that was paused, and taken over, can write nothing; it is told why."""
    other = await running(world, await world.child(world.root, FloorState.GENERATING, output=None))
    taken = await changed(world, run, **now)
    late = owned(world, run, 1, 1)
    lost, kept = await world.store.run_log.write([late, owned(world, other, 1, 1)])
    assert lost == RunMark(taken.owner, taken.epoch, taken.state, "", 1)
    assert kept == RunMark(other.owner, 1, RunState.RUNNING, "", 1)
    assert await chunks_of(world, run) == []
    assert await chunks_of(world, other) == ["1.1-1"]


async def test_the_log_of_several_tenants_is_written_at_once(store: SqlStore, world: World, run: Run) -> None:
    there = await new_world(store, mark="another")
    theirs = await running(there, await there.child(there.root, FloorState.GENERATING, output=None))
    gone = replace(run, run_id="00000000-0000-7000-8000-00000000ffff")
    foreign = OwnedChunk(there.tenant, run.owner, chunk(replace(run, run_id=gone.run_id), 1, 1))
    marks = await store.run_log.write(
        [owned(world, run, 1, 1), owned(there, theirs, 1, 5), owned(world, gone, 1, 1), foreign]
    )
    assert [mark and mark.logged_seq for mark in marks] == [1, 5, None, None]
    assert await chunks_of(there, theirs) == ["1.1-5"]
    keys = [(world.tenant, run.run_id), (there.tenant, theirs.run_id), (there.tenant, gone.run_id)]
    assert await store.run_log.marks(keys) == {
        keys[0]: RunMark(run.owner, 1, RunState.RUNNING, "", 1),
        keys[1]: RunMark(theirs.owner, 1, RunState.RUNNING, "", 5),
    }
    assert await store.run_log.marks([]) == {}


async def test_a_mark_is_of_the_runs_epoch(world: World, run: Run) -> None:
    await world.store.run_log.write([owned(world, run, 1, 7)])
    key = (world.tenant, run.run_id)
    run = await changed(world, run, epoch=2, asked="fail")
    assert await world.store.run_log.marks([key]) == {
        key: RunMark(run.owner, 2, RunState.RUNNING, "fail", 0),
    }
    await world.store.run_log.write([owned(world, run, 1, 2)])
    assert (await world.store.run_log.marks([key]))[key].logged_seq == 2


async def test_frames_that_are_there_already_are_refused_without_a_trace(world: World, run: Run) -> None:
    """Whoever ended the run, in this very moment, has written them: the row says so at the next look. One
    that goes on saying otherwise must not loop for ever."""
    await world.write(lambda tx: tx.insert_chunk(run.session_id, chunk(run, 1, 2)))
    with pytest.raises(Unavailable):
        await world.store.run_log.write([owned(world, run, 1, 3)])
    assert await chunks_of(world, run) == ["1.1-2"]


async def test_whoever_takes_a_run_over_and_the_log_wait_for_each_other(world: World, run: Run) -> None:
    """At whatever moment: frames are in the log exactly when their writer was told so."""

    async def log(seq: int) -> bool:
        (mark,) = await world.store.run_log.write([owned(world, run, seq, seq)])
        assert mark is not None
        return mark.epoch == 1

    async def take_over() -> None:
        async def work(tx: WriteTx) -> None:
            await tx.lock_session(run.session_id)
            now = await tx.run(run.run_id)
            assert now is not None
            await tx.update_run(replace(now, epoch=2))

        await world.write(work)

    *told, _ = await asyncio.gather(*(log(seq) for seq in range(1, 9)), take_over())
    kept = [seq for seq, was_kept in enumerate(told, start=1) if was_kept]
    assert await chunks_of(world, run) == [f"1.{seq}-{seq}" for seq in kept]


async def test_logs_are_forgotten_some_time_after_the_end_the_oldest_first(world: World) -> None:
    runs = []
    for hours in (3, 1, 2, None):
        floor = await world.child(world.root, FloorState.GENERATING, output=None)
        # Of long ago: what other tests of this database leave is younger.
        ended = None if hours is None else START - timedelta(days=9_999) + timedelta(hours=hours)
        run = await running(world, floor)
        await world.store.run_log.write([owned(world, run, 1, 1)])
        if ended:
            run = await changed(world, run, state=RunState.FAILED, end_time=ended)
        runs.append(run)
    third, first, second, still = runs
    before = START - timedelta(days=9_999) + timedelta(hours=3)
    assert await world.store.run_log.forget(before, 1) == 1
    assert [await chunks_of(world, run) for run in (first, second)] == [[], ["1.1-1"]]
    assert await world.store.run_log.forget(before, 9) == 1
    assert await world.store.run_log.forget(before, 9) == 0
    assert [await chunks_of(world, run) for run in (second, third, still)] == [[], ["1.1-1"], ["1.1-1"]]
    stored = await world.read(lambda tx: tx.run(first.run_id))
    assert stored == replace(first, logged=False), "the run stays"
    assert await world.store.run_log.forget(before + timedelta(hours=1), 9) == 1


async def test_overdue_are_the_waiting_runs_whose_time_is_over(world: World) -> None:
    long_ago = START - timedelta(days=9_999)
    found = {}
    for minutes, state in (
        (2, RunState.WAITING),
        (1, RunState.WAITING),
        (3, RunState.WAITING),
        (1, RunState.RUNNING),
    ):
        floor = await world.child(world.root, FloorState.GENERATING, output=None)
        wait_time = long_ago + timedelta(minutes=minutes)
        run = await running(world, floor, state=state, wait_time=wait_time)
        found[minutes, state] = (world.tenant, run.run_id)
    log, now = world.store.run_log, long_ago + timedelta(minutes=3)
    in_order = [found[1, RunState.WAITING], found[2, RunState.WAITING]]
    assert await log.overdue(now, 9) == in_order, "the one that is longest over first"
    assert await log.overdue(now, 1) == in_order[:1]
    for tenant, run_id in (*in_order, found[3, RunState.WAITING]):
        assert tenant == world.tenant
        stored = await world.read(lambda tx, run_id=run_id: tx.run(run_id))
        assert stored is not None
        await changed(world, stored, state=RunState.FAILED)
    assert await log.overdue(now, 9) == []
