"""What a service holds each of its tenants to, put together from its settings."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from kernel.rpc.limits import TenantLimits
from kernel.rpc.quotas import Charged, Limits
from kernel.service_settings import ServiceSettings
from kernel.storage.store import SqlStore
from kernel.storage.usage import SqlUsage
from kernel.verbs.quotas import QuotaLimits, Quotas, keeping

# With access on, where the operator says nothing. More calls than one process answers: what keeps tenants
# apart then is the fair part.
RATE, STREAMS = 2_000, 500


@asynccontextmanager
async def limiting(
    settings: ServiceSettings,
    store: SqlStore,
    usage: SqlUsage,
    charged: Charged,
    clock: Callable[[], datetime],
    *,
    access: bool,
) -> AsyncIterator[Limits]:
    """At work until the block ends. `access`: whether callers are told apart; else there is one tenant, and
    it is held to what the operator has set, by default to nothing."""
    most = QuotaLimits(settings.tenant_stored_bytes or None, settings.tenant_tokens_per_day or None)
    tenants = tenant_limits_of(settings, access)
    if not most.any:
        yield Limits(tenants)
        return
    store.metered = most.tokens_per_day is not None
    quotas = Quotas(most, usage, clock)
    async with keeping(quotas):
        yield Limits(tenants, quotas, charged)


def tenant_limits_of(settings: ServiceSettings, access: bool) -> TenantLimits:
    """0 is no limit, and no setting the default."""
    rate = settings.tenant_rate if settings.tenant_rate is not None else access * RATE
    streams = settings.tenant_streams if settings.tenant_streams is not None else access * STREAMS
    burst = settings.tenant_burst or 2 * rate
    return TenantLimits(rate=rate or None, burst=max(1, burst), streams=streams or None, fair=access)
