"""Paths and contexts: one call at a time on a service with nothing else to do, beside an echo."""

import base64
from typing import Any

from stemma.conversation.v1 import floor_service_pb2

from tools.bench import echo, processes, requests
from tools.bench.bench import ENGINES, Bench
from tools.bench.paths import raw_path
from tools.bench.processes import Server
from tools.bench.requests import CONTEXT, PATH

# What is read, and how the request says from where.
KINDS = ("path.id", "path.branch", "context.id", "context.branch")
_METHODS = {"path": PATH, "context": CONTEXT}

# Sessions by their length: [session, head].
_Sessions = dict[int, list[tuple[str, str]]]


async def reads(bench: Bench) -> None:
    """A cold read is the first of its session after a start of the service; each kind has its own start."""
    for engine in ENGINES:
        bench.say(f"paths and contexts, {engine}")
        url = bench.urls[engine]
        async with processes.service(url, bench.folder) as server:
            made = await _made(bench, server)
        await _raw(bench, engine, made)
        for kind in KINDS:
            async with processes.service(url, bench.folder) as server:
                await _cold(bench, engine, server, kind, made)
                if kind == KINDS[-1]:
                    await _warm(bench, engine, server, made)


async def _made(bench: Bench, server: Server) -> _Sessions:
    """One more of each length than is read cold: it warms up what is no session."""
    found: _Sessions = {}
    async with requests.sessions(server.address) as made:
        for length in bench.size.lengths:
            for seed in range(bench.size.cold + 1):
                session = await made.imported(requests.line_log(length, seed))
                found.setdefault(length, []).append((session, await made.head(session)))
    return found


async def _raw(bench: Bench, engine: str, made: _Sessions) -> None:
    query = await raw_path(bench.urls[engine])
    try:
        for length, sessions in made.items():
            await query.milliseconds(sessions[0][0], length)
            for session, _ in sessions[1:]:
                bench.add(f"raw.path.{engine}.{length}", await query.milliseconds(session, length))
    finally:
        await query.close()


def _call(name: str, server: Server, kind: str, session: str, head: str) -> dict[str, Any]:
    what, by = kind.split(".")
    floor_id = head if by == "id" else ""
    body = (requests.path if what == "path" else requests.context)(session, floor_id)
    return {"name": name, "address": server.address, "method": _METHODS[what], "body": body}


async def _cold(bench: Bench, engine: str, server: Server, kind: str, made: _Sessions) -> None:
    """A value for each session: a session is read for the first time once."""
    for length, sessions in made.items():
        (first, head), *others = sessions
        await bench.client.ask("latency", calls=[_call("", server, kind, first, head)], times=3)
        for session, head in others:
            beside = bench.echo_call(f"echo.cold.{kind}.{engine}.{length}", requests.path(session))
            cold = _call(f"cold.{kind}.{engine}.{length}", server, kind, session, head)
            # The echo before it wakes the client; the one after is the one that counts.
            await bench.client.ask("latency", calls=[beside], times=3)
            await bench.latency([cold, beside], 1)


async def _warm(bench: Bench, engine: str, server: Server, made: _Sessions) -> None:
    for length, sessions in made.items():
        session, head = sessions[0]
        calls = [_call(f"warm.{kind}.{engine}.{length}", server, kind, session, head) for kind in KINDS]
        calls.append(bench.echo_call(f"echo.warm.{engine}.{length}", requests.path(session, head)))
        size = await _path_bytes(bench, calls[0], length)
        bench.facts[f"Bytes of a path of {length:,} turns, {engine}"] = f"{size:,}"
        # What it costs to send so many bytes, whatever they are.
        sized = base64.b64encode(str(size).encode()).decode()
        calls.append(bench.echo_call(f"echo.sized.{engine}.{length}", sized) | {"method": echo.SIZED})
        await bench.client.ask("latency", calls=calls, times=3)
        for _ in range(bench.size.rounds):
            await bench.latency(calls, bench.size.times)


async def _path_bytes(bench: Bench, call: dict[str, Any], length: int) -> int:
    """The size of the answer, which must hold the whole path."""
    asked = {key: call[key] for key in ("address", "method", "body")}
    raw = base64.b64decode(await bench.client.ask("call", **asked))
    answer = floor_service_pb2.ListPathResponse.FromString(raw)
    assert len(answer.floors) == length
    return len(raw)
