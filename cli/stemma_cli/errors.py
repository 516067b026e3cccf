"""Failures as whoever typed the command is told them."""

from collections.abc import Sequence
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2

_DETAILS_KEY = "grpc-status-details-bin"
# What a connection that breaks in the middle of a call ends it with, besides UNAVAILABLE.
_CUT = {grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}


class CliError(Exception):
    """Ends the command with `exit_code`. `message` is one line: what is wrong, and what to do."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UsageError(CliError):
    """The command was typed wrongly."""

    exit_code = 2


class Interrupted(CliError):
    """Ctrl-C ended a script."""

    exit_code = 130


class ApiError(CliError):
    """The service refused a call, or could not be reached.

    Attributes:
        code: The canonical code.
        reason: ErrorInfo's; empty when what answered was not Stemma, or nothing answered.
        metadata: ErrorInfo's.
        status: As the service sent it; made up from the code when nothing answered.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        metadata: dict[str, str],
        status: status_pb2.Status,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.metadata = metadata
        self.status = status

    @property
    def reached(self) -> bool:
        """Whether a Stemma service said this; otherwise the connection did."""
        return bool(self.reason)

    @property
    def passing(self) -> bool:
        """Whether the connection, or a server that stops, is to blame: the same request may get through."""
        return self.code is grpc.StatusCode.UNAVAILABLE or (not self.reached and self.code in _CUT)


def api_error(error: grpc.RpcError, address: str) -> ApiError:
    """Reads what the call said: the status with its details, or that nobody answered at `address`."""
    code: grpc.StatusCode = error.code()
    status = status_pb2.Status(code=code.value[0], message=error.details() or "")
    trailers: Any = error.trailing_metadata() or ()
    for key, value in trailers:
        if key == _DETAILS_KEY:
            status = status_pb2.Status.FromString(value)
    info = error_details_pb2.ErrorInfo()
    violations: Sequence[error_details_pb2.BadRequest.FieldViolation] = ()
    for detail in status.details:
        bad_request = error_details_pb2.BadRequest()
        if detail.Unpack(bad_request):
            violations = bad_request.field_violations
        detail.Unpack(info)
    message = _sentence(code, info, status.message, violations, address)
    return ApiError(code, info.reason, message, dict(info.metadata), status)


def _sentence(
    code: grpc.StatusCode,
    info: error_details_pb2.ErrorInfo,
    message: str,
    violations: Sequence[error_details_pb2.BadRequest.FieldViolation],
    address: str,
) -> str:
    if info.reason:
        named = "; ".join(f"{violation.field}: {violation.description}" for violation in violations)
        return f"{named or message} ({info.reason})"
    if code is grpc.StatusCode.UNAVAILABLE:
        return (
            f"No conversation service answers at {address}. Start it with `stemma up`, or say where it is: "
            "--address HOST:PORT, or STEMMA_CONVERSATION."
        )
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return f"{address} did not answer in time. Try again."
    return f"What answers at {address} is no conversation service ({code.name}): is it the gRPC address?"
