"""Whose an API key is, asked of the database once in a while and remembered in between."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import structlog

from conversation_service.app.key_store import KeyIndex
from conversation_service.domain.keys import ApiKey, digest, looks_like_one
from kernel.errors import Unauthenticated
from kernel.rpc.call import Identity
from kernel.rpc.credentials import unauthenticated

_log = structlog.get_logger("conversation_service")
# Seconds that an answer is remembered: how long a key that was revoked through another replica still works.
KEPT = 5.0
# Answers that are remembered; the ones that were used least recently leave.
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Known:
    found: tuple[str, ApiKey] | None
    until: float


class KeyVerifier:
    """A `kernel.rpc.credentials.Verifier`. `clock` tells the time of the day, `monotonic` its passing."""

    def __init__(
        self,
        keys: KeyIndex,
        clock: Callable[[], datetime],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._monotonic = monotonic
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._asking: dict[bytes, asyncio.Task[_Known]] = {}

    async def verify(self, token: str) -> Identity | None:
        if not looks_like_one(token):
            return None
        kept = digest(token)
        known = self._known.get(kept)
        if known is None or known.until <= self._monotonic():
            known = await self._ask(kept)
        elif known.until - self._monotonic() <= KEPT / 2 and kept not in self._asking:
            # Who calls often never waits for the database.
            self._question(kept)
        if known.found is None:
            raise unauthenticated()
        tenant_id, key = known.found
        if not key.valid(self._clock()):
            raise _no_longer(tenant_id, key)
        roles = key.scopes | {key.role} if key.role else key.scopes
        return Identity(tenant_id, key.principal, roles, f"key:{key.key_id}")

    def forget(self, key_id: str) -> None:
        """The key was changed by this process: the next call asks again."""
        stale = [
            kept for kept, known in self._known.items() if known.found and known.found[1].key_id == key_id
        ]
        for kept in stale:
            del self._known[kept]

    def forget_principal(self, tenant_id: str, principal: str) -> None:
        """All keys of a principal, as `forget`."""
        whose = (tenant_id, principal)
        stale = [
            kept
            for kept, known in self._known.items()
            if known.found and (known.found[0], known.found[1].principal) == whose
        ]
        for kept in stale:
            del self._known[kept]

    async def _ask(self, kept: bytes) -> _Known:
        """One question for all calls that wait for a key; one of them that leaves stops it for none."""
        return await asyncio.shield(self._asking.get(kept) or self._question(kept))

    def _question(self, kept: bytes) -> asyncio.Task[_Known]:
        task = self._asking[kept] = asyncio.create_task(self._asked(kept))
        task.add_done_callback(lambda ended: self._ended(kept, ended))
        return task

    def _ended(self, kept: bytes, task: asyncio.Task[_Known]) -> None:
        if self._asking.get(kept) is task:
            del self._asking[kept]
        if not task.cancelled() and task.exception() is not None:
            _log.warning("a key could not be looked up", why=type(task.exception()).__name__)

    async def _asked(self, kept: bytes) -> _Known:
        asked_at = self._monotonic()
        known = _Known(await self._keys.find(kept), asked_at + KEPT)
        if self._asking.get(kept) is asyncio.current_task():
            self._known[kept] = known
            self._known.move_to_end(kept)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return known


def _no_longer(tenant_id: str, key: ApiKey) -> Unauthenticated:
    """The same answer as for a key that never was; the audit is told whose it was."""
    error = unauthenticated()
    error.tenant_id, error.principal = tenant_id, key.principal
    return error
