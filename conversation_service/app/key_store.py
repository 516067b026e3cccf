"""The contract of the store for API keys, beside the kernel's."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol, TypeVar

from conversation_service.domain.keys import ApiKey
from kernel.verbs import store as kernel

T = TypeVar("T")


class KeyReads(Protocol):
    async def key(self, key_id: str) -> tuple[ApiKey, bytes] | None:
        """A key of the tenant, with its digest."""

    async def keys(self, after: tuple[datetime, str] | None, limit: int) -> list[ApiKey]:
        """Of the tenant, revoked and expired ones too, newest first, from below the (time, id) of the last
        one seen."""


class KeyWrites(KeyReads, Protocol):
    async def insert_key(self, key: ApiKey, digest: bytes) -> None: ...

    async def revoke_key(self, key_id: str, now: datetime) -> None:
        """Once: a key that is revoked stays so, with its first time."""


class ReadTx(kernel.ReadTx, KeyReads, Protocol): ...


class WriteTx(kernel.WriteTx, KeyWrites, Protocol): ...


class KeyStore(Protocol):
    def reading(self, tenant_id: str) -> AbstractAsyncContextManager[ReadTx]: ...

    async def write(
        self, tenant_id: str, work: Callable[[WriteTx], Awaitable[T]], session_id: str = ""
    ) -> T: ...


class KeyIndex(Protocol):
    async def find(self, digest: bytes) -> tuple[str, ApiKey] | None:
        """Tenant and key of a digest, whoever asks: it is how a call's tenant is found."""
