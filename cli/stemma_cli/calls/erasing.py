"""AdminService of either service: erasing somebody."""

from typing import Any

import grpc
from stemma.conversation.v1 import admin_service_pb2 as pb
from stemma.conversation.v1 import admin_service_pb2_grpc
from stemma.draft.v1 import admin_service_pb2 as drafts_pb
from stemma.draft.v1 import admin_service_pb2_grpc as drafts_pb_grpc

from stemma_cli.calls.base import Calls, new_request_id

# Seconds: a session at a time, of any number.
_TIMEOUT = 24 * 3_600.0


class ErasingCalls(Calls):
    """See `client`."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        # The generated stubs carry no types.
        self._admin: Any = admin_service_pb2_grpc.AdminServiceStub(channel)  # type: ignore[no-untyped-call]

    def erase_principal(self, principal: str) -> pb.ErasePrincipalResponse:
        request = pb.ErasePrincipalRequest(request_id=new_request_id(), principal=principal)
        return self._call(self._admin.ErasePrincipal, request, pb.ErasePrincipalResponse, timeout=_TIMEOUT)


class DraftErasingCalls(Calls):
    """The same of the draft service."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        self._admin: Any = drafts_pb_grpc.AdminServiceStub(channel)  # type: ignore[no-untyped-call]

    def erase_principal(self, principal: str) -> drafts_pb.ErasePrincipalResponse:
        request = drafts_pb.ErasePrincipalRequest(request_id=new_request_id(), principal=principal)
        answer = drafts_pb.ErasePrincipalResponse
        return self._call(self._admin.ErasePrincipal, request, answer, timeout=_TIMEOUT)
