"""How many streams one provider writes at once, and how many may wait for it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kernel.generation.provider import unavailable


class StreamSlots:
    """A bounded number of streams, first come first served, before it a bounded queue.

    Args:
        streams: At once.
        waiting: Beyond them. A stream that finds the queue full is refused at once: it would only be
            late as well.
    """

    def __init__(self, streams: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(streams)
        self._waiting = 0
        self._max_waiting = waiting

    @asynccontextmanager
    async def taken(self, deadline: float) -> AsyncIterator[None]:
        """Holds one for the length of the block. `deadline` in the loop's time.

        Raises:
            ProviderError: PROVIDER_UNAVAILABLE when the queue is full, or none is free by then.
        """
        await self._take(deadline)
        try:
            yield
        finally:
            self._free.release()

    async def _take(self, deadline: float) -> None:
        if self._free.locked() and self._waiting >= self._max_waiting:
            raise unavailable(
                "As many answers as this server allows (STEMMA_PROVIDER_STREAMS) are being written by this"
                " provider, and as many as it allows (STEMMA_PROVIDER_QUEUE) wait: try again later."
            )
        self._waiting += 1
        try:
            async with asyncio.timeout_at(deadline):
                await self._free.acquire()
        except TimeoutError:
            raise unavailable(
                "No turn came up in time: this provider writes as many answers as this server allows"
                " (STEMMA_PROVIDER_STREAMS). Try again later."
            ) from None
        finally:
            self._waiting -= 1
