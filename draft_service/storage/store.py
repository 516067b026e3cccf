"""The store: the kernel's, over transactions that know drafts."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar, cast

from draft_service.app.store import ReadTx, WriteTx
from draft_service.storage.drafts import DraftReads
from draft_service.storage.persons import DraftPersonWrites
from kernel.storage.store import SqlStore

T = TypeVar("T")


class DraftStore(SqlStore):
    """`draft_service.app.store.Store` on either engine."""

    reads = DraftReads
    writes = DraftPersonWrites

    @asynccontextmanager
    async def reading(self, tenant_id: str) -> AsyncIterator[ReadTx]:
        async with super().reading(tenant_id) as tx:
            yield cast(ReadTx, tx)

    async def write(self, tenant_id: str, work: Callable[[WriteTx], Awaitable[T]], session_id: str = "") -> T:
        return await super().write(tenant_id, cast(Callable[..., Awaitable[T]], work), session_id)
