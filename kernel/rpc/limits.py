"""What one tenant may take of a process: calls a second, streams at once, and its fair part of the work
when there is almost too much of it. Refused before a request is read, as QUOTA with RetryInfo; OVERLOADED
stays what the server as a whole says."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from kernel.errors import Exhausted, quota_exceeded
from kernel.rpc.admission import RETRY_AFTER_S, Gate
from kernel.rpc.call import SERVICE, TENANT_ROLES, Identity
from kernel.rpc.exchange import Exchange, Proceed, Step

# Below this many known tenants nobody looks for idle ones.
_FEW = 1_024
# Seconds between two lines that say that tenants are refused.
_TELL_EVERY_S = 1.0

_log = structlog.get_logger("kernel.rpc")


@dataclass(frozen=True, slots=True)
class TenantLimits:
    """Of each tenant in this process; None: no limit. `rate` calls a second once `burst` were made at once;
    each message that a client streams counts as a call. `fair`: when three quarters of the calls (or of the
    streams) that the server works on are taken, no tenant may hold more than its part of all of them."""

    rate: float | None = None
    burst: int = 1
    streams: int | None = None
    fair: bool = False

    @property
    def any(self) -> bool:
        return self.fair or self.rate is not None or self.streams is not None


class _Tenant:
    """What a tenant has left, as of `at`, and its calls and streams in work."""

    __slots__ = ("at", "tokens", "working")

    def __init__(self, tokens: float, at: float) -> None:
        self.tokens = tokens
        self.at = at
        self.working = {False: 0, True: 0}


class Tenants:
    """The tenants that call this process. Who has nothing in work and its whole burst left is forgotten, so
    there are never many more than call within a burst's time."""

    def __init__(self, limits: TenantLimits, gate: Gate, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._gate = gate
        self._clock = clock
        self._known: dict[str, _Tenant] = {}
        # How many tenants have something in work, calls and streams apart.
        self._busy = {False: 0, True: 0}
        self._look_at = _FEW
        self._refused, self._tell_at = 0, 0.0

    def __len__(self) -> int:
        return len(self._known)

    @contextmanager
    def admitted(self, tenant_id: str, streams: bool) -> Iterator[None]:
        """Counts a call until the block ends. Raises Exhausted `QUOTA`."""
        tenant = self._tenant(tenant_id)
        error = self._refusal(tenant, streams)
        if error is not None:
            self._tell(tenant_id, error)
            raise error
        tenant.working[streams] += 1
        self._busy[streams] += tenant.working[streams] == 1
        try:
            yield
        finally:
            tenant.working[streams] -= 1
            self._busy[streams] -= tenant.working[streams] == 0

    def wait(self, tenant_id: str) -> float:
        """Takes a token for one more message of a stream. -> seconds until it is the tenant's. Streams of one
        tenant are served in the order of asking."""
        if self._limits.rate is None:
            return 0.0
        tenant = self._tenant(tenant_id)
        tenant.tokens -= 1
        return max(0.0, -tenant.tokens / self._limits.rate)

    def _tenant(self, tenant_id: str) -> _Tenant:
        """With the tokens that it has now."""
        now = self._clock()
        tenant = self._known.get(tenant_id)
        if tenant is None:
            self._forget_idle(now)
            tenant = self._known[tenant_id] = _Tenant(float(self._limits.burst), now)
        elif self._limits.rate is not None:
            tenant.tokens = self._filled(tenant, now)
            tenant.at = now
        return tenant

    def _filled(self, tenant: _Tenant, now: float) -> float:
        rate = self._limits.rate or 0.0
        return min(float(self._limits.burst), tenant.tokens + rate * max(0.0, now - tenant.at))

    def _refusal(self, tenant: _Tenant, streams: bool) -> Exhausted | None:
        """Why not now; else a token is taken."""
        limits = self._limits
        if streams and limits.streams is not None and tenant.working[True] >= limits.streams:
            text = f"The tenant has {limits.streams} streams open here, its limit. Close one, or retry later."
            return quota_exceeded("streams", text, RETRY_AFTER_S)
        if limits.fair and self._gate.nearly_full(streams):
            # One part more than there are tenants is for whoever comes next.
            share = max(1, self._gate.most(streams) // (1 + self._busy[streams]))
            if tenant.working[streams] >= share:
                text = "The server is busy, and the tenant has its part of it. Retry a little later."
                return quota_exceeded("fair_share", text, RETRY_AFTER_S)
        if limits.rate is None:
            return None
        if tenant.tokens < 1:
            text = f"The tenant makes more than {limits.rate:g} calls a second here. Retry later, and slower."
            # Whole milliseconds are what a client is told; rounded down, it would come too early.
            return quota_exceeded("rate", text, math.ceil(1_000 * (1 - tenant.tokens) / limits.rate) / 1_000)
        tenant.tokens -= 1
        return None

    def _forget_idle(self, now: float) -> None:
        """Looks at all of them only when they have become twice as many since the last time."""
        if len(self._known) < self._look_at:
            return
        self._known = {name: tenant for name, tenant in self._known.items() if not self._idle(tenant, now)}
        self._look_at = max(_FEW, 2 * len(self._known))

    def _idle(self, tenant: _Tenant, now: float) -> bool:
        if any(tenant.working.values()):
            return False
        return self._limits.rate is None or self._filled(tenant, now) >= self._limits.burst

    def _tell(self, tenant_id: str, error: Exhausted) -> None:
        """Once a second: a line for each would cost more than the refusal."""
        self._refused += 1
        now = self._clock()
        if now >= self._tell_at:
            limit = error.metadata["limit"]
            _log.warning("tenant over its limit", tenant=tenant_id, limit=limit, refused=self._refused)
            self._refused, self._tell_at = 0, now + _TELL_EVERY_S


def is_service(identity: Identity) -> bool:
    """Whether it is a service that calls for others' tenants: they were counted where they called."""
    return SERVICE in identity.roles and not identity.roles & TENANT_ROLES


def tenant_limits(tenants: Tenants, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> Step:
    """Refuses what is too much for the caller's tenant, and slows down what its clients stream."""

    async def step(exchange: Exchange, proceed: Proceed) -> bytes:
        identity = exchange.identity
        if is_service(identity):
            return await proceed(exchange)

        async def pace() -> None:
            seconds = tenants.wait(identity.tenant_id)
            if seconds:
                await sleep(seconds)

        with tenants.admitted(identity.tenant_id, exchange.method.streams):
            exchange.pace = pace if exchange.method.client_streams else None
            return await proceed(exchange)

    return step
