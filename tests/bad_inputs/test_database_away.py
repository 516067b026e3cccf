"""A database that is away, read-only, or whose connections are all in use: 55, for every RPC."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.bad_inputs.world import ASKING, WRITES, World, a_world, refused
from tests.conformance.proxy import Proxy, proxied
from tests.conftest import DatabaseFactory
from tests.rpc.plumbing import Answer

# The promise is 2 s; a call that hangs ends as DEADLINE_EXCEEDED, and that is no right answer.
GENEROUS = 10.0
CONNECTIONS = 8


@pytest.fixture
def url(database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory("postgres") as made:
        yield made


@asynccontextmanager
async def behind_a_proxy(url: str) -> AsyncIterator[tuple[World, Proxy]]:
    async with proxied(url) as proxy, a_world(proxy.url) as world:
        yield world, proxy


async def ask_all(world: World, names: Sequence[str]) -> dict[str, Answer]:
    """Each RPC's answer, all asked at once."""
    calls = [world.ask(name, world.sample(name), timeout=GENEROUS) for name in names]
    return dict(zip(names, await asyncio.gather(*calls), strict=True))


def all_unavailable(answers: dict[str, Answer]) -> None:
    for answer in answers.values():
        refused(answer, "UNAVAILABLE", "UNAVAILABLE")


async def until_back(world: World) -> None:
    """Connections that were cut are noticed when they are next used."""
    async with asyncio.timeout(GENEROUS):
        while (await world.ask("GetSession", world.sample("GetSession"))).code.name != "OK":
            pass


async def test_bad_input_55_the_database_is_down(url: str) -> None:
    async with behind_a_proxy(url) as (world, proxy):
        before = await world.rows()
        await proxy.down()
        for _ in range(2):
            all_unavailable(await ask_all(world, ASKING))
        assert await world.healthy()
        await proxy.up()
        await until_back(world)
        assert await world.rows() == before


async def test_bad_input_55_the_database_takes_connections_and_says_nothing(url: str) -> None:
    async with behind_a_proxy(url) as (world, proxy):
        before = await world.rows()
        await proxy.mute()
        # More at once than connections: whoever waits for one of them waits no longer than they do.
        all_unavailable(await ask_all(world, ASKING))
        assert await world.healthy()
        await proxy.down()
        await proxy.up()
        await until_back(world)
        assert await world.rows() == before


async def test_bad_input_55_read_only_after_a_failover(url: str) -> None:
    """Reads go on, and no write does."""
    async with a_world(url) as world:
        before = await world.rows()
        name = urlsplit(url).path.removeprefix("/")
        administrator = await asyncpg.connect(url)
        try:
            await administrator.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
            await administrator.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1"
                " AND pid <> pg_backend_pid()",
                name,
            )
        finally:
            await administrator.close()
        await until_back(world)
        for reading in [one for one in ASKING if one not in WRITES]:
            answer = await world.ask(reading, world.sample(reading), timeout=GENEROUS)
            # A connection that the failover cut may be met once more.
            if answer.code.name == "UNAVAILABLE":
                answer = await world.ask(reading, world.sample(reading), timeout=GENEROUS)
            # A look at the feed is a read too: the sample's position is ahead of it.
            wanted = "OUT_OF_RANGE" if reading == "WatchEvents" else "OK"
            assert answer.code.name == wanted, (reading, answer)
        all_unavailable(await ask_all(world, WRITES))
        assert await world.healthy()
        assert await world.rows() == before


async def test_bad_input_55_no_connection_is_free(url: str) -> None:
    async with a_world(url) as world:
        before = await world.rows()
        engines = world.service.service.store._engines
        async with AsyncExitStack() as held:
            for _ in range(CONNECTIONS):
                await held.enter_async_context(engines.reading())
            for pool in engines.hot:
                for _ in range(pool.most):
                    await held.enter_async_context(pool.one())
            all_unavailable(await ask_all(world, ASKING))
            assert await world.healthy()
        assert (await world.ask("GetSession", world.sample("GetSession"))).code.name == "OK"
        assert await world.rows() == before
