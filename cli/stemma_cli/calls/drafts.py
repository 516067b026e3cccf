"""DraftService: drafts, what is said in them, and the way out."""

from collections.abc import Iterator
from typing import Any

import grpc
from stemma.draft.v1 import draft_service_pb2 as pb
from stemma.draft.v1 import draft_service_pb2_grpc
from stemma.kernel.v1 import run_pb2

from stemma_cli.calls.base import Calls, new_request_id
from stemma_cli.errors import api_error

# Seconds that a whole reply may take.
_RUN_TIMEOUT = 3_600.0


class DraftCalls(Calls):
    """See `client`. Requests are given whole but for their request_id."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        # The generated stubs carry no types.
        self._drafts: Any = draft_service_pb2_grpc.DraftServiceStub(channel)  # type: ignore[no-untyped-call]

    def create(self, request: pb.CreateDraftRequest) -> pb.CreateDraftResponse:
        request.request_id = new_request_id()
        return self._call(self._drafts.CreateDraft, request, pb.CreateDraftResponse)

    def get(self, draft_id: str) -> pb.GetDraftResponse:
        return self._call(self._drafts.GetDraft, pb.GetDraftRequest(draft_id=draft_id), pb.GetDraftResponse)

    def list(self, request: pb.ListDraftsRequest) -> pb.ListDraftsResponse:
        return self._call(self._drafts.ListDrafts, request, pb.ListDraftsResponse)

    def respond(self, request: pb.RespondRequest) -> Iterator[run_pb2.RunEvent]:
        """The frames of a run as they come."""
        request.request_id = new_request_id()
        try:
            for answer in self._drafts.Respond(request, timeout=_RUN_TIMEOUT):
                yield answer.event
        except grpc.RpcError as error:
            raise api_error(error, self.address) from None

    def transcript(self, draft_id: str, frozen: bool) -> Iterator[pb.GetTranscriptResponse]:
        """Page by page."""
        request = pb.GetTranscriptRequest(draft_id=draft_id, include_snapshot=frozen)
        yield from self._pages(self._drafts.GetTranscript, request)

    def commit(self, draft_id: str, floor_id: str, page_id: str) -> pb.CommitFloorResponse:
        request = pb.CommitFloorRequest(
            request_id=new_request_id(), draft_id=draft_id, floor_id=floor_id, page_id=page_id
        )
        return self._call(self._drafts.CommitFloor, request, pb.CommitFloorResponse)

    def proposals(self, draft_id: str) -> Iterator[pb.ListProposalsResponse]:
        """Page by page."""
        yield from self._pages(self._drafts.ListProposals, pb.ListProposalsRequest(draft_id=draft_id))

    def end(self, how: str, draft_id: str, reason: str) -> Any:
        """`how` is Finalize, Discard or Cancel."""
        request = getattr(pb, f"{how}DraftRequest")(
            request_id=new_request_id(), draft_id=draft_id, reason=reason
        )
        return self._call(getattr(self._drafts, f"{how}Draft"), request, getattr(pb, f"{how}DraftResponse"))

    def export(self, request: pb.ExportDraftRequest) -> pb.ExportDraftResponse:
        request.request_id = new_request_id()
        return self._call(self._drafts.ExportDraft, request, pb.ExportDraftResponse)
