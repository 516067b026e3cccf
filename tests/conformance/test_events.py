"""The feed: one event a fact, at positions without gaps that are taken in the commit (C3)."""

import asyncio

import pytest

from kernel.storage.store import SqlStore
from kernel.tree.model import Floor
from kernel.verbs.records import Committed, Event, PlacedEvent
from kernel.verbs.store import WriteTx
from tests.conformance.world import World, new_world


async def feed(world: World, project_id: str = "") -> list[PlacedEvent]:
    project_id = project_id or world.session.project_id
    return await world.read(lambda tx: tx.events(project_id, 0, 1_000))


async def emit(world: World, *events: Event, project_id: str = "") -> None:
    async def work(tx: WriteTx) -> None:
        for event in events:
            tx.emit(project_id or world.session.project_id, event)

    await world.write(work)


async def test_events_come_back_as_emitted_and_in_order(world: World) -> None:
    bare = Event(world.new_id(), "session.deleted", world.session.session_id, payload={})
    events = [world.event(), world.event(floor_id=world.root.floor_id), bare]
    await emit(world, *events[:2])
    await emit(world, events[2])
    found = await feed(world)
    assert [placed.event for placed in found] == events
    assert [placed.position for placed in found] == [1, 2, 3]
    assert found[0].commit_time == found[1].commit_time < found[2].commit_time


async def test_a_subscriber_that_resumes_sees_exactly_the_rest(world: World) -> None:
    await emit(world, *[world.event() for _ in range(7)])
    everything = await feed(world)
    for after in range(9):
        found = await world.read(lambda tx, after=after: tx.events(world.session.project_id, after, 3))
        assert found == everything[after : after + 3]


async def test_projects_are_counted_apart(world: World) -> None:
    other = world.new_id()
    await world.write(lambda tx: tx.insert_project(other, "other"))

    async def work(tx: WriteTx) -> None:
        for number in range(6):
            tx.emit(other if number % 3 else world.session.project_id, world.event())

    await world.write(work)
    await emit(world, world.event(), project_id=other)
    assert [placed.position for placed in await feed(world)] == [1, 2]
    assert [placed.position for placed in await feed(world, other)] == [1, 2, 3, 4, 5]


async def test_an_aborted_transaction_takes_no_position(world: World) -> None:
    kept = [world.event(), world.event()]
    await emit(world, kept[0])

    async def work(tx: WriteTx) -> None:
        tx.emit(world.session.project_id, world.event())
        raise ZeroDivisionError

    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            await world.write(work)
    await emit(world, kept[1])
    assert [(placed.position, placed.event) for placed in await feed(world)] == list(enumerate(kept, 1))


async def test_positions_have_no_gaps_under_concurrent_writers(store: SqlStore, world: World) -> None:
    """Sessions of one project in parallel, by both ways to write, some of them aborted; and a reader that
    follows all the while never meets a position before those below it."""
    sessions = await world.more_sessions(24)
    followed: list[PlacedEvent] = []
    ended = asyncio.Event()

    async def by_append(root: Floor) -> None:
        (outcome,) = await store.append([world.record(root)])
        assert isinstance(outcome, Committed)

    async def by_write(root: Floor, fails: bool) -> None:
        async def work(tx: WriteTx) -> None:
            await tx.lock_session(root.session_id)
            await tx.touch_session(root.session_id, 1)
            for _ in range(2):
                tx.emit(world.session.project_id, world.event(session_id=root.session_id))
            if fails:
                raise ZeroDivisionError

        try:
            await store.write(world.tenant, work, root.session_id)
        except ZeroDivisionError:
            assert fails

    async def follow() -> None:
        while True:
            last = ended.is_set()
            page = await world.read(lambda tx: tx.events(world.session.project_id, len(followed), 10))
            assert [placed.position for placed in page] == [
                len(followed) + n for n in range(1, 1 + len(page))
            ]
            followed.extend(page)
            if last and not page:
                return

    async with asyncio.TaskGroup() as group:
        following = group.create_task(follow())
        async with asyncio.TaskGroup() as writers:
            for number, (_, root, _) in enumerate(sessions):
                if number % 3 == 0:
                    writers.create_task(by_append(root))
                else:
                    writers.create_task(by_write(root, fails=number % 3 == 1))
        ended.set()
        await following
    assert len(followed) == 8 + 8 * 2
    assert followed == await feed(world)
    committed = {placed.event.session_id for placed in followed}
    assert committed == {root.session_id for n, (_, root, _) in enumerate(sessions) if n % 3 != 1}


async def test_tenants_are_counted_apart(store: SqlStore, world: World) -> None:
    await emit(world, world.event())
    other = await new_world(store)
    assert other.session.project_id == world.session.project_id
    await emit(other, other.event())
    mine, theirs = await feed(world), await feed(other)
    assert [(one.position, one.event) for one in mine] == [(one.position, one.event) for one in theirs]
    assert len(theirs) == 1
