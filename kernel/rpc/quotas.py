"""Refuses what would store, or have written, more than the caller's tenant may; see `kernel.verbs.quotas`."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kernel.errors import Exhausted
from kernel.rpc.admission import Gate
from kernel.rpc.exchange import Exchange, Method, Proceed, Step
from kernel.rpc.kinds import is_write
from kernel.rpc.limits import TenantLimits, Tenants, tenant_limits
from kernel.verbs.quotas import Quotas

Pace = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Charged:
    """Of one service, by the names of its RPCs: the writes that every quota lets through, since they make
    room, move a head or end what was begun; and those that have a model write."""

    free: frozenset[str]
    generating: frozenset[str]

    def stores(self, method: Method) -> bool:
        """Whether it is any other write."""
        name = short_name(method)
        request: Any = method.request_class.DESCRIPTOR
        return is_write(name, request) and name not in self.free


def short_name(method: Method) -> str:
    return method.name.rpartition("/")[2]


def tenant_quotas(quotas: Quotas, charged: Charged) -> Step:
    """Asks before the request is read. A repeat of a write that was answered is answered again (R1). What a
    service stores, it stores for the tenant that it names."""
    stores: dict[str, bool] = {}

    async def step(exchange: Exchange, proceed: Proceed) -> bytes:
        method, tenant_id = exchange.method, exchange.identity.tenant_id
        if method.name not in stores:
            stores[method.name] = charged.stores(method)
        if not stores[method.name]:
            return await proceed(exchange)
        generates = short_name(method) in charged.generating
        excess = await quotas.excess(tenant_id, generates=generates)
        if excess is not None and (method.client_streams or not await _repeated(quotas, exchange)):
            raise excess
        if method.client_streams:
            exchange.pace = _each_item(quotas, exchange)
        answer = await proceed(exchange)
        quotas.sent(tenant_id, exchange.received)
        return answer

    return step


async def _repeated(quotas: Quotas, exchange: Exchange) -> bool:
    request = await exchange.read()
    request_id: str = getattr(request, "request_id", "")
    who = exchange.identity
    return await quotas.known(who.tenant_id, who.principal, exchange.method.name, request_id)


def _each_item(quotas: Quotas, exchange: Exchange) -> Pace:
    """One stream may not go on for ever: what it brought so far counts at once, and what is too much ends it,
    once the items before are answered."""
    tenant_id, slowed = exchange.identity.tenant_id, exchange.pace

    async def pace() -> None:
        if slowed is not None:
            await slowed()
        quotas.sent(tenant_id, exchange.received)
        exchange.received = 0
        excess: Exhausted | None = quotas.excess_meanwhile(tenant_id)
        if excess is not None:
            raise excess

    return pace


_UNLIMITED, _NOTHING = TenantLimits(), Charged(frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server holds each tenant to; by default to nothing."""

    tenants: TenantLimits = _UNLIMITED
    quotas: Quotas | None = None
    charged: Charged = _NOTHING

    def steps(self, gate: Gate) -> Sequence[Step]:
        """None at all where there is nothing to hold anybody to."""
        steps = []
        if self.tenants.any:
            steps.append(tenant_limits(Tenants(self.tenants, gate)))
        if self.quotas is not None:
            steps.append(tenant_quotas(self.quotas, self.charged))
        return steps
