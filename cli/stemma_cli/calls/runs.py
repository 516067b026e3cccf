"""RunService and ContextService: replies, and what they are made from."""

from collections.abc import Iterator
from typing import Any

import grpc
from stemma.conversation.v1 import (
    context_service_pb2,
    context_service_pb2_grpc,
    run_service_pb2,
    run_service_pb2_grpc,
)
from stemma.kernel.v1 import run_pb2

from stemma_cli.calls.base import Calls, new_request_id
from stemma_cli.errors import api_error

# Seconds that a whole reply may take.
_RUN_TIMEOUT = 3_600.0


class RunCalls(Calls):
    """See `client`."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        # The generated stubs carry no types.
        self._runs: Any = run_service_pb2_grpc.RunServiceStub(channel)  # type: ignore[no-untyped-call]
        self._contexts: Any = context_service_pb2_grpc.ContextServiceStub(channel)  # type: ignore[no-untyped-call]

    def respond(self, request: run_service_pb2.RespondRequest) -> Iterator[run_pb2.RunEvent]:
        """The frames of a run as they come. The same request again joins the same run."""
        try:
            for answer in self._runs.Respond(request, timeout=_RUN_TIMEOUT):
                yield answer.event
        except grpc.RpcError as error:
            raise api_error(error, self.address) from None

    def attach_run(self, run_id: str, after: str) -> Iterator[run_pb2.RunEvent]:
        """The frames of a run after a position, `<epoch>.<seq>`."""
        request = run_service_pb2.AttachRunRequest(run_id=run_id, after=after)
        try:
            for answer in self._runs.AttachRun(request, timeout=_RUN_TIMEOUT):
                yield answer.event
        except grpc.RpcError as error:
            raise api_error(error, self.address) from None

    def get_run(self, run_id: str) -> run_service_pb2.GetRunResponse:
        """A run, with what it waits for."""
        request = run_service_pb2.GetRunRequest(run_id=run_id)
        return self._call(self._runs.GetRun, request, run_service_pb2.GetRunResponse)

    def submit_tool_results(
        self, request: run_service_pb2.SubmitToolResultsRequest
    ) -> run_service_pb2.SubmitToolResultsResponse:
        """Answers calls that a run waits for. The same request again has the same answer."""
        return self._call(self._runs.SubmitToolResults, request, run_service_pb2.SubmitToolResultsResponse)

    def cancel_run(self, run_id: str) -> run_service_pb2.CancelRunResponse:
        """Ends a run and keeps what it has written; returns when that is durable."""
        request = run_service_pb2.CancelRunRequest(
            request_id=new_request_id(), run_id=run_id, keep=run_pb2.KEEP_COMMIT
        )
        return self._call(self._runs.CancelRun, request, run_service_pb2.CancelRunResponse)

    def explain_floor(self, floor_id: str) -> context_service_pb2.ExplainFloorResponse:
        """What the model that wrote a floor was sent."""
        request = context_service_pb2.ExplainFloorRequest(floor_id=floor_id)
        return self._call(self._contexts.ExplainFloor, request, context_service_pb2.ExplainFloorResponse)

    def assemble(self, session_id: str, branch: str) -> context_service_pb2.AssembleContextResponse:
        """The context of a branch as it stands."""
        request = context_service_pb2.AssembleContextRequest(session_id=session_id, branch=branch)
        return self._call(
            self._contexts.AssembleContext, request, context_service_pb2.AssembleContextResponse
        )
