"""What a tenant may keep, and let models take, in one service. Enforced by what is known: this lags.

The rows are the truth. Bytes are summed from them in the background, each tenant's anew when it is due, and
what this process was sent since is added. Tokens are counted by the transaction that ends a run. So a tenant
may get past its quota by what other processes took in the seconds since, and by what is already running.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

import structlog

from kernel.errors import Exhausted, StemmaError, quota_exceeded
from kernel.steady import steadily

# Seconds between two looks, and between two sums of a tenant: at the least, and in sums' own lengths.
LOOK_EVERY = 2.0
_SUM_EVERY, _SUM_PART = 10.0, 20.0
# Seconds after which a tenant that does not call is forgotten.
_FORGET = 600.0
# Days for which what models took is kept.
_DAYS_KEPT = 7

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class QuotaLimits:
    """None: no quota."""

    stored_bytes: int | None = None
    tokens_per_day: int | None = None

    @property
    def any(self) -> bool:
        return self.stored_bytes is not None or self.tokens_per_day is not None


@dataclass(frozen=True, slots=True)
class Used:
    """`stored_bytes` as of `sum_time`, None for never; tokens of the day that was asked for."""

    stored_bytes: int
    sum_time: datetime | None
    tokens: int


class UsageRows(Protocol):
    """What the database knows of a tenant's use of this service."""

    async def used(self, tenant_id: str, day: int) -> Used:
        """`day` by its ordinal, in UTC."""

    async def sum_bytes(self, tenant_id: str, now: datetime, before: datetime) -> bool:
        """Sums what the tenant has stored, unless somebody has begun to since `before`. -> whether it did"""

    async def forget_days(self, tenant_id: str, before: int) -> None:
        """Removes the tokens of earlier days."""

    async def answered(self, tenant_id: str, principal: str, method: str, request_id: str) -> bool:
        """Whether a write was made under that id."""


@dataclass(slots=True)
class _Tenant:
    """`sent`: bytes since the last look, `added`: those before it that are in no sum yet."""

    used: Used
    day: int
    seen: float
    sent: int = 0
    added: int = 0
    next_sum: float = 0.0
    # The day on which earlier ones were removed.
    cleaned: int = 0


class Quotas:
    """The quotas of all tenants as this process knows them."""

    def __init__(
        self,
        limits: QuotaLimits,
        rows: UsageRows,
        clock: Callable[[], datetime],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits
        self._rows = rows
        self._clock = clock
        self._now = now
        self._tenants: dict[str, _Tenant] = {}

    async def excess(self, tenant_id: str, *, generates: bool) -> Exhausted | None:
        """Why a write that stores something is refused, and one that lets a model write; None: it is not."""
        tenant = self._tenants.get(tenant_id)
        if tenant is None:
            used = await self._rows.used(tenant_id, self._today())
            tenant = self._tenants.setdefault(tenant_id, _Tenant(used, self._today(), self._now()))
        tenant.seen = self._now()
        return self._bytes_excess(tenant) or (self._tokens_excess(tenant) if generates else None)

    def excess_meanwhile(self, tenant_id: str) -> Exhausted | None:
        """The same for one more item of a stream that was let in: without a look."""
        tenant = self._tenants.get(tenant_id)
        return self._bytes_excess(tenant) if tenant is not None else None

    async def known(self, tenant_id: str, principal: str, method: str, request_id: str) -> bool:
        """Whether it is the repeat of a write that was answered (R1)."""
        return await self._rows.answered(tenant_id, principal, method, request_id)

    def sent(self, tenant_id: str, size: int) -> None:
        """A write of that many bytes was accepted."""
        tenant = self._tenants.get(tenant_id)
        if tenant is not None:
            tenant.sent += size

    async def look(self, *, sum_now: bool = False) -> None:
        """Brings what is known of every tenant up to date; `sum_now`: bytes too, whether due or not."""
        for tenant_id, tenant in list(self._tenants.items()):
            if self._now() - tenant.seen > _FORGET:
                del self._tenants[tenant_id]
                continue
            try:
                await self._look(tenant_id, tenant, sum_now)
            except StemmaError as error:
                _log.warning("usage not read; it is tried again", tenant=tenant_id, reason=error.reason)

    async def _look(self, tenant_id: str, tenant: _Tenant, sum_now: bool) -> None:
        if self.limits.stored_bytes is not None and (sum_now or self._now() >= tenant.next_sum):
            await self._sum(tenant_id, tenant, sum_now)
        today = self._today()
        if today != tenant.cleaned:
            await self._rows.forget_days(tenant_id, today - _DAYS_KEPT)
            tenant.cleaned = today
        sent = tenant.sent
        used = await self._rows.used(tenant_id, today)
        # A sum since the last look has what was sent before that, wherever it was made.
        newly_summed = used.sum_time != tenant.used.sum_time
        tenant.added = sent if newly_summed else tenant.added + sent
        tenant.sent -= sent
        tenant.used, tenant.day = used, today

    async def _sum(self, tenant_id: str, tenant: _Tenant, sum_now: bool) -> None:
        begun, now = self._now(), self._clock()
        before = now if sum_now else now - timedelta(seconds=_SUM_EVERY)
        await self._rows.sum_bytes(tenant_id, now, before)
        took = self._now() - begun
        tenant.next_sum = self._now() + max(_SUM_EVERY, _SUM_PART * took)

    def _bytes_excess(self, tenant: _Tenant) -> Exhausted | None:
        most = self.limits.stored_bytes
        if most is None or tenant.used.stored_bytes + tenant.added + tenant.sent < most:
            return None
        text = (
            f"The tenant stores {most:,} bytes, all that it may: delete sessions, or ask the operator. Reads,"
            " deletions and moves of heads go on."
        )
        return quota_exceeded("stored_bytes", text, None)

    def _tokens_excess(self, tenant: _Tenant) -> Exhausted | None:
        most = self.limits.tokens_per_day
        if most is None or tenant.day != self._today() or tenant.used.tokens < most:
            return None
        text = (
            f"Models have taken the tenant's {most:,} tokens of today. The next day begins at midnight UTC."
        )
        return quota_exceeded("tokens_per_day", text, self._until_midnight())

    def _today(self) -> int:
        return self._clock().astimezone(UTC).date().toordinal()

    def _until_midnight(self) -> float:
        now = self._clock().astimezone(UTC)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return (midnight - now).total_seconds()


@asynccontextmanager
async def keeping(quotas: Quotas) -> AsyncIterator[None]:
    """Looks again and again until the block ends."""

    async def looks() -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            await quotas.look()

    looking = asyncio.create_task(steadily(looks))
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
