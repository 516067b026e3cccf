"""Puts what was done into the audit's chain.

A write leaves a row in its own transaction, its request (R1), and a denial leaves a notice before it is
answered. Here they become entries, some time later and in one place: so the write pays for no chain and
waits for nobody's lock. Each becomes exactly one: it is marked in the transaction that adds its entry, under
the lock of the chain's head, so a crash or a second replica finds either both or none.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import structlog

from kernel.errors import StemmaError
from kernel.steady import steadily
from kernel.verbs.audit import chained, people, renamed
from kernel.verbs.audit_store import AuditWrites
from kernel.verbs.store import Store, WriteTx

# Acts in one transaction: some ten milliseconds, for which SQLite has no other writer. Seconds between two
# looks.
_BATCH, _PAUSE = 200, 1.0

log = structlog.get_logger(__name__)

Tenants = Callable[[], Awaitable[list[str]]]
"""Tenants with acts that have no entry and are due."""


async def seal(
    tx: AuditWrites, tenant_id: str, limit: int, *, words_of: str = "", everything: bool = False
) -> int:
    """Seals the oldest acts, as `WriteTx.unsealed` chooses them. -> how many"""
    head = await tx.lock_audit_head()
    found = await tx.unsealed(limit, words_of=words_of, everything=everything)
    if not found:
        return 0
    names = await tx.aliases(frozenset(name for one in found for name in people(one.act)))
    await tx.seal(chained(tenant_id, head, [renamed(one.act, names) for one in found]), found)
    return len(found)


async def seal_all(tx: AuditWrites, tenant_id: str, *, words_of: str = "") -> None:
    """Seals everything of a tenant, or of a session's words, in this transaction: before it is erased."""
    while await seal(tx, tenant_id, _BATCH, words_of=words_of, everything=True) == _BATCH:
        pass


class Sealer:
    """Any number of replicas may have one: who comes second waits, and finds what is left."""

    def __init__(self, store: Store, tenants: Tenants) -> None:
        self._store = store
        self._tenants = tenants

    async def run(self) -> None:
        """For ever. A database that is away is tried again."""
        while True:
            await self.look()
            await asyncio.sleep(_PAUSE)

    async def look(self) -> None:
        """Seals what is due, of every tenant. A database that is away is logged: nothing is lost."""
        try:
            for tenant_id in await self._tenants():
                await self._sealed(tenant_id, everything=False)
        except StemmaError as error:
            log.warning("the audit is behind; it is tried again", reason=error.reason)

    async def flush(self, tenant_id: str) -> None:
        """Returns when each act that was durable before has its entry. Raises Unavailable."""
        # Where there is nothing to be sealed, this is no write: it can be done on a database that takes none.
        async with self._store.reading(tenant_id) as tx:
            waiting = await tx.anything_unsealed()
        if waiting:
            await self._sealed(tenant_id, everything=True)

    async def _sealed(self, tenant_id: str, *, everything: bool) -> None:
        async def work(tx: WriteTx) -> int:
            return await seal(tx, tenant_id, _BATCH, everything=everything)

        while await self._store.write(tenant_id, work) == _BATCH:
            pass


@asynccontextmanager
async def sealing(store: Store, tenants: Tenants) -> AsyncIterator[Sealer]:
    """At work until the block ends; then what is there is sealed once more."""
    sealer = Sealer(store, tenants)
    task = asyncio.create_task(steadily(sealer.run))
    try:
        yield sealer
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await sealer.look()
