"""The connections of the hot statements: none is lost, whoever goes and whatever becomes of the server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from urllib.parse import urlsplit

import asyncpg
import pytest

from kernel.errors import Unavailable
from kernel.storage.driver_pool import DriverPool
from kernel.verbs.records import Committed, Replayed
from tests.conformance.world import new_world, opened

MOST = 2
on_postgres = pytest.mark.parametrize("engine", ["postgres"])


@pytest.fixture
async def pool(postgres_url: str) -> AsyncIterator[DriverPool]:
    made = DriverPool({"dsn": postgres_url}, MOST, 0.3)
    yield made
    assert made.out == 0
    await made.close()


async def pid(pool: DriverPool) -> int:
    async with pool.one() as connection:
        return int(await connection.fetchval("SELECT pg_backend_pid()"))


async def test_one_is_used_again(pool: DriverPool) -> None:
    assert await pid(pool) == await pid(pool)


async def test_whoever_finds_none_is_told_so_and_the_next_one_is_served(pool: DriverPool) -> None:
    async with AsyncExitStack() as held:
        for _ in range(MOST):
            await held.enter_async_context(pool.one())
        with pytest.raises(TimeoutError):
            await pid(pool)
    assert await pid(pool)


async def test_a_caller_that_goes_while_it_waits_takes_no_place_along(pool: DriverPool) -> None:
    async with AsyncExitStack() as held:
        for _ in range(MOST):
            await held.enter_async_context(pool.one())
        waiting = asyncio.create_task(pid(pool))
        await asyncio.sleep(0)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
    await asyncio.gather(*(pid(pool) for _ in range(2 * MOST)))


async def test_a_caller_that_goes_while_its_statement_runs_leaves_nothing_behind(pool: DriverPool) -> None:
    """Nor while a connection is opened for it."""
    for _ in range(2 * MOST):
        entered = asyncio.Event()

        async def sleeps(entered: asyncio.Event = entered) -> None:
            async with pool.one() as connection:
                entered.set()
                await connection.execute("SELECT pg_sleep(30)")

        opening = asyncio.create_task(sleeps())
        await asyncio.sleep(0)
        running = asyncio.create_task(sleeps())
        await entered.wait()
        for task in (opening, running):
            task.cancel()
        await asyncio.wait((opening, running))
        assert pool.out == 0
    assert await pid(pool)


async def test_an_error_of_a_statement_costs_no_connection(pool: DriverPool) -> None:
    before = await pid(pool)
    with pytest.raises(asyncpg.UndefinedTableError):
        async with pool.one() as connection:
            await connection.execute("SELECT * FROM there_is_no_such_table")
    assert await pid(pool) == before


async def test_one_that_the_server_ended_is_not_given_again(pool: DriverPool, postgres_url: str) -> None:
    ended = await pid(pool)
    killer = await asyncpg.connect(postgres_url)
    try:
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)):
            await _ended_meanwhile(pool, killer)
    finally:
        await killer.close()
    assert await pid(pool) != ended


@on_postgres
async def test_appends_go_on_after_the_server_ended_all_connections(
    shared_url: str, postgres_url: str
) -> None:
    async with opened(shared_url) as (_, store):
        world = await new_world(store)
        (first,) = await world.append(record := world.record(world.root))
        assert isinstance(first, Committed)
        killer = await asyncpg.connect(postgres_url)
        try:
            await killer.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1",
                urlsplit(shared_url).path.removeprefix("/"),
            )
        finally:
            await killer.close()
        again = world.record(record.floor)
        with suppress(Unavailable):  # met the connection before the news of its end
            await world.append(again)
        (last,) = await world.append(again)
        assert isinstance(last, Committed | Replayed)


async def _ended_meanwhile(pool: DriverPool, killer: asyncpg.Connection) -> None:
    async with pool.one() as connection:
        await killer.execute("SELECT pg_terminate_backend($1)", connection.get_server_pid())
        await connection.execute("SELECT pg_sleep(30)")
