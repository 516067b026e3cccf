"""The contract of the draft service's store: the kernel's, and what drafts need besides."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from draft_service.domain.draft import Draft, DraftState
from draft_service.domain.exports import Export, ExportState, Proposal
from kernel.tree.model import Floor
from kernel.verbs import store as kernel
from kernel.verbs.records import Project, Session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DraftFilter:
    """None: any. Of others than `principal`, those that are for everybody to see, in `projects`; internal
    ones only with `internal`."""

    principal: str
    project_id: str | None = None
    session_id: str | None = None
    state: DraftState | None = None
    projects: Sequence[str] | None = None
    internal: bool = False


@dataclass(frozen=True, slots=True)
class StoredSnapshot:
    """What of a frozen copy is kept for all drafts that have it. `state` is text; "" for none."""

    source_id: str
    digest: bytes
    state: str
    floors: Sequence[Floor]


class DraftReads(Protocol):
    """`session` and `lock_session` of a draft's own session say in `ended` whether the draft takes writes,
    by the database's clock at that moment; a draft that is due to be purged has none."""

    async def now(self) -> datetime:
        """The database's clock."""

    async def draft(self, draft_id: str) -> Draft | None:
        """As it is by the database's clock, whether or not the sweeper has been there. None once it is due
        to be purged."""

    async def drafts(self, where: DraftFilter, after: tuple[datetime, str] | None, limit: int) -> list[Draft]:
        """Newest first, from below the (time, id) of the last one seen."""

    async def snapshot_floors(self, draft_id: str, first: int, last: int) -> list[Floor]:
        """Of the frozen history, by depth, those with first <= depth <= last. DATA_LOSS for a page that
        fails its digest."""

    async def counts(self, draft_id: str) -> dict[str, int]:
        """Its committed `floors` below the root, and its `exports`."""

    async def has_page(self, draft_id: str, page_id: str) -> bool:
        """Whether a floor of the draft has it, on whatever path, or had it to choose from."""

    async def export(self, draft_id: str, export_id: str) -> Export | None: ...

    async def proposals(self, draft_id: str, after: int, limit: int) -> list[Proposal]:
        """By number, those after `after`."""

    async def proposal(self, draft_id: str, proposal_id: str) -> Proposal | None: ...

    async def last_proposal(self, draft_id: str) -> int:
        """The newest one's number; 0 for none."""


class DraftWrites(Protocol):
    async def lock_tree(self, draft_id: str) -> Session | None:
        """As `lock_session`, however the draft stands."""

    async def insert_draft(self, draft: Draft) -> None:
        """Its session and its snapshot are there."""

    async def insert_base(self, project: Project) -> None:
        """The kernel's project that a draft is alone in, with the frozen configuration."""

    async def hold_snapshot(self, snapshot: StoredSnapshot) -> None:
        """Stores it, or counts one draft more that has it."""

    async def end_draft(self, draft_id: str, state: DraftState, principal: str, reason: str) -> Draft | None:
        """The one conditional update of a transition, judged by the database's clock (D4): an active draft
        whose time is not up, or for EXPIRED is up. -> the draft from now on; None when it was not so."""

    async def purge_draft(self, draft_id: str) -> dict[str, int] | None:
        """Removes everything of an ended draft whose purge_time has come and that owes no export (D8); its
        snapshot, too, when no other draft has it. -> rows by table; None when it was not due. What it
        answered is blanked to ids; its audit lines stay."""

    async def insert_proposal(self, proposal: Proposal) -> None:
        """The draft's tree is locked: so its number is the next one."""

    async def insert_export(self, export: Export) -> None: ...

    async def settle_export(
        self, draft_id: str, export_id: str, state: ExportState, staged_write_id: str, failure: str
    ) -> bool:
        """Settles one that is pending, and drops its payload; -> whether it was."""

    async def audit(
        self, draft_id: str, action: str, principal: str, details: Mapping[str, str | int]
    ) -> None:
        """Ids, counts and states only: the line outlives the draft."""


class ReadTx(kernel.ReadTx, DraftReads, Protocol):
    """One consistent snapshot."""


class WriteTx(kernel.WriteTx, DraftReads, DraftWrites, Protocol):
    """All of it, or nothing."""


class Store(kernel.Store, Protocol):
    """Sessions of drafts are kept by the kernel's own methods."""

    def reading(self, tenant_id: str) -> AbstractAsyncContextManager[ReadTx]: ...

    async def write(
        self, tenant_id: str, work: Callable[[WriteTx], Awaitable[T]], session_id: str = ""
    ) -> T: ...


__all__ = ["DraftFilter", "ReadTx", "Session", "Store", "StoredSnapshot", "WriteTx"]
