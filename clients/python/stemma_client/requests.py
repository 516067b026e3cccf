"""What is done to a request before it is sent, and where a stream goes on."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import grpc
from google.protobuf.message import Message
from stemma.conversation.v1 import (
    access_service_pb2,
    admin_service_pb2,
    audit_service_pb2,
    context_service_pb2,
    event_service_pb2,
    floor_service_pb2,
    project_service_pb2,
    run_service_pb2,
    session_service_pb2,
    snapshot_service_pb2,
    staged_write_service_pb2,
    state_service_pb2,
)
from stemma.draft.v1 import draft_service_pb2
from stemma.kernel.v1 import run_pb2

from stemma_client.errors import StemmaError

# Attribute -> service of the conversation service.
CONVERSATION: Mapping[str, Any] = {
    "projects": project_service_pb2.DESCRIPTOR.services_by_name["ProjectService"],
    "sessions": session_service_pb2.DESCRIPTOR.services_by_name["SessionService"],
    "floors": floor_service_pb2.DESCRIPTOR.services_by_name["FloorService"],
    "runs": run_service_pb2.DESCRIPTOR.services_by_name["RunService"],
    "contexts": context_service_pb2.DESCRIPTOR.services_by_name["ContextService"],
    "state": state_service_pb2.DESCRIPTOR.services_by_name["StateService"],
    "staged_writes": staged_write_service_pb2.DESCRIPTOR.services_by_name["StagedWriteService"],
    "events": event_service_pb2.DESCRIPTOR.services_by_name["EventService"],
    "snapshots": snapshot_service_pb2.DESCRIPTOR.services_by_name["SnapshotService"],
    "access": access_service_pb2.DESCRIPTOR.services_by_name["AccessService"],
    "audit": audit_service_pb2.DESCRIPTOR.services_by_name["AuditService"],
    "admin": admin_service_pb2.DESCRIPTOR.services_by_name["AdminService"],
}
DRAFTS: Mapping[str, Any] = {"drafts": draft_service_pb2.DESCRIPTOR.services_by_name["DraftService"]}

OPTIONS = [
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    # Back soon after a restart.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
]

# After which a feed is asked for anew, be it silent or not.
_FEED_SECONDS = 3_600.0
# A stream of a feed that stood for so long says that the service was there, also when nothing happened.
_STOOD_SECONDS = 10.0
_LAST = {"floor_committed", "held", "failed", "cancelled"}


def new_request_id() -> str:
    return str(uuid.uuid4())


def with_request_id(request: Any) -> Any:
    """The request; a copy with a new id when it should have one and has none."""
    if "request_id" not in request.DESCRIPTOR.fields_by_name or request.request_id:
        return request
    copy = type(request)()
    copy.CopyFrom(request)
    copy.request_id = new_request_id()
    return copy


class Times:
    """The time that a call has, and how often it was tried since it last got anywhere. `clock` is monotonic,
    in seconds."""

    def __init__(self, clock: Callable[[], float], timeout: float) -> None:
        self._clock = clock
        self._timeout = timeout
        self._until = clock() + timeout
        self.attempt = 0

    def left(self) -> float:
        """Seconds; never zero, which grpc takes for no limit."""
        return max(0.001, self._until - self._clock())

    def now(self) -> float:
        return self._clock()

    def again(self) -> None:
        """The whole time anew, for what goes on for ever."""
        self.attempt, self._until = 0, self._clock() + self._timeout


class Place(Protocol):
    """How far a stream was read, and how to ask for the rest of it."""

    @property
    def service(self) -> str: ...

    @property
    def method(self) -> str: ...

    @property
    def ended(self) -> bool: ...

    def request(self) -> Message: ...

    def seconds(self, times: Times) -> float:
        """That the next call may take."""

    def take(self, event: Any, times: Times) -> None:
        """An event was seen."""

    def goes_on(self, error: StemmaError, times: Times) -> bool:
        """Whether that is no fault at all: ask at once."""


@dataclass(slots=True)
class RunPlace:
    """Of a run: `begin` is the call that starts it, `draft_id` names the draft of a draft's run."""

    begin: Any
    draft_id: str = ""
    run_id: str = ""
    after: str = ""
    ended: bool = False

    @property
    def service(self) -> str:
        return "drafts" if self.draft_id else "runs"

    @property
    def method(self) -> str:
        return "AttachRun" if self.run_id else "Respond"

    def request(self) -> Message:
        if not self.run_id:
            return self.begin  # type: ignore[no-any-return]
        if self.draft_id:
            return draft_service_pb2.AttachRunRequest(
                draft_id=self.draft_id, run_id=self.run_id, after=self.after
            )
        return run_service_pb2.AttachRunRequest(run_id=self.run_id, after=self.after)

    def seconds(self, times: Times) -> float:
        return times.left()

    def take(self, event: run_pb2.RunEvent, times: Times) -> None:
        # A run that waits ends this stream of it, and not the run.
        self.run_id, self.after = event.run_id, f"{event.epoch}.{event.seq}"
        self.ended = event.WhichOneof("event") in _LAST
        times.attempt = 0

    def goes_on(self, error: StemmaError, times: Times) -> bool:
        return False


@dataclass(slots=True)
class FeedPlace:
    """Of a project's feed."""

    project_id: str
    after: int
    service: str = "events"
    method: str = "WatchEvents"
    ended: bool = False
    asked: float = 0.0

    def request(self) -> Message:
        return event_service_pb2.WatchEventsRequest(project_id=self.project_id, after=self.after)

    def seconds(self, times: Times) -> float:
        self.asked = times.now()
        return _FEED_SECONDS

    def take(self, event: Any, times: Times) -> None:
        self.after = event.position
        times.again()

    def goes_on(self, error: StemmaError, times: Times) -> bool:
        """A stream's time was up, not the watcher's."""
        if times.now() - self.asked > _STOOD_SECONDS:
            times.again()
        if error.code is not grpc.StatusCode.DEADLINE_EXCEEDED:
            return False
        times.again()
        return True
