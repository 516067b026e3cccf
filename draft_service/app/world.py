"""What the use cases are given."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from draft_service.app.store import Store
from draft_service.domain.draft import Ages
from kernel.tree.model import Floor
from kernel.verbs.env import Caller, Env
from kernel.verbs.snapshots import Snapshot
from kernel.verbs.staged_store import StagedOrigin, StagedPart, StagedTarget


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which frozen copy: of a session or of a project, as the caller wrote it; the other is empty."""

    session_id: str = ""
    project_id: str = ""
    floor_id: str = ""
    history: bool = True
    reply: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """A copy that was held to its digest, with the floors of its path."""

    snapshot: Snapshot
    digest: bytes
    floors: Sequence[Floor]


class Sources(Protocol):
    """Where frozen copies come from: the one thing that a draft reads of canon, once."""

    async def fetch(self, caller: Caller, wanted: Wanted) -> Fetched:
        """NOT_FOUND and the other refusals of the source as they are; UNAVAILABLE when it cannot be asked;
        DATA_LOSS when what came is not what its digest says."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is to be staged, under `export_id`, in the name of `principal`."""

    export_id: str
    target: StagedTarget
    parts: tuple[StagedPart, ...]
    origin: StagedOrigin
    reason: str
    principal: str
    time: datetime


class Ledger(Protocol):
    """The one door into canon, which opens outward from here: only `app/exports.py` knows it."""

    def payload(self, outgoing: Outgoing) -> bytes:
        """The call that stages it, to be kept until it is settled."""

    async def stage(self, tenant_id: str, payload: bytes) -> str:
        """The id of the entry; the same one however often this is called. UNAVAILABLE when it is not known
        what became of the call; any other error is a definite refusal."""


class Memberships(Protocol):
    async def projects_of(self, tenant_id: str, principal: str) -> list[str]:
        """Where a principal is a member: at most 1,000 projects. UNAVAILABLE when that is not known."""


@dataclass(frozen=True, slots=True)
class World:
    """`env` is what the kernel's verbs take; its store is `store`."""

    env: Env
    store: Store
    sources: Sources
    ledger: Ledger
    ages: Ages
    memberships: Memberships
