"""Failures as the rules see them. `kernel.rpc.status` alone knows which gRPC code each one gets.

Every error carries a `reason` (the contract's ErrorInfo reasons), a sentence for people that says
what to do, and `metadata` for machines. Texts never quote an exception or stored content.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Violation:
    """A field at fault, by its path in the request (`input[0].parts[2].text`), and why."""

    field: str
    description: str


@dataclass(eq=False)
class StemmaError(Exception):
    """The base; raise one of its kinds."""

    reason: str
    message: str
    metadata: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"


class Invalid(StemmaError):
    """The request is malformed; `violations` name the fields."""

    def __init__(self, *violations: Violation) -> None:
        text = "; ".join(f"{v.field}: {v.description}" for v in violations)
        super().__init__("INVALID", text or "The request is not valid.")
        self.violations = violations


def invalid(field: str, description: str) -> Invalid:
    return Invalid(Violation(field, description))


class NotFound(StemmaError):
    """Unknown, foreign, erased or of another kind: nothing says which (R6)."""

    def __init__(self, what: str) -> None:
        super().__init__("NOT_FOUND", f"There is no such {what}.")


class Hidden(NotFound):
    """There may be one, and not for this caller: the same answer (R6), but the audit keeps it as denied."""


class AlreadyExists(StemmaError):
    """The name or the request id is taken."""


class Aborted(StemmaError):
    """Something moved in between: read, decide, retry. `project_id`, where it is known, is for statistics."""

    project_id: str = ""


class FailedPrecondition(StemmaError):
    """Right request, wrong state; the metadata says which."""


class OutOfRange(StemmaError):
    """A cursor before retention or in the future."""


class Exhausted(StemmaError):
    """A limit; `retry_after` in seconds when waiting helps."""

    retry_after: float | None = None


class Unavailable(StemmaError):
    """A database or a model cannot be reached: retry with the same request id."""


class DataLoss(StemmaError):
    """Stored bytes fail their digest."""


class DeadlineExceeded(StemmaError):
    """Time ran out."""


class Unimplemented(StemmaError):
    """Named by the contract, not served yet."""

    def __init__(self, what: str) -> None:
        super().__init__("UNIMPLEMENTED", f"{what} is not served yet.")


class Unauthenticated(StemmaError):
    """No valid credential. Of one that was valid once, and is revoked or expired, `tenant_id` and `principal`
    say whose it was: for the audit, never for the caller."""

    tenant_id: str = ""
    principal: str = ""


class Forbidden(StemmaError):
    """Signed in, and not allowed. Where that is found before the caller's identity is taken as good,
    `tenant_id` and `principal` say whose the credential is: for the audit."""

    tenant_id: str = ""
    principal: str = ""


def request_id_reused() -> AlreadyExists:
    return AlreadyExists("REQUEST_ID_REUSED", "This request_id was used with other content. Use a new one.")


def quota_exceeded(limit: str, text: str, retry_after: float | None) -> Exhausted:
    """A tenant's own limit; `limit` names it for machines. `retry_after` is in seconds, None when waiting
    alone does not help."""
    error = Exhausted("QUOTA", text, {"limit": limit})
    error.retry_after = retry_after
    return error


def head_moved(branch: str, current_head: str) -> Aborted:
    return Aborted(
        "HEAD_MOVED",
        "The branch's head is not the expected one. Read the path, decide, and retry.",
        {"branch": branch, "current_head": current_head},
    )


def floor_pending(pending_floor_id: str) -> FailedPrecondition:
    return FailedPrecondition(
        "FLOOR_PENDING",
        "The branch has a pending floor: commit or abandon it, or pass on_pending ABANDON.",
        {"pending_floor_id": pending_floor_id},
    )
