"""AuditService, of either service."""

from typing import Any

import grpc
from stemma.conversation.v1 import audit_service_pb2 as pb
from stemma.conversation.v1 import audit_service_pb2_grpc
from stemma.draft.v1 import audit_service_pb2 as drafts_pb
from stemma.draft.v1 import audit_service_pb2_grpc as drafts_pb_grpc

from stemma_cli.calls.base import Calls


class AuditCalls(Calls):
    """See `client`."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        # The generated stubs carry no types.
        self._audit: Any = audit_service_pb2_grpc.AuditServiceStub(channel)  # type: ignore[no-untyped-call]

    def list_audit_entries(self, limit: int, **where: str) -> pb.ListAuditEntriesResponse:
        """The newest `limit` (at most 1,000)."""
        request = pb.ListAuditEntriesRequest(page_size=limit, **where)
        return self._call(self._audit.ListAuditEntries, request, pb.ListAuditEntriesResponse)


class DraftAuditCalls(Calls):
    """The same of the draft service."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        self._audit: Any = drafts_pb_grpc.AuditServiceStub(channel)  # type: ignore[no-untyped-call]

    def list_audit_entries(self, limit: int, **where: str) -> drafts_pb.ListAuditEntriesResponse:
        request = drafts_pb.ListAuditEntriesRequest(page_size=limit, **where)
        return self._call(self._audit.ListAuditEntries, request, drafts_pb.ListAuditEntriesResponse)
