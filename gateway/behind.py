"""Whether the services behind ask who calls, as the gateway says they do.

A service on loopback has its access off unless it is told; behind a gateway that others reach, it would
take any word for a credential. So a gateway with access on asks each once, without a credential, for what
only an operator may see, and serves nothing of one that answers.
"""

from typing import Any

import grpc
import structlog
from google.rpc import code_pb2
from stemma.conversation.v1 import audit_service_pb2
from stemma.draft.v1 import audit_service_pb2 as draft_audit_pb2

from gateway.errors import Refusal, refusal
from gateway.services import Method, method_of
from gateway.upstream import Upstream

# The probe's x-request-id, for whoever reads the service's log.
PROBE = "gateway-asks-whether-access-is-on"
_REFUSED = {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}
_log = structlog.get_logger("gateway")


def _asked(module: Any) -> Method:
    return method_of(module.DESCRIPTOR.services_by_name["AuditService"].methods_by_name["ListAuditEntries"])


_METHODS = {one.package: one for one in map(_asked, (audit_service_pb2, draft_audit_pb2))}


class Behind:
    """Remembers who was seen to refuse, for as long as the process lives."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._refusing: set[str] = set()

    async def check(self, package: str) -> None:
        """Refuses with 503 for one that lets everybody in. Raises AioRpcError when it cannot be asked."""
        if package in self._refusing:
            return
        method = _METHODS[package]
        try:
            await self._upstream.unary(method, method.request(page_size=1), (("x-request-id", PROBE),))
        except grpc.aio.AioRpcError as error:
            if error.code() not in _REFUSED:
                raise
            self._refusing.add(package)
            return
        raise _open(package)


def _open(package: str) -> Refusal:
    _log.error(
        "STEMMA_AUTH is off in the service, and on in the gateway: set it on for both", service=package
    )
    text = "The service behind this gateway asks nobody for a credential: set STEMMA_AUTH=on there, too."
    return refusal(code_pb2.UNAVAILABLE, "UNAVAILABLE", text)
