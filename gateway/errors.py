"""Refusals: what a caller gets instead of an answer, always a google.rpc.Status in JSON.

Texts are ours or the services' own (those that came as a rich status); never an exception's, never
grpc-core's.
"""

import math
import uuid
from collections.abc import Iterable, Mapping

import grpc
import structlog
from google.protobuf.message import DecodeError
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from gateway.render import to_json
from kernel.errors import Violation

_log = structlog.get_logger("gateway")

HTTP_STATUS: Mapping[int, int] = {
    code_pb2.CANCELLED: 499,
    code_pb2.UNKNOWN: 500,
    code_pb2.INVALID_ARGUMENT: 400,
    code_pb2.DEADLINE_EXCEEDED: 504,
    code_pb2.NOT_FOUND: 404,
    code_pb2.ALREADY_EXISTS: 409,
    code_pb2.PERMISSION_DENIED: 403,
    code_pb2.RESOURCE_EXHAUSTED: 429,
    code_pb2.FAILED_PRECONDITION: 400,
    code_pb2.ABORTED: 409,
    code_pb2.OUT_OF_RANGE: 400,
    code_pb2.UNIMPLEMENTED: 501,
    code_pb2.INTERNAL: 500,
    code_pb2.UNAVAILABLE: 503,
    code_pb2.DATA_LOSS: 500,
    code_pb2.UNAUTHENTICATED: 401,
}

# For a status that came without details: grpc-core made it, and its text is not for callers.
_BARE: Mapping[int, tuple[str, str]] = {
    code_pb2.CANCELLED: ("CANCELLED", "The call was cancelled."),
    code_pb2.INVALID_ARGUMENT: ("INVALID", "The request is not valid."),
    code_pb2.DEADLINE_EXCEEDED: ("DEADLINE_EXCEEDED", "The call took too long. A write may have happened."),
    code_pb2.NOT_FOUND: ("NOT_FOUND", "There is no such resource."),
    code_pb2.PERMISSION_DENIED: ("FORBIDDEN", "This is not allowed."),
    code_pb2.RESOURCE_EXHAUSTED: ("LIMIT", "The request or its answer is over a limit."),
    code_pb2.UNIMPLEMENTED: ("UNIMPLEMENTED", "This call is not served yet."),
    code_pb2.UNAVAILABLE: ("UNAVAILABLE", "The service cannot be reached. Retry with the same request_id."),
    code_pb2.UNAUTHENTICATED: ("UNAUTHENTICATED", "There is no valid credential."),
}

_DETAILS = tuple(
    kind.DESCRIPTOR
    for kind in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo)
)


class Refusal(Exception):
    """An answer that is an error. `http` is its status, `headers` go with it."""

    def __init__(
        self, status: status_pb2.Status, http: int, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status.message)
        self.status = status
        self.http = http
        # RFC 9110: a 401 says how to come again.
        asks = {"www-authenticate": "Bearer"} if http == 401 else {}
        self.headers = {**asks, **(headers or {})}

    def body(self) -> bytes:
        return to_json(self.status)


def refusal(
    code: int,
    reason: str,
    message: str,
    *,
    metadata: Mapping[str, str] | None = None,
    violations: Iterable[Violation] = (),
    http: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> Refusal:
    """The contract's shape: a Status with an ErrorInfo and, for fields at fault, a BadRequest."""
    status = status_pb2.Status(code=code, message=message)
    info = error_details_pb2.ErrorInfo(reason=reason, domain="stemma", metadata=dict(metadata or {}))
    status.details.add().Pack(info)
    if violations:
        bad = error_details_pb2.BadRequest()
        for violation in violations:
            bad.field_violations.add(field=violation.field, description=violation.description)
        status.details.add().Pack(bad)
    return Refusal(status, http or HTTP_STATUS.get(code, 500), headers)


def invalid(*violations: Violation) -> Refusal:
    """400: fields at fault, by their path in proto names (`input[0].parts[2].text`)."""
    text = "; ".join(f"{one.field}: {one.description}" for one in violations)
    return refusal(code_pb2.INVALID_ARGUMENT, "INVALID", text, violations=violations)


def malformed(message: str, *, http: int | None = None, headers: Mapping[str, str] | None = None) -> Refusal:
    """The request is at fault as a whole: 400, or another status of the 4xx."""
    return refusal(code_pb2.INVALID_ARGUMENT, "INVALID", message, http=http, headers=headers)


def no_such_path() -> Refusal:
    return refusal(code_pb2.NOT_FOUND, "NOT_FOUND", "There is nothing at this path.")


def over_limit(message: str, http: int) -> Refusal:
    """413 or 431: larger than the gateway takes, and a retry would not help."""
    return refusal(code_pb2.RESOURCE_EXHAUSTED, "LIMIT", message, http=http)


def too_slow(what: str) -> Refusal:
    """408, and the connection is closed."""
    return refusal(
        code_pb2.DEADLINE_EXCEEDED,
        "LIMIT",
        f"The request's {what} did not arrive in time.",
        http=408,
        headers={"connection": "close"},
    )


def internal(error: BaseException | None, *, event: str, **context: object) -> Refusal:
    """500 with an opaque error_id; what happened is in the log under that id, and only there."""
    error_id = str(uuid.uuid4())
    _log.error(event, error_id=error_id, exc_info=error, **context)
    return refusal(
        code_pb2.INTERNAL,
        "INTERNAL",
        "Something went wrong on our side. Report the error_id.",
        metadata={"error_id": error_id},
    )


def refusal_of(error: Exception) -> Refusal:
    """Whatever was raised, as the answer that it stands for."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, grpc.aio.AioRpcError):
        return _of_rpc(error)
    return internal(error, event="unexpected exception")


def _of_rpc(error: grpc.aio.AioRpcError) -> Refusal:
    code: int = error.code().value[0]
    rich = _rich_status(error)
    if rich is None:
        if code not in _BARE:
            return internal(error, event="a service failed without a reason")
        reason, text = _BARE[code]
        return refusal(code, reason, text)
    status = status_pb2.Status(code=code, message=rich.message)
    status.details.extend(one for one in rich.details if any(one.Is(kind) for kind in _DETAILS))
    return Refusal(status, HTTP_STATUS.get(code, 500), _retry_after(status))


def _rich_status(error: grpc.aio.AioRpcError) -> status_pb2.Status | None:
    """The status that a service of ours built; None when grpc-core or a stranger spoke."""
    try:
        status: status_pb2.Status | None = rpc_status.from_call(error)
    except (ValueError, DecodeError) as fault:
        _log.warning("a service sent a status that contradicts itself", exc_info=fault)
        return None
    info = error_details_pb2.ErrorInfo.DESCRIPTOR
    if status is None or not any(one.Is(info) for one in status.details):
        return None
    return status


def _retry_after(status: status_pb2.Status) -> dict[str, str]:
    retry = error_details_pb2.RetryInfo()
    for one in status.details:
        if one.Unpack(retry):
            return {"retry-after": str(max(1, math.ceil(retry.retry_delay.ToTimedelta().total_seconds())))}
    return {}
