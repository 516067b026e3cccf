"""What a long session, abandoned branches and forks cost: milliseconds of an append, and bytes of a fork."""

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

from tools.bench import processes, requests, sizes
from tools.bench.bench import ENGINES, Bench
from tools.bench.processes import Server
from tools.bench.requests import APPEND, Sessions
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
    """What goes on in a session of `length` turns, each of them forked: a turn, its edit, the next turn."""
    url = bench.urls[engine]
    texts = turns()
    taken = []
    async with requests.sessions(server.address) as made:
        session = await made.imported(requests.bush_log(length, length, length))
        await _fork(made, session, texts)
        before = await sizes.tables(url)
        for _ in range(_FORKS):
            taken.append(await _fork(made, session, texts))
        after = await sizes.tables(url)
    bench.add(f"fork.ms.{engine}.{length}", median(taken))
    if after:
        tree, _ = sizes.split(sizes.grown(after, before))
        bench.add(f"fork.bytes.{engine}.{length}", tree / _FORKS)


async def _fork(made: Sessions, session_id: str, texts: Iterator[tuple[str, str]]) -> float:
    """Appends a turn and leaves it for another version: milliseconds of the second."""
    floor_id = await made.append(session_id, next(texts))
    begin = time.perf_counter()
    await made.edit(session_id, floor_id, next(texts))
    return (time.perf_counter() - begin) * 1e3


def _write(name: str, server: Server, method: str, body: str) -> dict[str, Any]:
    return {"name": name, "address": server.address, "method": method, "body": body, "write": True}
