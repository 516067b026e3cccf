"""What a draft service that is away, or worse, costs the conversation service: canonical calls in turns, with
drafts served, stopped, stalled, and turning in circles."""

import base64
import os
import secrets
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from tools.bench import processes, requests
from tools.bench.bench import ENGINES, Bench
from tools.bench.processes import Server
from tools.bench.words import turns

SERVED, STOPPED, STALLED, LOOPING = STATES = ("served", "stopped", "stalled", "looping")
# Measured in each state; the others only have to succeed.
MEASURED = {"append": "`AppendFloor`", "context": "`AssembleContext`", "respond": "a run"}
# How often the states take turns in a round, but for the one that costs a start.
_TURNS = 3
_SIGNALS = {STALLED: (signal.SIGSTOP, signal.SIGCONT), LOOPING: (signal.SIGUSR1, signal.SIGUSR2)}


@dataclass(frozen=True, slots=True)
class _Canon:
    """A conversation service, with a session for each call, so that none makes another's longer."""

    engine: str
    server: Server
    sessions: tuple[str, ...]

    def calls(self, state: str) -> list[dict[str, Any]]:
        append, context, respond, path, edited = self.sessions
        text = next(turns())
        found = {
            "append": (requests.APPEND, requests.append(append, text), {"write": True}),
            "context": (requests.CONTEXT, requests.context(context), {}),
            "respond": (
                requests.RESPOND,
                requests.respond(respond, "go on"),
                {"write": True, "stream": True},
            ),
            "path": (requests.PATH, requests.path(path), {}),
            "session": (requests.CREATE, requests.create(), {"write": True}),
            "staged": (requests.STAGE, requests.stage(edited, text), {"write": True}),
        }
        return [
            {"name": f"drafts.{name}.{self.engine}.{state}", "address": self.server.address}
            | {"method": method, "body": body, **how}
            for name, (method, body, how) in found.items()
        ]


async def drafts(bench: Bench) -> None:
    for engine in ENGINES:
        canon_url, draft_url = (
            bench.databases.both(f"{name}_{engine}")[engine] for name in ("canon", "draft")
        )
        async with processes.service(canon_url, bench.folder) as server:
            async with requests.sessions(server.address) as made:
                canon = _Canon(
                    engine, server, tuple([await made.imported(requests.line_log(200, n)) for n in range(5)])
                )
            await bench.client.ask("latency", calls=canon.calls(SERVED), times=2)
            for number in range(bench.size.rounds):
                bench.say(f"beside drafts, {engine}, round {number + 1} of {bench.size.rounds}")
                await _round(bench, canon, draft_url)


async def _round(bench: Bench, canon: _Canon, draft_url: str) -> None:
    """Every call is answered, or the run ends here."""
    times = max(1, bench.size.times // _TURNS)
    await bench.latency(canon.calls(STOPPED), _TURNS * times)
    found: dict[str, list[float]] = {}
    async with _served(bench, canon, draft_url) as server:
        for _ in range(_TURNS):
            for state in (SERVED, STALLED, LOOPING):
                with _in(state, server):
                    taken = await bench.client.ask("latency", calls=canon.calls(state), times=times)
                for name, values in taken.items():
                    found.setdefault(name, []).extend(values)
    for name, values in found.items():
        bench.add_median(name, values)


@contextmanager
def _in(state: str, server: Server) -> Iterator[None]:
    begin, end = _SIGNALS.get(state, (None, None))
    if begin is not None:
        os.kill(server.pid, begin)
    try:
        yield
    finally:
        if end is not None:
            os.kill(server.pid, end)


@asynccontextmanager
async def _served(bench: Bench, canon: _Canon, url: str) -> AsyncIterator[Server]:
    """The draft service, of which nobody asks anything."""
    environment = {
        "STEMMA_DRAFT": "127.0.0.1:0",
        "STEMMA_DRAFT_DATABASE_URL": url,
        "STEMMA_CONVERSATION": canon.server.address,
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_SECRET_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
    }
    async with processes.server(["-m", "tools.bench.looping"], environment, bench.folder) as server:
        yield server
