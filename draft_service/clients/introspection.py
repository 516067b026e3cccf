"""Whose a credential is, and what somebody is in a project: the conversation service knows, and is asked.

A yes is kept for a minute, and for a quarter of an hour while that service is away; a no for a second, so
that a storm of bad calls asks once.
"""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from stemma.conversation.v1 import access_service_pb2 as pb
from stemma.conversation.v1 import project_service_pb2

from kernel.errors import StemmaError, Unavailable
from kernel.rpc.call import Identity
from kernel.rpc.credentials import unauthenticated
from kernel.rpc.remote import nobodys
from kernel.telemetry.tracing import traces

# Seconds.
KEPT, KEPT_WHILE_AWAY, NO_KEPT, ASKING = 60.0, 900.0, 1.0, 5.0
_MOST = 10_000
_SERVICE = pb.DESCRIPTOR.services_by_name["AccessService"]
_ROLES = {
    project_service_pb2.MEMBER_ROLE_OBSERVER: "observer",
    project_service_pb2.MEMBER_ROLE_CONTRIBUTOR: "contributor",
    project_service_pb2.MEMBER_ROLE_OWNER: "owner",
}


@dataclass(frozen=True, slots=True)
class _Kept:
    answer: pb.IntrospectResponse | StemmaError
    at: float


class Introspection:
    """Over a channel to the conversation service. `metadata` is the service's own credential."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        metadata: Sequence[tuple[str, str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._metadata = metadata
        self._clock = clock
        self._kept: OrderedDict[Any, _Kept] = OrderedDict()
        self._asking: dict[Any, asyncio.Task[_Kept]] = {}
        self._call: Callable[..., Awaitable[pb.IntrospectResponse]] = channel.unary_unary(
            f"/{_SERVICE.full_name}/Introspect",
            request_serializer=pb.IntrospectRequest.SerializeToString,
            response_deserializer=pb.IntrospectResponse.FromString,
        )

    async def verify(self, token: str) -> Identity | None:
        """A `kernel.rpc.credentials.Verifier`: last in its list, as it answers for every kind."""
        request = pb.IntrospectRequest(authorization=f"Bearer {token}")
        # Not the token itself: what is kept in memory opens nothing.
        found = await self._answer(hashlib.sha256(token.encode()).digest(), request)
        roles = {*found.scopes}
        if found.role:
            roles.add(_ROLES[found.role])
        return Identity(found.tenant_id, found.principal, frozenset(roles), found.credential)

    async def role(self, tenant_id: str, principal: str, kind: str, target_id: str) -> str:
        """`draft_service.rpc.permits.Roles`."""
        request = pb.IntrospectRequest(tenant=tenant_id, principal=principal)
        setattr(request, f"{kind}_id", target_id)
        found = await self._answer((tenant_id, principal, kind, target_id), request)
        return _ROLES.get(found.project_role, "")

    async def projects_of(self, tenant_id: str, principal: str) -> list[str]:
        """Where a principal is a member: at most 1,000 projects. Raises as `role`."""
        request = pb.IntrospectRequest(tenant=tenant_id, principal=principal, memberships=True)
        found = await self._answer((tenant_id, principal, "projects", ""), request)
        return list(found.project_ids)

    async def _answer(self, key: Any, request: pb.IntrospectRequest) -> pb.IntrospectResponse:
        kept = self._kept.get(key)
        if kept is None or not self._fresh(kept):
            kept = await self._ask(key, request)
        if isinstance(kept.answer, StemmaError):
            raise kept.answer
        return kept.answer

    def _fresh(self, kept: _Kept) -> bool:
        seconds = NO_KEPT if isinstance(kept.answer, StemmaError) else KEPT
        return self._clock() - kept.at < seconds

    async def _ask(self, key: Any, request: pb.IntrospectRequest) -> _Kept:
        """One question for all who wait for the same answer."""
        task = self._asking.get(key)
        if task is None:
            task = self._asking[key] = asyncio.create_task(self._asked(key, request))
            task.add_done_callback(lambda _: self._asking.pop(key, None))
        return await asyncio.shield(task)

    async def _asked(self, key: Any, request: pb.IntrospectRequest) -> _Kept:
        before = self._kept.get(key)
        try:
            metadata = (*self._metadata, *traces.headers())
            answer = await self._call(request, timeout=ASKING, metadata=metadata)
        except grpc.aio.AioRpcError as refusal:
            if nobodys(refusal):
                return self._keep(key, unauthenticated())
            if before is not None and self._lasts(before):
                return before
            text = "Who may do this is known to the conversation service, which is away. Retry."
            raise Unavailable("UNAVAILABLE", text) from None
        return self._keep(key, answer)

    def _lasts(self, kept: _Kept) -> bool:
        yes = not isinstance(kept.answer, StemmaError)
        return yes and self._clock() - kept.at < KEPT_WHILE_AWAY

    def _keep(self, key: Any, answer: pb.IntrospectResponse | StemmaError) -> _Kept:
        kept = self._kept[key] = _Kept(answer, self._clock())
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return kept
