"""A draft, and how it ends. Pure: times are given."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

SYSTEM = "system"


class DraftState(StrEnum):
    """`active`, then one of the others, once and for ever (D4)."""

    ACTIVE = "active"
    FINALIZED = "finalized"
    DISCARDED = "discarded"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Retention(IntEnum):
    """Numbers as in stemma.draft.v1.RetentionPolicy."""

    DELETE_ON_FINALIZE = 1
    KEEP_FOR_DEBUG = 2
    TTL = 3


class Visibility(IntEnum):
    """Numbers as in stemma.draft.v1.Visibility."""

    CLIENT_VISIBLE = 1
    INTERNAL = 2


@dataclass(frozen=True, slots=True)
class Ages:
    """How long drafts live, and how long an ended one can be read."""

    max_age: timedelta = timedelta(days=7)
    grace: timedelta = timedelta(hours=1)
    debug_keep: timedelta = timedelta(days=30)

    def life(self, retention: Retention, ttl: timedelta | None) -> timedelta:
        """From creation to expiry."""
        if retention is not Retention.TTL:
            return self.max_age
        if ttl is None:
            raise ValueError("a draft with a ttl has one")
        return ttl

    def keep(self, retention: Retention) -> timedelta:
        """From the end to the purge."""
        return self.debug_keep if retention is Retention.KEEP_FOR_DEBUG else self.grace


@dataclass(frozen=True, slots=True)
class Source:
    """What a draft was made from, by the ids that the conversation service has, and the versions then of the
    two layers of configuration and of the two of live values. A project has no session and no floor: "" and
    0."""

    project_id: str
    session_id: str = ""
    floor_id: str = ""
    base_floor_id: str = ""
    project_version: int = 0
    session_version: int = 0
    project_live_version: int = 0
    session_live_version: int = 0

    @property
    def source_id(self) -> str:
        return self.session_id or self.project_id


@dataclass(frozen=True, slots=True)
class Draft:
    """`keep`: how long it can be read once it has ended. `own_project_id` is the kernel's project that it is
    alone in: project scope means the draft itself."""

    draft_id: str
    own_project_id: str
    source: Source
    snapshot_digest: str
    config_digest: str
    title: str
    purpose: str
    state: DraftState
    retention: Retention
    visibility: Visibility
    created_by: str
    create_time: datetime
    update_time: datetime
    last_activity_time: datetime
    expire_time: datetime
    keep: timedelta
    metadata: dict[str, str] = field(default_factory=dict)
    origin_run_id: str = ""
    origin_draft_id: str = ""
    ended_by: str = ""
    end_reason: str = ""
    end_time: datetime | None = None
    purge_time: datetime | None = None

    @property
    def active(self) -> bool:
        return self.state is DraftState.ACTIVE


def ended(draft: Draft, state: DraftState, principal: str, reason: str, time: datetime) -> Draft:
    """The draft as it is from its end on."""
    return replace(
        draft,
        state=state,
        ended_by=principal,
        end_reason=reason,
        end_time=time,
        update_time=time,
        purge_time=time + draft.keep,
    )


def expired(draft: Draft) -> Draft:
    """Its end by its time: the same, whoever notices, and when."""
    return ended(draft, DraftState.EXPIRED, SYSTEM, "", draft.expire_time)


def as_of(draft: Draft, now: datetime, owes: bool) -> Draft | None:
    """What there is at that time of the database's clock, whether or not the sweeper has been there.

    None for what is due to be purged; a draft that owes the ledger an export waits for it.
    """
    if draft.active and draft.expire_time <= now:
        draft = expired(draft)
    gone = draft.purge_time is not None and draft.purge_time <= now and not owes
    return None if gone else draft
