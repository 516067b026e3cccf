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


# What an erasure in a session adds to its count of forks: so every answer that is kept for a count is another
# one afterwards, and the hot reads ask for nothing more.
ERASURE = 2**40


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
    # Whether any floor of the session has, or had, a second child in whatever state.
    forked: bool

    @property
    def erasures(self) -> int:
        """How often words were erased in the session: what was kept of it before is not to be shown."""
        return self.forks // ERASURE


class SessionOrder(StrEnum):
    """Both newest first, ties by id."""

    LAST_ACTIVITY = "last_activity"
    CREATE_TIME = "create_time"


class RunState(StrEnum):
    RUNNING = "running"
    # For results or decisions of its tool calls; no process has it.
    WAITING = "waiting"
    # Ended: its floor is OPEN, and its pages can be chosen from.
    HELD = "held"
    COMMITTED = "committed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def active(self) -> bool:
        """Its floor is GENERATING."""
        return self in (RunState.RUNNING, RunState.WAITING)


@dataclass(frozen=True, slots=True)
class Run:
    """The production of one floor's output. `owner` is the process that runs it, `epoch` counts who had
    it: whatever a run writes is conditional on both.

    `last_seq` is the position of the last frame in the epoch, and `branch` the branch as that frame
    showed it, once the run has ended. `plan` is what is needed to go on elsewhere (`kernel.runs.plan`),
    `asked` how somebody wants it to end (`keep` or `fail`), `wait_time` until when a WAITING one waits,
    `logged` whether the log may hold frames of it.
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
    epoch: int = 1
    plan: str = ""
    asked: str = ""
    wait_time: datetime | None = None
    logged: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """Frames of a run's log, one after the other; `events` as `kernel.generation.frame_text` writes them."""

    run_id: str
    epoch: int
    first_seq: int
    last_seq: int
    events: str


@dataclass(frozen=True, slots=True)
class OwnedChunk:
    """A chunk with who writes it: it is taken while the run is this owner's, in the chunk's epoch."""

    tenant_id: str
    owner: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class RunMark:
    """How a run stands: `logged_seq` is the newest position of its epoch that the log has, 0 for none."""

    owner: str
    epoch: int
    state: RunState
    asked: str
    logged_seq: int


class CallState(StrEnum):
    """Of a tool call that is recorded. It goes downward, once."""

    APPROVAL = "approval"
    RESULT = "result"
    ACTING = "acting"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A tool call of a run, recorded before it acts, and once with its result.

    `number` counts the run's calls. `state` says what it waits for; `decision` is `approved` or `refused`
    by `decided_by`, or empty. `content` and `is_error` are the result of one that is DONE. `owner` and
    `side_effect` are the numbers of the contract's ToolOwner and ToolSideEffect.
    """

    run_id: str
    call_id: str
    number: int
    page_id: str
    name: str
    arguments: str
    owner: int
    server: str
    side_effect: int
    state: CallState
    create_time: datetime
    end_time: datetime | None = None
    decision: str = ""
    decided_by: str = ""
    reason: str = ""
    content: str = ""
    is_error: bool = False


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
    # Of a run some of whose calls were answered: its epoch then, and what it was shown to wait for still
    # (`kernel.generation.events.ActionKind`); without calls it went on.
    run_epoch: int = 0
    waits_for: str = ""
    waiting_calls: tuple[str, ...] = ()
    # What the audit says of the write, where it is not one of the things above: `kind:id`, the project that
    # it is in, and for whom it was done.
    target: str = ""
    project_id: str = ""
    on_behalf_of: str = ""


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
