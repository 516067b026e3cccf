"""What a long session, abandoned branches and forks cost: milliseconds of an append, and bytes of a fork."""

from itertools import islice
from statistics import median
from typing import Any

from tools.bench import processes, requests, sizes
from tools.bench.bench import ENGINES, Bench
from tools.bench.processes import Server
from tools.bench.requests import APPEND, EDIT
from tools.bench.words import turns

# Forks that are made to measure one.
_FORKS = 300


async def growth(bench: Bench) -> None:
    for engine in ENGINES:
        bench.say(f"growth, branches and forks, {engine}")
        async with processes.service(bench.urls[engine], bench.folder) as server:
            await _appends(bench, engine, server)
            for length in bench.size.forks:
                await _forks(bench, engine, server, length)


async def _appends(bench: Bench, engine: str, server: Server) -> None:
    short, long = bench.size.growth
    async with requests.sessions(server.address) as made:
        sessions = {
            "short": await made.imported(requests.line_log(short, 1)),
            "long": await made.imported(requests.line_log(long, 2)),
            "branches": await made.imported(requests.bush_log(short, bench.size.branches, 3)),
        }
    texts = turns()
    calls = [
        _write(f"growth.{name}.{engine}", server, APPEND, requests.append(session, next(texts)))
        for name, session in sessions.items()
    ]
    await bench.client.ask("latency", calls=calls, times=3)
    for _ in range(bench.size.rounds):
        await bench.latency(calls, 2 * bench.size.times)


async def _forks(bench: Bench, engine: str, server: Server, length: int) -> None:
    """What further forks add to a session of `length` turns, each of them forked already."""
    async with requests.sessions(server.address) as made:
        session = await made.imported(requests.bush_log(length, length, length))
        path = await made.floor_ids(session)
    count = min(_FORKS, length)
    forked = path[:: length // count][:count]
    calls = [
        _write("fork", server, EDIT, requests.edit(session, floor_id, text))
        for floor_id, text in zip(forked, islice(turns(), count), strict=True)
    ]
    before = await sizes.tables(bench.urls[engine])
    taken = await bench.client.ask("latency", calls=calls, times=1)
    after = await sizes.tables(bench.urls[engine])
    bench.add(f"fork.ms.{engine}.{length}", median(taken["fork"]))
    if after:
        tree, _ = sizes.split(sizes.grown(after, before))
        bench.add(f"fork.bytes.{engine}.{length}", tree / count)


def _write(name: str, server: Server, method: str, body: str) -> dict[str, Any]:
    return {"name": name, "address": server.address, "method": method, "body": body, "write": True}
