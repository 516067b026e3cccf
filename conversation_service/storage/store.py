"""The store: the kernel's, over transactions that know API keys."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar, cast

from conversation_service.app.key_store import ReadTx, WriteTx
from conversation_service.storage.keys import KeyReads, KeyWrites
from kernel.storage.store import SqlStore

T = TypeVar("T")


class ConversationStore(SqlStore):
    """`conversation_service.app.key_store.KeyStore`, and the kernel's store, on either engine."""

    reads = KeyReads
    writes = KeyWrites

    @asynccontextmanager
    async def reading(self, tenant_id: str) -> AsyncIterator[ReadTx]:
        async with super().reading(tenant_id) as tx:
            yield cast(ReadTx, tx)

    async def write(self, tenant_id: str, work: Callable[[WriteTx], Awaitable[T]], session_id: str = "") -> T:
        return await super().write(tenant_id, cast(Callable[..., Awaitable[T]], work), session_id)
