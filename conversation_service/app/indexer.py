"""Keeps the index of words behind the feeds: each replica does a little, none does it twice.

What a batch needs is read first, without a lock. Then one short transaction takes the project's index,
looks that it is where it was, and writes the batch with the position that it comes to. So a crash leaves
nothing half done, and the hot write knows nothing of all this.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog

from conversation_service.app.index_entries import Batch, next_batch
from kernel.errors import StemmaError
from kernel.verbs.env import Env, WriteTx
from kernel.verbs.search_store import Indexed

log = structlog.get_logger(__name__)

FeedKey = tuple[str, str]
# Seconds: until a commit is indexed, at most and at least; projects that one look finds.
_BEAT, _DELAY, _FOUND = 2.0, 0.05, 100
# How long the indexer rests after each batch, in times of what the batch took: the calls come first.
_REST = 4


class Indexer:
    """Belongs to one event loop. `unindexed`: feeds with events that are not indexed, up to a number."""

    def __init__(self, env: Env, unindexed: Callable[[int], Awaitable[list[FeedKey]]]) -> None:
        self._env = env
        self._unindexed = unindexed
        self._wanted = asyncio.Event()

    def committed(self, tenant_id: str) -> None:
        """This process has committed events of the tenant."""
        self._wanted.set()

    async def run(self) -> None:
        """Indexes what there is until it is cancelled."""
        while True:
            try:
                async with asyncio.timeout(_BEAT):
                    await self._wanted.wait()
            except TimeoutError:
                pass
            await asyncio.sleep(_DELAY)
            self._wanted.clear()
            try:
                await self._all()
            except StemmaError as error:
                log.warning("the index of words stands still; it is tried again", reason=error.reason)

    async def caught_up(self) -> None:
        """Returns when everything that is committed by now is indexed."""
        while await self._unindexed(1):
            await self._all(rest=0)

    async def _all(self, rest: int = _REST) -> None:
        for tenant_id, project_id in await self._unindexed(_FOUND):
            while True:
                began = time.monotonic()
                if not await index_next(self._env, tenant_id, project_id):
                    break
                await asyncio.sleep(rest * (time.monotonic() - began))


async def index_next(env: Env, tenant_id: str, project_id: str) -> bool:
    """Indexes the project's next batch. False: there is none, or another process is at it."""
    async with env.store.reading(tenant_id) as tx:
        seen = await tx.indexed(project_id)
        batch = await next_batch(tx, env.codec, project_id, seen or Indexed())
    if batch is None:
        return False

    async def work(tx: WriteTx) -> bool:
        return await _write(tx, project_id, seen, batch)

    return await env.store.write(tenant_id, work)


async def _write(tx: WriteTx, project_id: str, seen: Indexed | None, batch: Batch) -> bool:
    if not await tx.lock_index(project_id) or await tx.indexed(project_id) != seen:
        return False
    if batch.anew:
        await tx.remove_entries(batch.anew)
    if batch.entries:
        await tx.insert_entries(project_id, batch.entries)
    await tx.set_indexed(project_id, batch.indexed)
    return True
