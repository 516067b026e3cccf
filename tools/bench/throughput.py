"""Turns a second: the limits, the store alone, and the service, all in each round."""

from contextlib import AsyncExitStack
from itertools import islice

from tools.bench import echo, processes, requests, sizes
from tools.bench.bench import ENGINES, Bench
from tools.bench.processes import Server
from tools.bench.raw import RawPostgres, direct_sqlite
from tools.bench.stores import StoreLoad, store
from tools.bench.words import turns

CALLERS = 64
# Sessions of an AppendFloors load, how many items of each are under way, and on how many streams.
STREAM_SESSIONS = 128
STREAM = {"ahead": 2, "streams": 1}
_RAW_CONNECTIONS = (1, 8, 32)
# Turns made beforehand for each caller of the store, for each second: more than it can append.
_EACH_SECOND = 200


async def throughput(bench: Bench) -> None:
    async with AsyncExitStack() as until:
        services = {
            engine: await until.enter_async_context(processes.service(url, bench.folder))
            for engine, url in bench.urls.items()
        }
        bodies = {engine: await _sessions(server, STREAM_SESSIONS) for engine, server in services.items()}
        before = {engine: await sizes.tables(url) for engine, url in bench.urls.items()}
        raw = RawPostgres(bench.databases.postgres())
        await raw.open()
        store_urls = bench.databases.both("store")
        stores = {
            engine: await StoreLoad.on(await until.enter_async_context(store(store_urls[engine])), CALLERS)
            for engine in ENGINES
        }
        for number in range(bench.size.rounds):
            bench.say(f"turns a second, round {number + 1} of {bench.size.rounds}")
            await _round(bench, services, bodies, raw, stores)
        await sizes.per_turn(bench, before)


async def _round(
    bench: Bench,
    services: dict[str, Server],
    bodies: dict[str, list[str]],
    raw: RawPostgres,
    stores: dict[str, StoreLoad],
) -> None:
    seconds = bench.size.seconds / 2
    any_bodies = bodies["postgres"][:CALLERS]
    await bench.load("echo", bench.echo, echo.METHOD, any_bodies)
    await bench.load("echo.turn", bench.echo, echo.TURN, any_bodies)
    for connections in _RAW_CONNECTIONS:
        bench.add(f"raw.{connections}", await raw.singly(connections, seconds))
    bench.add("raw.best", max(bench.values[f"raw.{n}"][-1] for n in _RAW_CONNECTIONS))
    bench.add("raw.32x1", await raw.batched(1, 32, seconds))
    bench.add("raw.128x2", await raw.batched(2, 128, seconds))
    bench.add("direct", direct_sqlite(bench.folder / "direct.db", seconds))
    for engine in ENGINES:
        bench.add(f"store.{engine}", await stores[engine].rate(round(_EACH_SECOND * seconds), seconds))
        await bench.load(f"append.{engine}", services[engine], requests.APPEND, bodies[engine][:CALLERS])
        await bench.stream(f"floors.{engine}", services[engine], bodies[engine], **STREAM)


async def _sessions(server: Server, count: int) -> list[str]:
    """An append to each of so many new sessions."""
    async with requests.sessions(server.address) as made:
        ids = await made.new(count)
    return [requests.append(one, text) for one, text in zip(ids, islice(turns(), count), strict=True)]
