"""Denied writes go into the audit before they are answered.

One step around identity and everything inside it. What counts as a denial: what the policy refuses, NOT_FOUND
(which may hide a thing) as well as PERMISSION_DENIED, of a call or of one message of a client's stream; what
is PERMISSION_DENIED for other reasons; and UNAUTHENTICATED where it is known whose the credential was.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Protocol

from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message

from kernel.errors import Forbidden, Hidden, StemmaError, Unauthenticated
from kernel.rpc.checks import is_uuid
from kernel.rpc.exchange import Exchange, Proceed, Step
from kernel.rpc.kinds import is_write
from kernel.rpc.status import code_of
from kernel.verbs.audit import Act

# What a request names, the smallest first.
_TARGETS = (
    "page_id",
    "floor_id",
    "run_id",
    "staged_write_id",
    "draft_id",
    "api_key_id",
    "session_id",
    "project_id",
)


class Denials(Protocol):
    def now(self) -> datetime: ...

    async def keep(self, tenant_id: str, act: Act) -> None:
        """Returns when the denial is durable. Raises Unavailable: then that is what the caller is told."""


def writes_of(services: Iterable[ServiceDescriptor]) -> frozenset[str]:
    """The services' writes, as `/package.Service/Method`."""
    return frozenset(
        f"/{service.full_name}/{rpc.name}"
        for service in services
        for rpc in service.methods
        if is_write(rpc.name, rpc.input_type)
    )


def keeping(log: Denials, writes: Collection[str]) -> Step:
    """Keeps denials of the methods in `writes` (`/package.Service/Method`)."""

    async def step(exchange: Exchange, proceed: Proceed) -> bytes:
        if exchange.method.name not in writes:
            return await proceed(exchange)
        kept: list[StemmaError] = []

        async def denied(error: StemmaError, request: Message | None) -> None:
            kept.append(error)
            await _keep(log, exchange, error, request)

        exchange.denied = denied
        try:
            return await proceed(exchange)
        except (Unauthenticated, Forbidden, Hidden) as error:
            # Raised through here once more, it is the same denial.
            if error not in kept:
                await denied(error, exchange.request)
            raise

    return step


async def _keep(log: Denials, exchange: Exchange, error: StemmaError, request: Message | None) -> None:
    """Keeps one denial, if it is known whose tenant it belongs to."""
    tenant_id, principal = exchange.identity.tenant_id, exchange.identity.principal
    if isinstance(error, Unauthenticated | Forbidden) and error.tenant_id:
        tenant_id, principal = error.tenant_id, error.principal
    if not tenant_id:
        return
    ids = _ids(request) if request is not None else {}
    kind = next((name for name in _TARGETS if name in ids), "")
    act = Act(
        log.now(),
        principal,
        exchange.method.name.rpartition("/")[2],
        target_kind=kind.removesuffix("_id"),
        target_id=ids.get(kind, ""),
        session_id=ids.get("session_id", ""),
        project_id=ids.get("project_id", ""),
        request_id=ids.get("request_id", ""),
        outcome=code_of(error).name,
        reason=error.reason,
    )
    await log.keep(tenant_id, act)


def _ids(request: Message) -> dict[str, str]:
    """The ids that a request names, itself or in a message of it. What else stands in their place is
    somebody's words."""
    parts = [value for _, value in request.ListFields() if isinstance(value, Message)]
    found: dict[str, str] = {}
    for message in (request, *parts):
        for name in (*_TARGETS, "request_id"):
            value = getattr(message, name, "")
            if isinstance(value, str) and is_uuid(value):
                found.setdefault(name, value.lower())
    return found
