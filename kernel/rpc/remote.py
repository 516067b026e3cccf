"""What another service's refusal is here: the other end of `kernel.rpc.status`."""

from collections.abc import Callable

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from kernel import errors
from kernel.rpc.status import DETAILS_KEY

_KINDS: dict[grpc.StatusCode, Callable[[str, str, dict[str, str]], errors.StemmaError]] = {
    grpc.StatusCode.ALREADY_EXISTS: errors.AlreadyExists,
    grpc.StatusCode.ABORTED: errors.Aborted,
    grpc.StatusCode.FAILED_PRECONDITION: errors.FailedPrecondition,
    grpc.StatusCode.OUT_OF_RANGE: errors.OutOfRange,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.Exhausted,
    grpc.StatusCode.DATA_LOSS: errors.DataLoss,
    grpc.StatusCode.PERMISSION_DENIED: errors.Forbidden,
}


def error_of(refusal: grpc.aio.AioRpcError, what: str) -> errors.StemmaError:
    """The refusal as an error of ours, with its reason, words and metadata; `what` is what a NOT_FOUND did
    not find. Everything that says nothing about the request is UNAVAILABLE: whoever asks may ask again."""
    status, info, violations = _details(refusal)
    code = refusal.code()
    if code is grpc.StatusCode.NOT_FOUND:
        return errors.NotFound(what)
    if code is grpc.StatusCode.INVALID_ARGUMENT and violations:
        return errors.Invalid(*violations)
    kind = _KINDS.get(code)
    # Too much at once is no word about the request.
    if kind is None or status is None or info.reason in ("OVERLOADED", "QUOTA"):
        return errors.Unavailable(
            "UNAVAILABLE", "The conversation service cannot be asked now. Retry with the same request_id."
        )
    return kind(info.reason, status.message, dict(info.metadata))


def nobodys(refusal: grpc.aio.AioRpcError) -> bool:
    """Whether an `Introspect` was answered that the credential in it is nobody's: not our own, with which it
    was asked."""
    _, info, _ = _details(refusal)
    return refusal.code() is grpc.StatusCode.UNAUTHENTICATED and info.metadata.get("whose") == "nobody"


def _details(
    refusal: grpc.aio.AioRpcError,
) -> tuple[status_pb2.Status | None, error_details_pb2.ErrorInfo, list[errors.Violation]]:
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    raw = dict(refusal.trailing_metadata() or ()).get(DETAILS_KEY)
    if not isinstance(raw, bytes):
        return None, info, []
    try:
        status = status_pb2.Status.FromString(raw)
    except DecodeError:
        return None, info, []
    for detail in status.details:
        if detail.Is(info.DESCRIPTOR):
            detail.Unpack(info)
        elif detail.Is(bad.DESCRIPTOR):
            detail.Unpack(bad)
    return status, info, [errors.Violation(one.field, one.description) for one in bad.field_violations]
