"""What makes a race one: whoever writes to a draft stands before its lock, until all of them do."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import asyncpg

# Seconds that they may take to get there.
WAIT = 15.0
# How many wait; two looks are two milliseconds apart.
_WAITING = """
    SELECT count(*) FROM pg_sleep(0.002), pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


class Gate:
    """Two connections of its own: one holds the locks, the other looks who waits."""

    def __init__(self, holder: asyncpg.Connection, looker: asyncpg.Connection) -> None:
        self._holder = holder
        self._looker = looker

    @asynccontextmanager
    async def closed(self, ids: Sequence[str]) -> AsyncIterator[None]:
        """Nobody gets the locks of these drafts before the end of the block."""
        async with self._holder.transaction():
            query = "SELECT 1 FROM session WHERE session_id = ANY($1::uuid[]) ORDER BY session_id FOR UPDATE"
            await self._holder.execute(query, ids)
            yield

    async def reached(self, count: int) -> None:
        """Until so many transactions of the database wait for a lock."""
        async with asyncio.timeout(WAIT):
            while await self._looker.fetchval(_WAITING) < count:
                pass

    async def expires(self, ids: Sequence[str], step: int) -> None:
        """The drafts' time is over: for the second now, for each other `step` milliseconds later than for
        the one before."""
        await self._holder.execute(
            "UPDATE draft SET expire_time = clock_timestamp() + (n - 2) * $2::int * interval '1 millisecond'"
            " FROM unnest($1::uuid[]) WITH ORDINALITY AS of(id, n) WHERE draft_id = of.id",
            ids,
            step,
        )


@asynccontextmanager
async def gate(url: str) -> AsyncIterator[Gate]:
    """An open one."""
    holder = await asyncpg.connect(url)
    looker = await asyncpg.connect(url)
    try:
        yield Gate(holder, looker)
    finally:
        await looker.close()
        await holder.close()
