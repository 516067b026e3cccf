"""Many writers at once, on one session and on many."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.tree.model import Floor, FloorState
from kernel.tree.places import first_child
from kernel.verbs.records import Committed, Outcome, Replayed, Stale
from kernel.verbs.store import WriteTx
from tests.conformance.world import World, next_place, opened, rows_of

WRITERS = 32


async def test_of_writers_on_one_head_one_wins(store: SqlStore, engines: Engines, world: World) -> None:
    """T3: and each of the others is told the head that won."""
    records = [world.record(world.root) for _ in range(WRITERS)]
    outcomes = [o for (o,) in await asyncio.gather(*(store.append([record]) for record in records))]
    (won,) = [record for record, o in zip(records, outcomes, strict=True) if isinstance(o, Committed)]
    assert Counter(map(type, outcomes)) == {Committed: 1, Stale: WRITERS - 1}
    assert {o for o in outcomes if isinstance(o, Stale)} == {Stale(won.floor.floor_id)}
    rows = await rows_of(engines, world.tenant)
    assert {name: len(rows[name]) for name in ("floor", "head_move", "request", "event")} == {
        "floor": 2,
        "head_move": 1,
        "request": 1,
        "event": 1,
    }


async def test_twins_of_one_request_have_one_effect(store: SqlStore, engines: Engines, world: World) -> None:
    """R1: one floor; a twin is told of it, at once or (having looked too early) as a head that moved."""
    first = world.record(world.root)
    twins = [world.record(world.root, request=first.request) for _ in range(WRITERS)]
    outcomes: list[Outcome] = [o for (o,) in await asyncio.gather(*(store.append([twin]) for twin in twins))]
    (won,) = [twin for twin, o in zip(twins, outcomes, strict=True) if isinstance(o, Committed)]
    assert set(map(type, outcomes)) <= {Committed, Replayed, Stale}
    for outcome in outcomes:
        if isinstance(outcome, Replayed):
            assert outcome.answer.floor_id == won.floor.floor_id
    (later,) = await store.append([twins[0]])
    assert isinstance(later, Replayed)
    assert len((await rows_of(engines, world.tenant))["floor"]) == 2


async def test_writers_of_one_session_go_one_after_the_other(store: SqlStore, world: World) -> None:
    """Each sees all that the one before it committed: heads, places and counts come out as if in a line."""
    session_id = world.session.session_id

    async def add() -> Floor:
        async def work(tx: WriteTx) -> Floor:
            session = await tx.lock_session(session_id)
            found = await tx.branch_head(session_id, "main")
            assert session is not None
            assert found is not None
            branch, head = found
            assert session.stored_tokens == head.place.depth
            floor = world.floor(head, await next_place(tx, head))
            assert floor.place == first_child(head.place).place
            await tx.insert_floor(floor, False)
            await tx.touch_session(session_id, 1)
            moved = replace(branch, head_floor_id=floor.floor_id, depth=floor.place.depth)
            assert await tx.update_branch(session_id, branch, moved)
            return floor

        return await store.write(world.tenant, work, session_id)

    floors = await asyncio.gather(*(add() for _ in range(WRITERS)))
    assert sorted(floor.place.depth for floor in floors) == list(range(1, WRITERS + 1))
    last = max(floors, key=lambda floor: floor.place.depth)
    path = await world.read(lambda tx: tx.path(session_id, last.place, 1, WRITERS))
    assert path == sorted(floors, key=lambda floor: floor.place.depth)


async def test_children_of_one_floor_get_places_of_their_own(store: SqlStore, world: World) -> None:
    floors = await asyncio.gather(*(world.child(world.root, FloorState.FAILED) for _ in range(16)))
    assert sorted(floor.ordinal for floor in floors) == list(range(16))
    assert len({floor.place for floor in floors}) == 16


async def test_sessions_are_written_in_parallel(store: SqlStore, world: World) -> None:
    """By both ways to write; nothing is lost, and no session meets another's floors."""
    sessions = await world.more_sessions(20)
    other = await world.more_sessions(20)

    async def turns(root: Floor) -> Floor:
        head = root
        for _ in range(3):
            record = world.record(head)
            (outcome,) = await store.append([record])
            assert isinstance(outcome, Committed)
            head = record.floor
        return head

    async def floors(root: Floor) -> Floor:
        (floor,) = await world.line(root, 1)
        return floor

    heads = await asyncio.gather(
        *(turns(root) for _, root, _ in sessions), *(floors(root) for _, root, _ in other)
    )
    async with store.reading(world.tenant) as tx:
        for (_, root, _), head in zip([*sessions, *other], heads, strict=True):
            path = await tx.path(root.session_id, head.place, 0, 9)
            assert (path[0], path[-1], len(path)) == (root, head, 1 + head.place.depth)


async def test_a_busy_session_does_not_hold_up_the_others(engine: str, store: SqlStore, world: World) -> None:
    """While one writer keeps a session, forty wait for it; reads, and (where there is more than one writing
    connection) writes of another session, go on."""
    ((busy, _, _), (free, _, _)) = await world.more_sessions(2)
    entered, leave = asyncio.Event(), asyncio.Event()

    async def hold(tx: WriteTx) -> None:
        await tx.lock_session(busy.session_id)
        entered.set()
        await leave.wait()

    async def wait(tx: WriteTx) -> None:
        await tx.lock_session(busy.session_id)

    async with asyncio.TaskGroup() as group:
        group.create_task(store.write(world.tenant, hold, busy.session_id))
        await entered.wait()
        for _ in range(40):
            group.create_task(store.write(world.tenant, wait, busy.session_id))
        for _ in range(3):
            assert await world.read(lambda tx: tx.session(busy.session_id)) == busy
        if engine == "postgres":
            await store.write(world.tenant, lambda tx: tx.touch_session(free.session_id, 1), free.session_id)
        leave.set()


@pytest.mark.parametrize("engine", ["postgres"])
async def test_replicas_share_one_database(shared_url: str, world: World) -> None:
    """Two stores, as two processes would be (SQLite has one: `test_migrations` shows a second refused): of
    all their writers one wins, and the others hear so."""
    async with opened(shared_url) as (_, other):
        records = [world.record(world.root) for _ in range(WRITERS)]
        pairs = zip([world.store, other] * (WRITERS // 2), records, strict=True)
        outcomes = [o for (o,) in await asyncio.gather(*(store.append([record]) for store, record in pairs))]
    assert Counter(map(type, outcomes)) == {Committed: 1, Stale: WRITERS - 1}
