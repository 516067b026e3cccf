"""StagedWriteService: the ledger."""

from typing import Any

import grpc
from stemma.conversation.v1 import staged_write_service_pb2 as pb
from stemma.conversation.v1 import staged_write_service_pb2_grpc

from stemma_cli.calls.base import Calls, new_request_id


class StagedCalls(Calls):
    """See `client`."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        # The generated stubs carry no types.
        self._staged: Any = staged_write_service_pb2_grpc.StagedWriteServiceStub(channel)  # type: ignore[no-untyped-call]

    def list_staged_writes(self, *, limit: int, state: str = "", **where: str) -> pb.ListStagedWritesResponse:
        """The newest `limit` (at most 1,000); `state` as in `staged`, empty for every one."""
        name = f"STAGED_WRITE_STATE_{state.upper() or 'UNSPECIFIED'}"
        request = pb.ListStagedWritesRequest(page_size=limit, state=name, **where)
        return self._call(self._staged.ListStagedWrites, request, pb.ListStagedWritesResponse)

    def get_staged_write(self, staged_write_id: str) -> pb.GetStagedWriteResponse:
        request = pb.GetStagedWriteRequest(staged_write_id=staged_write_id)
        return self._call(self._staged.GetStagedWrite, request, pb.GetStagedWriteResponse)

    def preview_staged_write(self, staged_write_id: str) -> pb.PreviewStagedWriteResponse:
        request = pb.PreviewStagedWriteRequest(staged_write_id=staged_write_id)
        return self._call(self._staged.PreviewStagedWrite, request, pb.PreviewStagedWriteResponse)

    def accept_staged_write(self, staged_write_id: str, **how: Any) -> pb.AcceptStagedWriteResponse:
        """`how`: the other fields of the request."""
        request = pb.AcceptStagedWriteRequest(
            request_id=new_request_id(), staged_write_id=staged_write_id, **how
        )
        return self._call(self._staged.AcceptStagedWrite, request, pb.AcceptStagedWriteResponse)

    def reject_staged_write(self, staged_write_id: str, reason: str) -> pb.RejectStagedWriteResponse:
        request = pb.RejectStagedWriteRequest(
            request_id=new_request_id(), staged_write_id=staged_write_id, reason=reason
        )
        return self._call(self._staged.RejectStagedWrite, request, pb.RejectStagedWriteResponse)

    def withdraw_staged_write(self, staged_write_id: str, reason: str) -> pb.WithdrawStagedWriteResponse:
        request = pb.WithdrawStagedWriteRequest(
            request_id=new_request_id(), staged_write_id=staged_write_id, reason=reason
        )
        return self._call(self._staged.WithdrawStagedWrite, request, pb.WithdrawStagedWriteResponse)
