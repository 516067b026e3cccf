"""`--profile`: where the service spends its time, so that a missed target can be explained.

For each engine a service under cProfile (profiled.py) does one thing at a time: appends of 64 callers, paths
and contexts read again, and read for the first time. A table for each goes to a file of its own.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tools.bench import requests
from tools.bench.processes import Client, Server, service
from tools.bench.words import turns

_CALLERS, _SECONDS = 64, 5.0
_WARM, _COLD = 40, 10

Work = Callable[[Client, Server], Awaitable[None]]


async def profiles(urls: dict[str, str], client: Client, folder: Path, target: Path) -> list[Path]:
    """`urls`: a database for each engine's name. Returns what was written below `target`."""
    written = []
    for engine, url in urls.items():
        async with service(url, folder) as running, requests.sessions(running.address) as made:
            long = {n: await made.imported(requests.line_log(n, n)) for n in (200, 1_000)}
            cold = [await made.imported(requests.line_log(1_000, seed)) for seed in range(_COLD)]
            heads = {session: await made.head(session) for session in long.values()}
        works: dict[str, Work] = {
            "append-64-callers": _append,
            "append-floors-64-sessions": _stream,
            "edit-in-a-bush": _edit,
        }
        for n, session in long.items():
            works[f"path-warm-{n}"] = _reads(requests.PATH, [requests.path(session, heads[session])], _WARM)
            works[f"path-by-branch-warm-{n}"] = _reads(requests.PATH, [requests.path(session)], _WARM)
            works[f"context-warm-{n}"] = _reads(
                requests.CONTEXT, [requests.context(session, heads[session])], _WARM
            )
        works["path-cold-1000"] = _reads(requests.PATH, [requests.path(one) for one in cold], 1, warm=False)
        works["context-cold-1000"] = _reads(
            requests.CONTEXT, [requests.context(one) for one in cold], 1, warm=False
        )
        for name, work in works.items():
            file = target / f"{name}-{engine}.txt"
            async with _profiled(url, folder, file) as running:
                await work(client, running)
            written.append(file)
    return written


@asynccontextmanager
async def _profiled(url: str, folder: Path, file: Path) -> AsyncIterator[Server]:
    async with service(url, folder, profile=file) as running:
        yield running


async def _appending(running: Server) -> list[str]:
    texts = turns()
    async with requests.sessions(running.address) as made:
        return [requests.append(session, next(texts)) for session in await made.new(_CALLERS)]


async def _append(client: Client, running: Server) -> None:
    bodies = await _appending(running)
    load = {"address": running.address, "method": requests.APPEND, "bodies": bodies}
    await client.ask("load", **load, seconds=1.0)
    running.toggle_profile()
    await client.ask("load", **load, seconds=_SECONDS)
    running.toggle_profile()


async def _stream(client: Client, running: Server) -> None:
    bodies = await _appending(running)
    load = {"address": running.address, "bodies": bodies, "ahead": 2, "streams": 1}
    await client.ask("stream", **load, seconds=1.0)
    running.toggle_profile()
    await client.ask("stream", **load, seconds=_SECONDS)
    running.toggle_profile()


async def _edit(client: Client, running: Server) -> None:
    """Forks all over a session of 1,000 turns that is forked at each of them already."""
    async with requests.sessions(running.address) as made:
        session = await made.imported(requests.bush_log(1_000, 1_000, 1))
        path = await made.floor_ids(session)
    texts = turns()
    calls = [
        {
            "name": "edit",
            "address": running.address,
            "method": requests.EDIT,
            "body": requests.edit(session, floor_id, next(texts)),
            "write": True,
        }
        for floor_id in path[::10]
    ]
    await client.ask("latency", calls=calls[:5], times=1)
    running.toggle_profile()
    await client.ask("latency", calls=calls[5:], times=1)
    running.toggle_profile()


def _reads(method: str, bodies: list[str], times: int, *, warm: bool = True) -> Work:
    """Reads one after the other; when not `warm`, the first of these sessions warms up the code alone."""

    async def work(client: Client, running: Server) -> None:
        calls = [
            {"name": "read", "address": running.address, "method": method, "body": body} for body in bodies
        ]
        await client.ask("latency", calls=calls[:1], times=1)
        running.toggle_profile()
        await client.ask("latency", calls=calls if warm else calls[1:], times=times)
        running.toggle_profile()

    return work
