"""One address in front of several replicas: a connection goes to the one that has fewest."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

_CHUNK = 65_536


class Balancer:
    """Forwards TCP. Clients stay with a replica until their connection is cut: by its end, or by `spread`."""

    def __init__(self, targets: Sequence[str]) -> None:
        self.address = ""
        self._targets = list(targets)
        self._open: dict[asyncio.Task[None], str] = {}

    def count(self, target: str) -> int:
        """The connections to one replica."""
        return sum(1 for other in self._open.values() if other == target)

    async def spread(self, target: str, at_least: int) -> None:
        """Returns when `target` has that many connections; others are cut, so that their clients connect
        again. As many must be open in all, and `target` must listen."""
        while self.count(target) < at_least:
            crowded = max(self._targets, key=self.count)
            if crowded != target and self.count(crowded) > self.count(target):
                next(task for task, other in self._open.items() if other == crowded).cancel()
            await asyncio.sleep(0.02)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            for target in sorted(self._targets, key=self.count):
                host, _, port = target.rpartition(":")
                self._open[task] = target
                try:
                    there = await asyncio.open_connection(host, int(port))
                except OSError:  # it is dead at the moment
                    continue
                await _forward((reader, writer), there)
                return
        finally:
            self._open.pop(task, None)
            writer.transport.abort()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Listens on `address` for as long as this lasts."""
        server = await asyncio.start_server(self._cut_quietly, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()[:2]
        self.address = f"{host}:{port}"
        try:
            yield
        finally:
            server.close()
            tasks = list(self._open)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _cut_quietly(self, reader: StreamReader, writer: StreamWriter) -> None:
        # The server would report a task that was cancelled as an error.
        with suppress(asyncio.CancelledError):
            await self._serve(reader, writer)


async def _forward(one: tuple[StreamReader, StreamWriter], other: tuple[StreamReader, StreamWriter]) -> None:
    """Both ways, until either side ends."""
    ways = [asyncio.ensure_future(_copy(one[0], other[1])), asyncio.ensure_future(_copy(other[0], one[1]))]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        other[1].transport.abort()


async def _copy(source: StreamReader, target: StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await source.read(_CHUNK):
            target.write(chunk)
            await target.drain()
