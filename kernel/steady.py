"""Work in the background that goes on whatever happens to it."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

# Seconds before work that failed is begun again.
_AGAIN = 1.0

log = structlog.get_logger(__name__)


async def steadily(work: Callable[[], Awaitable[None]], again: float = _AGAIN) -> None:
    """Runs endless work until it is cancelled. What it does not expect is logged as a fault of ours, and
    the work begun again: nobody else would notice that it stands still."""
    while True:
        try:
            await work()
        except Exception as error:
            log.error("background work failed; it is begun again", exc_info=error)
        await asyncio.sleep(again)
