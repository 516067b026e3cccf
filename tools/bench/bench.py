"""What the sections of a run share: the programs, the databases, and what was measured so far."""

import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from tools.bench import echo, processes
from tools.bench.databases import Databases
from tools.bench.processes import Client, Server

ENGINES = ("postgres", "sqlite")


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured. Seconds of a load; times of a call in a round."""

    rounds: int
    seconds: float
    times: int
    # Sessions that are read for the first time, of each length.
    cold: int
    lengths: tuple[int, ...]
    growth: tuple[int, int]
    branches: int
    forks: tuple[int, ...]
    peers: bool


FULL = Size(
    rounds=3,
    seconds=2.0,
    times=15,
    cold=6,
    lengths=(200, 1_000),
    growth=(100, 10_000),
    branches=1_000,
    forks=(1_000, 10_000),
    peers=True,
)
QUICK = Size(
    rounds=2,
    seconds=0.7,
    times=5,
    cold=2,
    lengths=(200, 1_000),
    growth=(100, 1_000),
    branches=100,
    forks=(100, 1_000),
    peers=False,
)


@dataclass
class Bench:
    """One run. `values`: by name, a value for each round; `facts`: what is said beside the table."""

    size: Size
    databases: Databases
    client: Client
    echo: Server
    urls: dict[str, str]
    values: dict[str, list[float]] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    console: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))
    _started: float = field(default_factory=time.monotonic)

    @property
    def folder(self) -> Path:
        return self.databases.folder

    def say(self, what: str) -> None:
        """Progress, with the seconds since the start."""
        self.console.print(f"bench {time.monotonic() - self._started:5.0f} s  {what}")

    def add(self, name: str, value: float) -> None:
        self.values.setdefault(name, []).append(value)

    async def load(self, name: str, server: Server, method: str, bodies: Sequence[str]) -> None:
        """Records calls a second as `name`, the server's CPU milliseconds a call as `name.cpu`, and the
        milliseconds that 95 % of the calls took at most as `name.p95`."""
        before = server.cpu_seconds()
        answer = await self.client.ask(
            "load",
            address=server.address,
            method=method,
            bodies=list(bodies),
            seconds=self.size.seconds,
        )
        self.add(name, answer["rate"])
        self.add(f"{name}.cpu", (server.cpu_seconds() - before) * 1e3 / answer["calls"])
        self.add(f"{name}.p95", answer["p95_ms"])
        if answer["failed"]:
            self.facts[f"Calls that failed, {name}, round {len(self.values[name])}"] = str(answer["failed"])

    async def stream(self, name: str, server: Server, bodies: Sequence[str], **shape: int) -> None:
        """The same for AppendFloors."""
        before = server.cpu_seconds()
        answer = await self.client.ask(
            "stream", address=server.address, bodies=list(bodies), seconds=self.size.seconds, **shape
        )
        self.add(name, answer["rate"])
        self.add(f"{name}.cpu", (server.cpu_seconds() - before) * 1e3 / answer["calls"])

    async def latency(self, calls: Sequence[dict[str, Any]], times: int) -> None:
        """Records the median of each call's milliseconds under its name: one round."""
        found = await self.client.ask("latency", calls=list(calls), times=times)
        for name, taken in found.items():
            self.add_median(name, taken)

    def add_median(self, name: str, taken: Sequence[float]) -> None:
        """One round of what was measured several times."""
        self.add(name, median(taken))

    def echo_call(self, name: str, body: str) -> dict[str, Any]:
        """For `latency`: an echo, beside what is measured in the same turns."""
        return {"name": name, "address": self.echo.address, "method": echo.METHOD, "body": body}


async def begun(size: Size, databases: Databases, until: AsyncExitStack) -> Bench:
    """A run with its client and echo server, and a service's database for each engine."""
    folder = databases.folder
    client = await until.enter_async_context(processes.client(folder))
    server = await until.enter_async_context(
        processes.server(["-m", "tools.bench.echo"], {}, folder),
    )
    return Bench(size, databases, client, server, databases.both("service"))
