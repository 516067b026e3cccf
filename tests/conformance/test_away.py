"""A database that is away is UNAVAILABLE, soon and in our words, and the store is well when it is back."""

import asyncio
import socket
import threading
import traceback
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from kernel.errors import Unavailable
from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.verbs.records import Committed, Replayed
from kernel.verbs.store import WriteTx
from tests.conformance.proxy import Proxy, proxied
from tests.conformance.world import World, new_world, opened, rows_of

# A call that meets a database that is away is told so within this many seconds.
SOON = 2.0


async def told_unavailable(call: Callable[[], Awaitable[Any]]) -> None:
    async with asyncio.timeout(SOON):
        with pytest.raises(Unavailable) as caught:
            await call()
    assert caught.value.reason == "UNAVAILABLE"
    assert caught.value.message == "The database cannot be reached. Retry with the same request_id."
    assert caught.value.metadata == {}


def calls(world: World) -> list[Callable[[], Awaitable[Any]]]:
    """A read, a write and an append."""
    session_id, record = world.session.session_id, world.record(world.root)
    return [
        lambda: world.read(lambda tx: tx.session(session_id)),
        lambda: world.write(lambda tx: tx.touch_session(session_id, 1)),
        lambda: world.append(record),
    ]


async def test_a_server_that_does_not_listen(postgres_url: str) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        async with opened(f"postgresql://somebody:a-password@127.0.0.1:{port}/none") as (_, store):
            world = World(store, "tenant")
            world.session, world.root, world.main = world.new_session(world.new_id())
            for call in calls(world):
                await told_unavailable(call)


@pytest.mark.parametrize("change", ["database", "password"])
async def test_a_server_that_refuses_us_is_told_without_the_password(postgres_url: str, change: str) -> None:
    """A wrong name or password is a fault of the settings: not a driver's error, and not shown."""
    parts = urlsplit(postgres_url)
    url = {
        "database": parts._replace(path="/none-of-this-name"),
        "password": parts._replace(netloc=parts.netloc.replace(parts.password or "", "not-the-password")),
    }[change].geturl()
    async with opened(url) as (_, store):
        with pytest.raises(Exception) as caught:  # noqa: PT011 (its module is what is asserted)
            async with store.reading("tenant") as tx:
                await tx.session("00000000-0000-7000-8000-000000000001")
    assert type(caught.value).__module__.startswith("kernel.")
    shown = "".join(traceback.format_exception(caught.value))
    assert (parts.password or "?") not in shown
    assert "not-the-password" not in shown


async def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    async with opened(f"sqlite:///{tmp_path}/no/such/folder/file.db") as (_, store):
        world = World(store, "tenant")
        world.session, world.root, world.main = world.new_session(world.new_id())
        for call in calls(world):
            await told_unavailable(call)
    # The driver's threads end by themselves, but after the call: the loop must outlive them.
    for thread in set(threading.enumerate()) - before:
        await asyncio.to_thread(thread.join, 5)


async def test_more_readers_than_connections(store: SqlStore, world: World) -> None:
    """Whoever finds all connections in use is told so, and nobody after they are back."""
    session_id = world.session.session_id
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as readers:
        for _ in range(100):
            begun = loop.time()
            try:
                tx = await readers.enter_async_context(store.reading(world.tenant))
            except Unavailable:
                break
            assert await tx.session(session_id) == world.session
        else:
            pytest.fail("the number of connections has no bound")
        assert loop.time() - begun < SOON
    for call in calls(world):
        await call()


@pytest.fixture
async def proxied_world(postgres_url: str, shared_url: str) -> Any:
    """A world on PostgreSQL behind a proxy that can be taken down."""
    async with proxied(shared_url) as proxy, opened(proxy.url) as (engines, store):
        yield proxy, engines, await new_world(store)


Proxied = tuple[Proxy, Engines, World]
on_postgres = pytest.mark.parametrize("engine", ["postgres"])


@on_postgres
async def test_the_server_goes_and_comes_back(proxied_world: Proxied) -> None:
    """Idle connections are cut: each kind of call is refused while it is away, and works once it is back."""
    proxy, _, world = proxied_world
    for _ in range(2):
        await proxy.down()
        for call in calls(world):
            await told_unavailable(call)
        await proxy.up()
        for call in calls(world):
            await call()


@on_postgres
async def test_a_connection_that_is_cut_in_a_transaction_takes_it_along(proxied_world: Proxied) -> None:
    proxy, engines, world = proxied_world
    before = await rows_of(engines, world.tenant)

    async def work(tx: WriteTx) -> None:
        await tx.touch_session(world.session.session_id, 5)
        tx.emit(world.session.project_id, world.event())
        await proxy.down()
        await tx.touch_session(world.session.session_id, 5)

    await told_unavailable(lambda: world.write(work))
    await proxy.up()
    assert await rows_of(engines, world.tenant) == before

    async def read() -> None:
        async with world.store.reading(world.tenant) as tx:
            await proxy.down()
            await tx.session(world.session.session_id)

    await told_unavailable(read)
    await proxy.up()
    assert await rows_of(engines, world.tenant) == before


@on_postgres
async def test_what_is_unsure_is_settled_by_a_repeat(proxied_world: Proxied) -> None:
    """The connection is cut while appends commit: each is answered or UNAVAILABLE, and a repeat of it has
    one effect and says which (R1)."""
    proxy, engines, world = proxied_world
    records = [world.record(root) for _, root, _ in await world.more_sessions(8)]
    callers = [asyncio.create_task(world.append(record)) for record in records]
    await asyncio.wait(callers, return_when=asyncio.FIRST_COMPLETED)
    await proxy.down()
    ends = await asyncio.gather(*callers, return_exceptions=True)
    await proxy.up()
    with suppress(Unavailable):  # an idle connection that was cut too
        await world.read(lambda tx: tx.session(world.session.session_id))
    again = await world.append(*records)
    for end, repeat in zip(ends, again, strict=True):
        assert isinstance(end, list | Unavailable), end
        assert isinstance(repeat, Replayed if isinstance(end, list) else Committed | Replayed)
    assert len((await rows_of(engines, world.tenant))["event"]) == len(records)


@on_postgres
async def test_a_server_that_ends_our_connections(shared_url: str, postgres_url: str, world: World) -> None:
    """As at a failover: who holds a cut connection is refused once, and the others are not."""
    await world.read(lambda tx: tx.session(world.session.session_id))
    killer = await asyncpg.connect(postgres_url)
    try:
        ended = await killer.fetch(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1",
            urlsplit(shared_url).path.removeprefix("/"),
        )
    finally:
        await killer.close()
    assert ended
    refused = 0
    for call in calls(world):
        try:
            await call()
        except Unavailable:
            refused += 1
            await call()
    assert refused <= 1
