"""`Respond` as one JSON answer: the stream is read to its end, and the last frame says how it ended."""

from typing import Any

import grpc
from google.protobuf.message import Message
from google.rpc import code_pb2
from stemma.conversation.v1 import floor_service_pb2, run_service_pb2
from stemma.draft.v1 import draft_service_pb2
from stemma.kernel.v1 import run_pb2

from gateway.errors import HTTP_STATUS, Refusal, refusal
from gateway.services import method_of
from gateway.upstream import Metadata, Upstream

_RUNS = run_service_pb2.DESCRIPTOR.services_by_name["RunService"].methods_by_name
_DRAFTS = draft_service_pb2.DESCRIPTOR.services_by_name["DraftService"].methods_by_name
_GET_RUN, _GET_DRAFT_RUN = method_of(_RUNS["GetRun"]), method_of(_DRAFTS["GetRun"])
RESPOND, RESPOND_IN_DRAFT = method_of(_RUNS["Respond"]).path, method_of(_DRAFTS["Respond"]).path
_FLOORS = floor_service_pb2.DESCRIPTOR.services_by_name["FloorService"].methods_by_name
_GET_FLOOR = method_of(_FLOORS["GetFloor"])


async def respond_result(
    request: Message, first: Any, call: Any, upstream: Upstream, metadata: Metadata
) -> run_service_pb2.RespondResult:
    """The run, its floor and the branch, for a run that committed, was cancelled, is held or waits.
    Refuses as the `failed` frame says, with run_id and floor_id in the metadata; with 503 when the
    stream ends without a last frame (the run may go on: a repeat joins it). Raises AioRpcError."""
    last = await _last(first, call)
    asked = run_service_pb2.GetRunRequest(run_id=last.run_id)
    found: Any = await upstream.unary(_GET_RUN, asked, metadata)
    result = run_service_pb2.RespondResult(run=found.run)
    if last.HasField("requires_action"):
        named = floor_service_pb2.GetFloorRequest(floor_id=last.floor_id)
        standing: Any = await upstream.unary(_GET_FLOOR, named, metadata)
        result.floor.CopyFrom(standing.floor)
    else:
        _show_end(result, last)
    return result


async def draft_respond_result(
    request: Message, first: Any, call: Any, upstream: Upstream, metadata: Metadata
) -> draft_service_pb2.RespondResult:
    """The same in a draft; a run that waits is shown without its floor, which the transcript has."""
    last = await _last(first, call)
    draft_id = getattr(request, "draft_id", "")
    asked = draft_service_pb2.GetRunRequest(draft_id=draft_id, run_id=last.run_id)
    found: Any = await upstream.unary(_GET_DRAFT_RUN, asked, metadata)
    result = draft_service_pb2.RespondResult(run=found.run)
    if not last.HasField("requires_action"):
        _show_end(result, last)
    return result


async def _last(first: Any, call: Any) -> run_pb2.RunEvent:
    """The last frame of a run that did not fail."""
    response, last = await call.read() if first is None else first, run_pb2.RunEvent()
    while response is not grpc.aio.EOF:
        last = response.event
        response = await call.read()
    kind = last.WhichOneof("event")
    if kind == "failed":
        raise _failed(last)
    if kind not in {"floor_committed", "cancelled", "held", "requires_action"}:
        raise _cut(last)
    return last


def _show_end(result: Any, last: run_pb2.RunEvent) -> None:
    end = getattr(last, str(last.WhichOneof("event")))
    result.floor.CopyFrom(end.floor)
    if not last.HasField("held") and end.HasField("branch"):
        result.branch.CopyFrom(end.branch)


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
