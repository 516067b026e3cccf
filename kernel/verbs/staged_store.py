"""The ledger's entries, and the contract of the store for them; see `store.py`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Protocol

from kernel.state.model import Effects
from kernel.tree.model import PageContent


class Placement(IntEnum):
    """Numbers as in stemma.kernel.v1.Placement; NONE for an entry without an output page."""

    NONE = 0
    OUTPUT_OF_FLOOR = 1
    NEXT_FLOOR = 2


class StagedState(StrEnum):
    STAGED = "staged"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class StagedTarget:
    """`project_id` is the target's project, whatever the target is; `session_id` is empty for a project.
    `floor_id` is empty unless one was named."""

    project_id: str
    session_id: str = ""
    branch: str = ""
    floor_id: str = ""
    placement: Placement = Placement.NONE


@dataclass(frozen=True, slots=True)
class StagedPage:
    input: PageContent | None
    output: PageContent


@dataclass(frozen=True, slots=True)
class StagedConfig:
    operations_json: str


@dataclass(frozen=True, slots=True)
class StagedEffects:
    """As they were brought: see `kernel.verbs.effects.Given`."""

    effects: Effects
    covers: tuple[str, ...]


StagedPart = StagedPage | StagedConfig | StagedEffects


@dataclass(frozen=True, slots=True)
class StagedOrigin:
    """Empty and 0 where nothing was said and nothing can be filled in."""

    draft_id: str = ""
    page_id: str = ""
    snapshot_digest: str = ""
    base_floor_id: str = ""
    base_version: int = 0


@dataclass(frozen=True, slots=True)
class Decision:
    """What ended an entry, or what stands for it as long as nothing did."""

    outcome: StagedState = StagedState.STAGED
    decided_by: str = ""
    reason: str = ""
    result_floor_id: str = ""
    stale: bool = False
    decide_time: datetime | None = None


UNDECIDED = Decision()


@dataclass(frozen=True, slots=True)
class StagedWrite:
    """An entry. Nothing of it changes but its decision, and that once. `parts` has at most one of each
    kind; where bodies were not asked for, what they hold is empty."""

    staged_write_id: str
    target: StagedTarget
    parts: tuple[StagedPart, ...]
    origin: StagedOrigin
    reason: str
    staged_by: str
    create_time: datetime
    expire_time: datetime
    decision: Decision = UNDECIDED


@dataclass(frozen=True, slots=True)
class StagedFilter:
    """`project_id` with the project's sessions; `staged_by` a principal; `member`: only those for
    projects that this principal is a member of."""

    project_id: str = ""
    session_id: str = ""
    state: StagedState | None = None
    draft_id: str = ""
    staged_by: str = ""
    member: str | None = None


class StagedReads(Protocol):
    async def staged_write(self, staged_write_id: str) -> StagedWrite | None:
        """With its bodies."""

    async def staged_writes(
        self, where: StagedFilter, after: tuple[datetime, str] | None, limit: int
    ) -> list[StagedWrite]:
        """Newest first, from below the (time, id) of the last one seen, without their bodies."""


class StagedWrites(Protocol):
    async def insert_staged_write(self, entry: StagedWrite) -> None: ...

    async def lock_staged_write(self, staged_write_id: str) -> StagedWrite | None:
        """The entry with its bodies, locked until the end. Whoever locks its session or project too locks
        that first."""

    async def settle_staged_write(self, staged_write_id: str, decision: Decision) -> bool:
        """Decides the entry unless it is decided; -> whether this did."""

    async def settle_expired(self, staged_write_ids: Sequence[str], decision: Decision) -> list[StagedWrite]:
        """Decides those of the entries that are not decided; -> them as they are then, without their
        bodies, by id."""
