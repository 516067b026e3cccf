"""Ends drafts whose time is up, removes what is left of ended ones, and finishes exports that were cut off.
Any number of replicas may do it."""

import asyncio
from typing import Protocol

import structlog

from draft_service.app.ending import ended_in
from draft_service.app.exports import settled
from draft_service.app.store import WriteTx
from draft_service.app.world import World
from draft_service.domain.draft import SYSTEM, DraftState
from kernel.errors import NotFound, StemmaError, Unavailable
from kernel.verbs.records import Answer, Request

# Drafts in one look, and seconds between two.
_BATCH, _PAUSE = 100, 2.0

log = structlog.get_logger(__name__)


class Due(Protocol):
    """What is due, of whatever tenant: (tenant, draft id)."""

    async def expired(self, limit: int) -> list[tuple[str, str]]: ...

    async def purgeable(self, limit: int) -> list[tuple[str, str]]: ...

    async def exports(self, limit: int) -> list[tuple[str, str, str]]:
        """(tenant, draft id, export id)."""

    async def scrubbed(self) -> bool:
        """Whether what was deleted has left the database's files, as far as that is in our hands."""


class Sweeper:
    def __init__(self, world: World, due: Due) -> None:
        self._world = world
        self._due = due
        # What an earlier process purged may be in the files still.
        self._scrubbed = False

    async def run(self) -> None:
        """For ever. A database that is away is tried again."""
        while True:
            try:
                while await self.look():
                    pass
            except StemmaError as error:
                log.warning("sweeping failed; it is tried again", reason=error.reason)
            await asyncio.sleep(_PAUSE)

    async def look(self) -> int:
        """Does what is due now. -> how much it has done; 0: nothing was due, or can be done now"""
        done = await self._recover()
        for tenant_id, draft_id in await self._due.expired(_BATCH):
            done += await self._expire(tenant_id, draft_id)
        for tenant_id, draft_id in await self._due.purgeable(_BATCH):
            purged = await self._purge(tenant_id, draft_id)
            done += purged
            self._scrubbed = self._scrubbed and not purged
        if not self._scrubbed:
            self._scrubbed = await self._due.scrubbed()
        return done

    async def _recover(self) -> int:
        """Settles exports whose call or whose end a crash, or an absence of the ledger, has cut off."""
        done = 0
        for tenant_id, draft_id, export_id in await self._due.exports(_BATCH):
            try:
                await settled(self._world, tenant_id, draft_id, export_id)
            except NotFound:
                continue
            except Unavailable:
                # So for the others, most likely.
                break
            done += 1
        return done

    async def _expire(self, tenant_id: str, draft_id: str) -> bool:
        env = self._world.env

        async def work(tx: WriteTx) -> bool:
            session = await tx.lock_tree(draft_id)
            if session is None:
                return False
            done = await ended_in(tx, env, session, DraftState.EXPIRED, SYSTEM, "")
            if done is not None:
                await tx.record(Request(SYSTEM, "ExpireDraft", draft_id, bytes(32)), _of(draft_id))
            return done is not None

        return await self._world.store.write(tenant_id, work, draft_id)

    async def _purge(self, tenant_id: str, draft_id: str) -> bool:
        async def work(tx: WriteTx) -> bool:
            taken = await tx.purge_draft(draft_id)
            if taken is not None:
                await tx.audit(draft_id, "purged", SYSTEM, taken)
                await tx.record(Request(SYSTEM, "PurgeDraft", draft_id, bytes(32)), _of(draft_id))
            return taken is not None

        return await self._world.store.write(tenant_id, work, draft_id)


def _of(draft_id: str) -> Answer:
    """What the audit says of the sweeper's work."""
    return Answer(draft_id, target=f"draft:{draft_id}")
