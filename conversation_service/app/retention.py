"""Removing events that are older than they are kept for."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog

from kernel.errors import StemmaError

log = structlog.get_logger(__name__)

# Seconds between two sweeps.
_BEAT = 60.0


class Retention:
    """`remove_before`: removes some of the events that were committed before a time; -> how many."""

    def __init__(
        self,
        age: timedelta,
        clock: Callable[[], datetime],
        remove_before: Callable[[datetime], Awaitable[int]],
    ) -> None:
        self._age = age
        self._clock = clock
        self._remove_before = remove_before

    async def sweep(self) -> int:
        """Removes all that is too old, in small batches; -> how many."""
        removed = 0
        cutoff = self._clock() - self._age
        while batch := await self._remove_before(cutoff):
            removed += batch
        return removed

    async def run(self) -> None:
        """Sweeps until it is cancelled."""
        while True:
            try:
                removed = await self.sweep()
            except StemmaError as error:
                log.warning("old events stay; it is tried again", reason=error.reason)
            else:
                if removed:
                    log.info("old events were removed", events=removed)
            await asyncio.sleep(_BEAT)
