"""A call whose caller is gone happened whole or not at all (R3), and leaves the store as good as new."""

import asyncio
from collections import Counter
from contextlib import suppress

import pytest

from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.verbs.records import Committed
from kernel.verbs.store import WriteTx
from tests.conformance.world import World, rows_of


async def cancelled(task: "asyncio.Task[object]") -> bool:
    """Cancels a task and waits for its end; whether it ended so."""
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return task.cancelled()


async def test_a_write_that_has_begun_commits_whole(store: SqlStore, engines: Engines, world: World) -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()
    after_commit: list[str] = []

    async def work(tx: WriteTx) -> None:
        await tx.touch_session(world.session.session_id, 7)
        tx.emit(world.session.project_id, world.event())
        tx.after_commit(lambda: after_commit.append("called"))
        entered.set()
        await go_on.wait()
        await tx.insert_floor(world.record(world.root).floor, False)

    caller = asyncio.create_task(world.write(work))
    await entered.wait()
    assert await cancelled(caller)
    assert (await rows_of(engines, world.tenant))["event"] == []
    go_on.set()
    await store.idle()
    rows = await rows_of(engines, world.tenant)
    assert (len(rows["event"]), len(rows["floor"]), after_commit) == (1, 2, ["called"])


async def test_an_error_that_nobody_waits_for_any_more_is_no_warning(store: SqlStore, world: World) -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def work(tx: WriteTx) -> None:
        entered.set()
        await go_on.wait()
        raise ZeroDivisionError

    caller = asyncio.create_task(world.write(work))
    await entered.wait()
    assert await cancelled(caller)
    go_on.set()
    await store.idle()


async def test_idle_waits_for_every_write(store: SqlStore, world: World) -> None:
    go_on = asyncio.Event()

    async def work(tx: WriteTx) -> None:
        await go_on.wait()

    writing = asyncio.create_task(world.write(work))
    await asyncio.wait([writing], timeout=0)
    idle = asyncio.create_task(store.idle())
    await world.read(lambda tx: tx.session(world.session.session_id))
    assert not idle.done()
    go_on.set()
    await idle
    assert writing.done()


async def test_appends_cancelled_at_any_moment_are_whole_or_absent(
    store: SqlStore, engines: Engines, world: World
) -> None:
    """Each on a session of its own, cancelled after one, two, three … steps of the loop."""
    sessions = await world.more_sessions(40)
    records = [world.record(root) for _, root, _ in sessions]
    ends: Counter[bool] = Counter()
    for steps, record in enumerate(records):
        caller = asyncio.create_task(store.append([record]))
        for _ in range(steps):
            await asyncio.sleep(0)
        ends[await cancelled(caller)] += 1
    assert ends[True] > 10, "callers that are answered at once show nothing"
    await store.idle()
    rows = await rows_of(engines, world.tenant)
    written = {record.floor.session_id for record in records}
    async with store.reading(world.tenant) as tx:
        for record in records:
            floor = await tx.floor(record.floor.floor_id)
            branch = await tx.branch(record.floor.session_id, "main")
            answer = await tx.answer(record.request)
            assert branch is not None
            facts = (floor is None, answer is None, branch.head_floor_id == record.expected_head)
            assert facts in ((True,) * 3, (False,) * 3)
            if floor is None:
                written.discard(record.floor.session_id)
    assert written, "some must have been taken before their caller went"
    assert len(rows["event"]) == len(rows["head_move"]) == len(rows["request"]) == len(written)
    # And a repeat of each is answered, or done, as if nothing had been.
    outcomes = await store.append(records)
    done = {r.floor.session_id for r, o in zip(records, outcomes, strict=True) if isinstance(o, Committed)}
    assert done == {record.floor.session_id for record in records} - written


async def test_cancelled_reads_give_their_connections_back(store: SqlStore, world: World) -> None:
    """More of them than there are connections, at every step of the loop."""
    session_id = world.session.session_id

    async def read() -> None:
        async with store.reading(world.tenant) as tx:
            await tx.session(session_id)
            await tx.tree(session_id, None, 10)

    for steps in range(30):
        caller = asyncio.create_task(read())
        for _ in range(steps):
            await asyncio.sleep(0)
        await cancelled(caller)
    for _ in range(10):
        assert await world.read(lambda tx: tx.session(session_id)) == world.session
    await world.write(lambda tx: tx.touch_session(session_id, 1))


@pytest.mark.parametrize("error", [ZeroDivisionError, asyncio.CancelledError])
async def test_a_read_that_ends_badly_gives_its_connection_back(
    store: SqlStore, world: World, error: type[BaseException]
) -> None:
    async def read() -> None:
        async with store.reading(world.tenant) as tx:
            await tx.session(world.session.session_id)
            raise error

    for _ in range(12):
        with pytest.raises(error):
            await read()
    assert await world.read(lambda tx: tx.session(world.session.session_id)) == world.session
