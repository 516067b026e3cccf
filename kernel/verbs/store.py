"""The contract of the store. `tests/conformance` holds every engine to it.

A transaction belongs to one tenant, bound when it begins: no method can reach another tenant's
rows, and what belongs to one is simply absent. Every list is ordered as its method says; absence
is None or an empty list, never an error.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from kernel.tree.model import Branch, Floor, FloorOutline, HeadMove, Page, Place
from kernel.tree.places import Chain, Segment
from kernel.tree.positions import Sibling
from kernel.verbs.access import AccessReads
from kernel.verbs.audit_store import AuditReads, AuditWrites
from kernel.verbs.erasure_store import ErasureWrites
from kernel.verbs.path_store import PathSource
from kernel.verbs.prefix_store import PrefixReads
from kernel.verbs.project_store import ProjectReads, ProjectWrites
from kernel.verbs.prompt_store import PromptReads, PromptWrites
from kernel.verbs.records import (
    Answer,
    AppendRecord,
    Event,
    Outcome,
    PlacedEvent,
    Request,
    Session,
    SessionOrder,
    SessionState,
)
from kernel.verbs.run_store import RunReads, RunWrites
from kernel.verbs.search_store import SearchReads, SearchWrites
from kernel.verbs.staged_store import StagedReads, StagedWrites
from kernel.verbs.state_store import StateReads, StateWrites

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """`member`: only those of projects that this principal is a member of."""

    project_id: str | None = None
    state: SessionState | None = None
    order: SessionOrder = SessionOrder.LAST_ACTIVITY
    member: str | None = None


class ReadTx(
    AccessReads,
    PathSource,
    ProjectReads,
    StateReads,
    PromptReads,
    PrefixReads,
    SearchReads,
    RunReads,
    StagedReads,
    AuditReads,
    Protocol,
):
    """One consistent snapshot."""

    async def answer(self, request: Request) -> Answer | None:
        """What the request was answered; raises REQUEST_ID_REUSED when its content was other."""

    async def session(self, session_id: str) -> Session | None: ...

    async def sessions(
        self, where: SessionFilter, after: tuple[datetime, str] | None, limit: int
    ) -> list[Session]:
        """In the filter's order, from below the (time, id) of the last one seen."""

    async def project_exists(self, project_id: str) -> bool: ...

    async def branch(self, session_id: str, name: str) -> Branch | None: ...

    async def branch_head(self, session_id: str, name: str) -> tuple[Branch, Floor] | None:
        """A branch and the floor that its head names, with its bodies, in one read."""

    async def branches(self, session_id: str, after: str, limit: int) -> list[Branch]:
        """By name, those after `after`."""

    async def floor(self, floor_id: str) -> Floor | None:
        """With its bodies."""

    async def path(self, session_id: str, place: Place, first: int, last: int) -> list[Floor]:
        """The floors of the path to `place` with first <= depth <= last, by depth.

        Touches nothing that lies on other branches.
        """

    async def path_page(
        self, session_id: str, place: Place, first: int, last: int, *, head_first: bool, max_bytes: int
    ) -> list[Floor]:
        """As `path`, but only as many as have bodies of `max_bytes` together, and always one: from
        `first` on, or with `head_first` from `last` back. By depth in either case."""

    async def path_outline(self, session_id: str, place: Place, first: int, last: int) -> list[FloorOutline]:
        """As `path`, without the bodies."""

    async def path_siblings(
        self, session_id: str, place: Place, first: int, last: int
    ) -> list[tuple[str, Sibling]]:
        """All committed siblings, themselves included, of those floors: (parent floor id, sibling)."""

    async def children(self, session_id: str, parent: Place, after: int, limit: int) -> list[Floor]:
        """The committed children with an ordinal above `after`, by ordinal."""

    async def child_outlines(self, session_id: str, parent: Place) -> list[tuple[Sibling, Place, int]]:
        """All committed children, without pages, by ordinal: what positions need of them, where
        they sit, and how many bytes their pages have."""

    async def child_count(self, session_id: str, parent: Place) -> int:
        """Children in every state."""

    async def next_segment(self, session_id: str) -> int: ...

    async def tree(
        self, session_id: str, after: Place | None, limit: int, *, bodies: bool = False
    ) -> list[Floor]:
        """Every floor by (segment, depth); parents come before their children.

        With `bodies` they come as they are stored, their digests unchecked: for verification.
        """

    async def segments(self, session_id: str) -> list[Segment]:
        """By number."""

    async def versions(self, session_id: str) -> dict[str, list[Page]]:
        """Every page version of the session's opened floors, by floor id and number."""

    async def version_tokens(self, session_id: str) -> dict[str, int]:
        """Tokens of every page version of the session's opened floors, by page id."""

    async def leaf_left(self, session_id: str, branch: str, below: Place) -> Floor | None:
        """The leaf that the branch last left at or below that place (T6)."""

    async def last_leaf(self, session_id: str, below: Place) -> Floor:
        """Down from a committed floor by the highest committed ordinal at each fork."""

    async def pages(self, floor_id: str) -> list[tuple[int, Page]]:
        """The versions written to a floor that was opened, by number."""

    async def page_versions(self, page_id: str) -> list[tuple[str, Page]]:
        """(floor id, page) of every opened floor that has this version."""

    async def head_moves(
        self, session_id: str, branch: str, before: int | None, limit: int
    ) -> list[tuple[int, HeadMove]]:
        """Newest first, with their numbers."""

    async def events(self, project_id: str, after: int, limit: int) -> list[PlacedEvent]:
        """By position, those after `after`."""


class WriteTx(
    ReadTx,
    ProjectWrites,
    StateWrites,
    PromptWrites,
    SearchWrites,
    RunWrites,
    StagedWrites,
    AuditWrites,
    ErasureWrites,
    Protocol,
):
    """All of it, or nothing. Events get their positions as the last thing before the commit."""

    async def lock_session(self, session_id: str) -> Session | None:
        """The session, locked until the end: writers of one session go one after the other.

        What is read after this call includes everything that the previous writer committed.
        """

    async def insert_session(self, session: Session, root: Floor, main: Branch) -> None:
        """With its configuration as the first version. NOT_FOUND for an id that was erased."""

    async def touch_session(self, session_id: str, new_tokens: int) -> None:
        """Notes activity now, and tokens that were stored."""

    async def insert_floor(self, floor: Floor, opens_segment: bool) -> None: ...

    async def update_pending(self, floor: Floor) -> None:
        """A pending floor's pages, state and what its end fixes. Never touches a sealed one (T2):
        raises when the stored floor is not pending."""

    async def insert_page(self, floor_id: str, session_id: str, page: Page) -> None:
        """Another version, numbered after the last."""

    async def insert_branch(self, session_id: str, branch: Branch) -> None: ...

    async def update_branch(self, session_id: str, seen: Branch, new: Branch) -> bool:
        """`new` in place of `seen`, if head and pending floor still are what was seen (T3)."""

    async def delete_branch(self, session_id: str, name: str) -> None:
        """With what it remembers of leaves; its head moves stay."""

    async def leave(
        self, session_id: str, branch: str, leaf_floor_id: str, links: Chain, version: int
    ) -> None:
        """Remembers the leaf that a branch leaves, for each part of its path that is left."""

    async def insert_head_move(self, session_id: str, move: HeadMove) -> None: ...

    async def record(self, request: Request, answer: Answer) -> None:
        """In the same transaction as what it asked for (R1)."""

    def emit(self, project_id: str, event: Event) -> None:
        """An event of the project's feed."""

    def after_commit(self, action: Callable[[], None]) -> None:
        """Called once this transaction is durable; not at all when it rolls back."""


class Store(Protocol):
    """The database. Raises Unavailable when it cannot be reached, DataLoss when bytes are wrong."""

    def reading(self, tenant_id: str) -> AbstractAsyncContextManager[ReadTx]:
        """One snapshot for as long as the block lasts."""

    async def write(self, tenant_id: str, work: Callable[[WriteTx], Awaitable[T]], session_id: str = "") -> T:
        """Runs `work` in one transaction and commits it before returning (R2).

        Work that will lock a session names it: so those that wait for it hold no connection.

        `work` may run more than once, so its only effects go through the transaction. An error
        rolls back. Once begun it ends by itself, whatever becomes of the caller (R3).
        """

    def glances(self, tenant_id: str) -> AbstractAsyncContextManager[PathSource]:
        """Single reads for as long as the block lasts, each a round trip and a snapshot of its own: the
        cheapest look at a session. What was committed is the same in all of them, while it is there."""

    async def append(self, records: Sequence[AppendRecord]) -> list[Outcome]:
        """One outcome a record, in their order; each commits or fails alone. As `write` on
        cancellation."""
