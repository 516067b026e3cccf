"""T2: the grave comes first, and no write of its principal gets past it: hot, cold, or in flight."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace

import pytest

from kernel.errors import Forbidden
from kernel.storage.store import SqlStore
from kernel.verbs.env import WriteTx
from kernel.verbs.graves import ERASED_NAME
from kernel.verbs.records import Absent, Answer, Committed
from tests.conformance.conftest import _shared, database, engines, shared_url, store, world
from tests.conformance.world import World

__all__ = ["_shared", "database", "engines", "shared_url", "store", "world"]


async def test_the_hot_write_knows_graves(store: SqlStore, world: World) -> None:
    first = world.record(world.root)
    (done,) = await store.append([first])
    assert isinstance(done, Committed)
    await world.write(lambda tx: tx.bury(first.request.principal))
    new = world.record(first.floor)
    assert [type(one) for one in await store.append([new, first])] == [Absent, Absent]
    assert await world.read(lambda tx: tx.floor(new.floor.floor_id)) is None


async def test_every_other_write_asks_for_the_grave(world: World) -> None:
    request = world.request()
    await world.write(lambda tx: tx.record(request, Answer()))
    await world.write(lambda tx: tx.bury(request.principal))
    for work in (
        lambda tx: tx.answer(request),
        lambda tx: tx.record(world.request(), Answer()),
        lambda tx: tx.refuse_buried(request.principal),
    ):
        with pytest.raises(Forbidden):
            await world.write(work)
    with pytest.raises(Forbidden):
        await world.read(lambda tx: tx.answer(request))


async def test_a_write_in_flight_is_waited_for(world: World) -> None:
    """Once the grave is durable, whatever had looked before is durable as well, and found by the erasure."""
    request, looked, go_on, order = world.request(), asyncio.Event(), asyncio.Event(), list[str]()

    async def late(tx: WriteTx) -> None:
        assert await tx.answer(request) is None
        looked.set()
        await go_on.wait()
        await tx.insert_branch(session_id, replace(world.main, name="late"))
        await tx.record(request, Answer(world.session.session_id))

    async def of(name: str, work: Awaitable[None]) -> None:
        await work
        order.append(name)

    # Named, so that the two do not merely take turns in this process.
    session_id = world.session.session_id
    writing = asyncio.create_task(of("write", world.store.write(world.tenant, late, session_id)))
    await asyncio.wait_for(looked.wait(), 20)
    digging = asyncio.create_task(
        of("grave", world.store.write(world.tenant, lambda tx: tx.bury(request.principal)))
    )
    # As long as it stands there, the grave cannot be dug.
    await asyncio.wait({digging}, timeout=0.2)
    too_early = digging.done()
    go_on.set()
    await asyncio.gather(writing, digging)
    assert not too_early
    assert order == ["write", "grave"]
    assert await world.read(lambda tx: tx.branch(session_id, "late")) is not None


async def test_tenants_have_graves_of_their_own(store: SqlStore, world: World) -> None:
    request = world.request()
    await store.write("another tenant", lambda tx: tx.bury(request.principal))
    await world.write(lambda tx: tx.record(request, Answer()))
    assert request.principal != ERASED_NAME
