"""Entries of the ledger whose time is up, ended by nobody else."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from itertools import groupby

import structlog

from conversation_service.app.staging import answer_of, tell
from kernel.errors import StemmaError
from kernel.verbs.env import Env, WriteTx
from kernel.verbs.records import Request
from kernel.verbs.staged_store import Decision, StagedState

log = structlog.get_logger(__name__)

SYSTEM = "system"
REASON = "Nobody decided in time."
# Seconds between two sweeps; entries that one transaction ends.
_BEAT, _BATCH = 60.0, 100

Expired = Callable[[datetime, int], Awaitable[list[tuple[str, str]]]]
"""(tenant, id) of entries whose time was up at a moment, at most so many."""


class Expiry:
    """Safe beside others of its kind: what one has ended, the others pass over, and it has one event."""

    def __init__(self, env: Env, expired: Expired) -> None:
        self._env = env
        self._expired = expired

    async def sweep(self) -> int:
        """Ends all that are due, in small batches; -> how many this one ended."""
        ended = 0
        while found := await self._expired(self._env.clock(), _BATCH):
            for tenant_id, of_tenant in groupby(sorted(found), key=lambda one: one[0]):
                ended += await self._end(tenant_id, [staged_write_id for _, staged_write_id in of_tenant])
        return ended

    async def _end(self, tenant_id: str, ids: list[str]) -> int:
        async def work(tx: WriteTx) -> int:
            decision = Decision(StagedState.EXPIRED, SYSTEM, REASON, decide_time=self._env.clock())
            entries = await tx.settle_expired(ids, decision)
            for entry in entries:
                tell(tx, self._env, entry, "expired", SYSTEM)
                done = Request(SYSTEM, "ExpireStagedWrite", entry.staged_write_id, bytes(32))
                await tx.record(done, answer_of(entry))
            return len(entries)

        return await self._env.store.write(tenant_id, work)

    async def run(self) -> None:
        """Sweeps until it is cancelled."""
        while True:
            try:
                ended = await self.sweep()
            except StemmaError as error:
                log.warning("old entries stay staged; it is tried again", reason=error.reason)
            else:
                if ended:
                    log.info("entries of the ledger expired", entries=ended)
            await asyncio.sleep(_BEAT)
