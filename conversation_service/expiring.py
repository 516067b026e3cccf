"""What ends entries of the ledger in this process when their time is up."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from conversation_service.app.staged_expiry import Expiry
from kernel.steady import steadily
from kernel.storage.staged import Ledgers
from kernel.verbs.env import Env


@asynccontextmanager
async def expiring(env: Env, ledgers: Ledgers) -> AsyncIterator[Expiry]:
    """At work until the block ends."""
    expiry = Expiry(env, ledgers.expired)
    sweeping = asyncio.create_task(steadily(expiry.run))
    try:
        yield expiry
    finally:
        sweeping.cancel()
        with suppress(asyncio.CancelledError):
            await sweeping
