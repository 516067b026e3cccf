"""`Respond` as one JSON answer: the stream is read to its end, and the last frame says how it ended."""

from typing import Any

import grpc
from google.rpc import code_pb2
from stemma.conversation.v1 import floor_service_pb2, run_service_pb2
from stemma.kernel.v1 import run_pb2

from gateway.errors import HTTP_STATUS, Refusal, refusal
from gateway.services import method_of
from gateway.upstream import Metadata, Upstream

_SERVICE = run_service_pb2.DESCRIPTOR.services_by_name["RunService"]
_GET_RUN = method_of(_SERVICE.methods_by_name["GetRun"])
_FLOORS = floor_service_pb2.DESCRIPTOR.services_by_name["FloorService"]
_GET_FLOOR = method_of(_FLOORS.methods_by_name["GetFloor"])
RESPOND = method_of(_SERVICE.methods_by_name["Respond"]).path


async def respond_result(
    first: Any, call: Any, upstream: Upstream, metadata: Metadata
) -> run_service_pb2.RespondResult:
    """The run, its floor and the branch, for a run that committed, was cancelled, is held or waits.
    Refuses as the `failed` frame says, with run_id and floor_id in the metadata; with 503 when the
    stream ends without a last frame (the run may go on: a repeat joins it). Raises AioRpcError."""
    response, last = await call.read() if first is None else first, run_pb2.RunEvent()
    while response is not grpc.aio.EOF:
        last = response.event
        response = await call.read()
    kind = last.WhichOneof("event")
    if kind == "failed":
        raise _failed(last)
    if kind not in {"floor_committed", "cancelled", "held", "requires_action"}:
        raise _cut(last)
    found: Any = await upstream.unary(_GET_RUN, run_service_pb2.GetRunRequest(run_id=last.run_id), metadata)
    result = run_service_pb2.RespondResult(run=found.run)
    if kind == "requires_action":
        asked = floor_service_pb2.GetFloorRequest(floor_id=last.floor_id)
        standing: Any = await upstream.unary(_GET_FLOOR, asked, metadata)
        result.floor.CopyFrom(standing.floor)
        return result
    end = getattr(last, kind)
    result.floor.CopyFrom(end.floor)
    if kind != "held" and end.HasField("branch"):
        result.branch.CopyFrom(end.branch)
    return result


def _failed(event: run_pb2.RunEvent) -> Refusal:
    code = event.failed.code if event.failed.code in HTTP_STATUS else code_pb2.UNAVAILABLE
    return refusal(
        code,
        event.failed.reason,
        "The run failed. Its floor is kept with what was written, and can be regenerated.",
        metadata=_names(event),
    )


def _cut(event: run_pb2.RunEvent) -> Refusal:
    return refusal(
        code_pb2.UNAVAILABLE,
        "UNAVAILABLE",
        "The run's stream ended early. Retry with the same request_id.",
        metadata=_names(event),
    )


def _names(event: run_pb2.RunEvent) -> dict[str, str]:
    return {"run_id": event.run_id, "floor_id": event.floor_id}
