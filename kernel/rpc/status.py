"""The one table from error class to status code, and the google.rpc.Status that carries it (R7)."""

import grpc
from google.protobuf import any_pb2, duration_pb2, message
from google.rpc import error_details_pb2, status_pb2

from kernel import errors

DOMAIN = "stemma"
DETAILS_KEY = "grpc-status-details-bin"

CODES: dict[type[errors.StemmaError], grpc.StatusCode] = {
    errors.Invalid: grpc.StatusCode.INVALID_ARGUMENT,
    errors.NotFound: grpc.StatusCode.NOT_FOUND,
    errors.Hidden: grpc.StatusCode.NOT_FOUND,
    errors.AlreadyExists: grpc.StatusCode.ALREADY_EXISTS,
    errors.Aborted: grpc.StatusCode.ABORTED,
    errors.FailedPrecondition: grpc.StatusCode.FAILED_PRECONDITION,
    errors.OutOfRange: grpc.StatusCode.OUT_OF_RANGE,
    errors.Exhausted: grpc.StatusCode.RESOURCE_EXHAUSTED,
    errors.Unavailable: grpc.StatusCode.UNAVAILABLE,
    errors.DataLoss: grpc.StatusCode.DATA_LOSS,
    errors.DeadlineExceeded: grpc.StatusCode.DEADLINE_EXCEEDED,
    errors.Unimplemented: grpc.StatusCode.UNIMPLEMENTED,
    errors.Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    errors.Forbidden: grpc.StatusCode.PERMISSION_DENIED,
}

_BY_NUMBER = {code.value[0]: code for code in grpc.StatusCode}

# A status travels in the trailing metadata, and a client refuses more than 8 KiB of that; both
# the message (percent-encoded, so up to three bytes for each) and the details must fit.
_MAX_MESSAGE_BYTES = 600
_MAX_DETAILS_BYTES = 3_072


def code_of(error: errors.StemmaError) -> grpc.StatusCode:
    """The error's code, by the nearest of its classes that the table names."""
    for kind in type(error).__mro__:
        code = CODES.get(kind)
        if code is not None:
            return code
    raise LookupError(f"{type(error).__name__} has no status code: add it to kernel.rpc.status.CODES")


def to_status(error: errors.StemmaError) -> status_pb2.Status:
    """The status of a known error: ErrorInfo always; BadRequest for Invalid; RetryInfo when waiting helps."""
    details: list[message.Message] = [_info(error.reason, error.metadata)]
    if isinstance(error, errors.Exhausted) and error.retry_after is not None:
        details.append(_retry(error.retry_after))
    if isinstance(error, errors.Invalid) and error.violations:
        details.append(_bad_request(error.violations))
    return _status(code_of(error), error.message, details)


def internal_status(error_id: str) -> status_pb2.Status:
    """The status of an unknown exception: says nothing but the id under which it is in the log."""
    return _status(
        grpc.StatusCode.INTERNAL,
        "Something went wrong in the server. Its log has the cause under the error_id.",
        [_info("INTERNAL", {"error_id": error_id})],
    )


def code(status: status_pb2.Status) -> grpc.StatusCode:
    """The status's number as gRPC's enum."""
    return _BY_NUMBER[status.code]


def _status(status_code: grpc.StatusCode, text: str, details: list[message.Message]) -> status_pb2.Status:
    packed = []
    for detail in details:
        any_detail = any_pb2.Any()
        any_detail.Pack(detail)
        packed.append(any_detail)
    return status_pb2.Status(code=status_code.value[0], message=_cut(text), details=packed)


def _info(reason: str, metadata: dict[str, str]) -> error_details_pb2.ErrorInfo:
    return error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN, metadata=metadata)


def _retry(seconds: float) -> error_details_pb2.RetryInfo:
    delay = duration_pb2.Duration()
    delay.FromMilliseconds(round(seconds * 1000))
    return error_details_pb2.RetryInfo(retry_delay=delay)


def _bad_request(violations: tuple[errors.Violation, ...]) -> error_details_pb2.BadRequest:
    """The violations, as many from the first on as fit."""
    request = error_details_pb2.BadRequest()
    left = _MAX_DETAILS_BYTES
    for violation in violations:
        entry = error_details_pb2.BadRequest.FieldViolation(
            field=violation.field, description=_cut(violation.description)
        )
        left -= entry.ByteSize() + 4
        if left < 0:
            break
        request.field_violations.append(entry)
    return request


def _cut(text: str) -> str:
    raw = text.encode("utf-8", "replace")
    if len(raw) <= _MAX_MESSAGE_BYTES:
        return text
    return raw[:_MAX_MESSAGE_BYTES].decode("utf-8", "ignore") + "…"
