"""What the store keeps besides floors: sessions, runs, requests, events. Plain values."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from kernel.prompt.config import Config
from kernel.tree.model import Branch, Floor, Place, Usage


class SessionState(StrEnum):
    ACTIVE = "active"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation. `stored_tokens` sums all pages ever written, on whatever branch. `ended`: of a draft
    that takes no more writes, its state; else empty."""

    session_id: str
    project_id: str
    title: str
    state: SessionState
    config: Config
    version: int
    root_floor_id: str
    stored_tokens: int
    create_time: datetime
    update_time: datetime
    last_activity_time: datetime
    project_archived: bool = False
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Project:
    """Sessions with a layer of configuration below theirs, members and a feed."""

    project_id: str
    title: str
    state: SessionState
    config: Config
    version: int
    create_time: datetime
    update_time: datetime


class MemberRole(StrEnum):
    OBSERVER = "observer"
    CONTRIBUTOR = "contributor"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Member:
    project_id: str
    principal: str
    role: MemberRole
    create_time: datetime
    update_time: datetime


@dataclass(frozen=True, slots=True)
class ConfigVersion:
    """A layer of configuration, with its title, as a change left it. `target_id` is its project's or
    session's; `restored_from` is 0 for one that restored none."""

    target_id: str
    version: int
    title: str
    config: Config
    principal: str
    create_time: datetime
    restored_from: int = 0


@dataclass(frozen=True, slots=True)
class Erased:
    """How many rows of a store an erasure took, or blanked."""

    store: str
    rows: int


@dataclass(frozen=True, slots=True)
class Tip:
    """The committed floor that a path ends at, with every number that decides what the path, the positions
    beside it, and a context made of it look like: while they are the same, so are those."""

    floor_id: str
    place: Place
    pending_floor_id: str | None
    forks: int
    session_version: int
    project_version: int
    stored_tokens: int
    session_live_version: int
    project_live_version: int


class SessionOrder(StrEnum):
    """Both newest first, ties by id."""

    LAST_ACTIVITY = "last_activity"
    CREATE_TIME = "create_time"


class RunState(StrEnum):
    RUNNING = "running"
    COMMITTED = "committed"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Run:
    """The production of one floor's output. `owner` is the process that runs it.

    `last_seq` is the position of the last frame, and `branch` the branch as that frame showed it,
    once the run has ended.
    """

    run_id: str
    session_id: str
    floor_id: str
    page_id: str
    state: RunState
    failure_reason: str
    usage: Usage | None
    owner: str
    last_seq: int
    branch: Branch | None
    create_time: datetime
    end_time: datetime | None


@dataclass(frozen=True, slots=True)
class Request:
    """Who asked for what under which id (R1). `fingerprint` is over the content without the id."""

    principal: str
    method: str
    request_id: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered with, as far as it cannot be rebuilt from immutable rows.

    `floor` is the floor's id; the four fields after it say how the floor stood then, since a
    pending one changes later. What comes after the branch is as it was then.
    """

    session_id: str = ""
    floor_id: str = ""
    floor_state: str = ""
    input_page_id: str = ""
    output_page_id: str = ""
    page_id: str = ""
    run_id: str = ""
    branch: Branch | None = None
    session: Session | None = None
    project: Project | None = None
    member: Member | None = None
    config_version: ConfigVersion | None = None
    receipt: tuple[Erased, ...] = ()
    # Of the live values that were written.
    version: int = 0
    # A thing that only one of the services knows, as it was: text of that service's own.
    other: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """A committed fact of a project's feed. The store gives it its position in the commit."""

    event_id: str
    type: str
    session_id: str
    floor_id: str = ""
    payload: dict[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlacedEvent:
    """An event as a subscriber sees it. Positions of a feed grow by one, without gaps."""

    position: int
    event: Event
    commit_time: datetime


@dataclass(frozen=True, slots=True)
class AppendRecord:
    """One whole turn for `Store.append`, planned on its immutable parent.

    `floor` is complete: place, ordinal, pages, digest, path tokens. It commits when the branch's
    head is `expected_head`, nothing is pending, and the place is free; it then becomes the head.
    """

    tenant_id: str
    request: Request
    branch: str
    expected_head: str
    floor: Floor
    opens_segment: bool
    event_id: str


@dataclass(frozen=True, slots=True)
class Committed:
    branch: Branch


@dataclass(frozen=True, slots=True)
class Replayed:
    answer: Answer


@dataclass(frozen=True, slots=True)
class Reused:
    """The request id is known with other content."""


@dataclass(frozen=True, slots=True)
class Stale:
    current_head: str


@dataclass(frozen=True, slots=True)
class Blocked:
    """The branch has a pending floor."""

    pending_floor_id: str


@dataclass(frozen=True, slots=True)
class PlaceTaken:
    """Another floor sits there: plan again, with a segment of its own."""


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no such session or branch, or the session is archived: read to say which."""


Outcome = Committed | Replayed | Reused | Stale | Blocked | PlaceTaken | Absent
