"""Refusals as exceptions: one class for each reason that a caller may want to act on."""

from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

_DETAILS_KEY = "grpc-status-details-bin"
# What a connection that breaks in the middle of a call ends it with, besides UNAVAILABLE.
_CUT = {grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN}


@dataclass(eq=False)
class StemmaError(Exception):
    """What the service refused, or that it could not be reached.

    Attributes:
        code: The canonical code.
        reason: Of google.rpc.ErrorInfo; empty when no Stemma service answered.
        message: For people.
        metadata: Of ErrorInfo: `current_head`, `run_id` …
        violations: Field and description, of an INVALID_ARGUMENT.
        retry_after: Seconds, where the service said when to come again.
        address: Where it was asked.
        status: As the service sent it; made up from the code when nothing answered.
    """

    code: grpc.StatusCode
    reason: str
    message: str
    metadata: dict[str, str]
    violations: tuple[tuple[str, str], ...] = ()
    retry_after: float | None = None
    address: str = ""
    status: status_pb2.Status = field(default_factory=status_pb2.Status, repr=False)

    def __str__(self) -> str:
        named = "; ".join(f"{name}: {text}" for name, text in self.violations)
        return f"{named or self.message} ({self.reason or self.code.name})"

    @property
    def reached(self) -> bool:
        """Whether a Stemma service said this; otherwise the connection did."""
        return bool(self.reason)

    @property
    def passing(self) -> bool:
        """Whether the same request may get through later, and is safe to send again."""
        if self.code is grpc.StatusCode.UNAVAILABLE:
            return True
        if self.code is grpc.StatusCode.RESOURCE_EXHAUSTED:
            return self.retry_after is not None
        return not self.reached and self.code in _CUT


class NotFound(StemmaError):
    """There is no such thing, or not for this caller: nothing says which."""


class InvalidRequest(StemmaError):
    """`violations` say what to correct."""


class Unauthenticated(StemmaError):
    """No valid credential."""


class Forbidden(StemmaError):
    """The caller may know of it, and may not do this."""


class RequestIdReused(StemmaError):
    """This request_id was used with other content."""


class HeadMoved(StemmaError):
    """Somebody else committed first: look at `current_head`, decide, and ask again."""

    @property
    def current_head(self) -> str:
        return self.metadata.get("current_head", "")


class VersionMoved(StemmaError):
    """Somebody else wrote this layer first."""

    @property
    def current_version(self) -> str:
        return self.metadata.get("current_version", "")


class FloorPending(StemmaError):
    """The branch has a turn that is not committed yet."""

    @property
    def pending_floor_id(self) -> str:
        return self.metadata.get("pending_floor_id", "")


class RunActive(StemmaError):
    """A model is writing that turn."""

    @property
    def run_id(self) -> str:
        return self.metadata.get("run_id", "")


class Archived(StemmaError):
    """Restore it first."""


class DraftNotActive(StemmaError):
    """The draft has ended, as `state` says."""

    @property
    def state(self) -> str:
        return self.metadata.get("state", "")


class Stale(StemmaError):
    """The target moved since the entry was written: decide, and accept with `allow_stale`."""


class AlreadyDecided(StemmaError):
    """The entry was accepted, rejected, withdrawn, or has expired, as `metadata["state"]` says."""


class CursorTooOld(StemmaError):
    """The feed no longer has what comes after that position: begin again at `earliest`."""

    @property
    def earliest(self) -> int:
        return int(self.metadata.get("earliest", "0"))


class LimitExceeded(StemmaError):
    """Too large, too many, or too fast; `retry_after` is set where it passes."""


class Unavailable(StemmaError):
    """Not reached, or not able to answer now, and the call's time is up."""


_BY_REASON: dict[str, type[StemmaError]] = {
    "REQUEST_ID_REUSED": RequestIdReused,
    "HEAD_MOVED": HeadMoved,
    "VERSION_MOVED": VersionMoved,
    "FLOOR_PENDING": FloorPending,
    "RUN_ACTIVE": RunActive,
    "ARCHIVED": Archived,
    "DRAFT_NOT_ACTIVE": DraftNotActive,
    "STALE": Stale,
    "ALREADY_DECIDED": AlreadyDecided,
    "CURSOR_TOO_OLD": CursorTooOld,
}
_BY_CODE: dict[grpc.StatusCode, type[StemmaError]] = {
    grpc.StatusCode.NOT_FOUND: NotFound,
    grpc.StatusCode.INVALID_ARGUMENT: InvalidRequest,
    grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
    grpc.StatusCode.PERMISSION_DENIED: Forbidden,
    grpc.StatusCode.RESOURCE_EXHAUSTED: LimitExceeded,
    grpc.StatusCode.UNAVAILABLE: Unavailable,
}


def error_of(error: grpc.RpcError, address: str = "") -> StemmaError:
    """The exception for what a call of grpc raised."""
    code: grpc.StatusCode = error.code()
    status = _status(error, code)
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    bad_request = error_details_pb2.BadRequest()
    retry_after = None
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad_request)
        if detail.Unpack(retry):
            retry_after = retry.retry_delay.ToTimedelta().total_seconds()
    kind = _BY_REASON.get(info.reason) or _BY_CODE.get(code, StemmaError)
    return kind(
        code,
        info.reason,
        status.message,
        dict(info.metadata),
        tuple((one.field, one.description) for one in bad_request.field_violations),
        retry_after,
        address,
        status,
    )


def _status(error: Any, code: grpc.StatusCode) -> status_pb2.Status:
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS_KEY:
            try:
                return status_pb2.Status.FromString(value)
            except DecodeError:
                # Some proxy's: no Stemma service said it.
                break
    return status_pb2.Status(code=code.value[0], message=error.details() or "")
