"""Kills by a schedule, each after the last has been worked through a little."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any

from tools.history.files import HistoryWriter
from tools.history.model import Operation, Outcome
from tools.soak.balancer import Balancer
from tools.soak.databases import Database
from tools.soak.replica import Replica, Stuck
from tools.soak.schedule import Kill

Progress = Callable[[str], None]

# Seconds in which what was killed must be there again, and calls be acknowledged.
_PATIENCE = 300.0


class WatchedHistory(HistoryWriter):
    """A history that one task at a time can wait for."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._news = asyncio.Event()

    def complete(self, operation: Operation, outcome: Outcome, **told: Any) -> Operation:
        self._news.set()
        return super().complete(operation, outcome, **told)

    def __enter__(self) -> WatchedHistory:
        return self

    async def acknowledged(self, calls: int) -> None:
        """Returns when so many more calls were acknowledged than when it was called."""
        enough = self.counts["ok"] + calls
        while self.counts["ok"] < enough:
            self._news.clear()
            await self._news.wait()


class Killer:
    """Carries out kills while clients write to `history`. A replica gets `connections` before it is killed,
    so that the kill meets work."""

    def __init__(
        self,
        database: Database,
        replicas: Sequence[Replica],
        balancer: Balancer,
        history: WatchedHistory,
        connections: int,
    ) -> None:
        self._database = database
        self._replicas = replicas
        self._balancer = balancer
        self._history = history
        self._connections = connections

    async def acknowledged(self, calls: int) -> None:
        """Returns when so many more calls were acknowledged. Raises Stuck."""
        await self._patiently(self._history.acknowledged(calls))

    async def carry_out(self, kills: Iterable[Kill], progress: Progress) -> None:
        """Returns after the last kill. Raises Stuck."""
        for kill in kills:
            await self._patiently(self._one(kill))
            progress(self._said())

    async def _patiently(self, work: Coroutine[None, None, None]) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                await work
        except TimeoutError:
            raise Stuck(f"nothing was acknowledged for {_PATIENCE:.0f} s; {self._said()}") from None

    async def _one(self, kill: Kill) -> None:
        replica = None if kill.replica is None else self._replicas[kill.replica]
        if replica is not None:
            await replica.ready()
            await self._balancer.spread(replica.address, self._connections)
        await self._history.acknowledged(kill.calls)
        await asyncio.sleep(kill.delay)
        if replica is None:
            await self._database.crash(kill.away)
        else:
            await replica.kill()

    def _said(self) -> str:
        counts = self._history.counts
        return (
            f"{sum(replica.kills for replica in self._replicas)} kills of the service,"
            f" {self._database.kills} of PostgreSQL; {counts['ok']} calls acknowledged,"
            f" {counts['unknown']} unknown, {counts['fail']} failed"
        )
