"""Runs that another process has, followed through the database: one statement for all that are watched."""

import asyncio
from contextlib import suppress

import structlog

from kernel.errors import StemmaError, Unavailable
from kernel.verbs.records import RunMark, RunState
from kernel.verbs.run_store import RunLog

log = structlog.get_logger(__name__)

# Seconds between two looks.
_INTERVAL = 0.2
_Key = tuple[str, str]


class RunTail:
    """Wakes those who wait for a run to change. Looks only while somebody waits. Belongs to one event
    loop."""

    def __init__(self, rows: RunLog, *, interval: float = _INTERVAL) -> None:
        self._rows = rows
        self._interval = interval
        self._waiting: dict[_Key, set[asyncio.Future[RunMark | None]]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._closed = False

    async def changed(self, tenant_id: str, run_id: str, seen: tuple[int, RunState, int]) -> None:
        """Until a look finds another (epoch, state, newest logged position) than was seen, or no run.
        UNAVAILABLE when the server stops."""
        while True:
            mark = await self._next_mark((tenant_id, run_id))
            if mark is None or (mark.epoch, mark.state, mark.logged_seq) != seen:
                return

    async def close(self) -> None:
        """Sends everybody away."""
        self._closed = True
        for futures in self._waiting.values():
            for future in futures:
                if not future.done():
                    future.set_exception(_stopping())
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    async def _next_mark(self, key: _Key) -> RunMark | None:
        if self._closed:
            raise _stopping()
        future: asyncio.Future[RunMark | None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, set()).add(future)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            return await future
        finally:
            waiting = self._waiting.get(key, set())
            waiting.discard(future)
            if not waiting:
                self._waiting.pop(key, None)

    async def _look(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._interval)
            keys = list(self._waiting)
            try:
                marks = await self._rows.marks(keys)
            except StemmaError as error:
                log.warning("a look at runs failed; it is tried again", reason=error.reason)
                continue
            for key in keys:
                for future in self._waiting.get(key, ()):
                    if not future.done():
                        future.set_result(marks.get(key))
            # Those who were woken ask again, or leave.
            await asyncio.sleep(0)


def _stopping() -> Unavailable:
    return Unavailable("UNAVAILABLE", "The server is stopping. Attach again, after the last frame you have.")
