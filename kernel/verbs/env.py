"""What a verb is given: who calls, what they asked for, and the world around it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from kernel.errors import FailedPrecondition, NotFound
from kernel.tree.message import Message
from kernel.tree.model import PageContent, Role
from kernel.verbs.known_heads import KnownHeads
from kernel.verbs.records import Chunk, Request, Run, Session, SessionState
from kernel.verbs.store import ReadTx, Store, WriteTx

MAIN = "main"


@dataclass(frozen=True, slots=True)
class Caller:
    """`roles`: what the caller is where its request goes, and its scopes. `everywhere`: whether it is that in
    the whole tenant, so that lists need not ask whose member it is."""

    tenant_id: str
    principal: str
    roles: frozenset[str] = frozenset()
    everywhere: bool = True

    @property
    def member(self) -> str | None:
        """Whose projects a list shows: those of this member; None for all of the tenant."""
        return None if self.everywhere else self.principal


@dataclass(frozen=True, slots=True)
class Write:
    """A write that somebody asked for under a request id."""

    caller: Caller
    request: Request


@dataclass(frozen=True, slots=True)
class SoFar:
    """What a run has shown, for whoever ends it from outside: its pages that are worth keeping, by id, in
    order; frames that the log must get with its end; and the epoch and position of its last frame."""

    pages: tuple[tuple[str, PageContent], ...]
    chunk: Chunk | None
    epoch: int
    last_seq: int


class LiveRuns(Protocol):
    """Runs that are active, as far as the tree must know of them."""

    async def so_far(self, tx: ReadTx, run: Run) -> SoFar:
        """Of a run of this process: what it has shown, and nothing more is shown until the transaction
        is over. Of any other: what its log has, and the end takes it over. The run's row is locked."""

    def ended(self, run_id: str) -> None:
        """Its floor was ended by somebody else, durably: stop, and show that end."""


class Codec(Protocol):
    """Between stored bytes and messages."""

    def text(self, role: Role, text: str, reasoning: str = "") -> PageContent:
        """One message of text, as it is stored."""

    def page(self, messages: Sequence[Message]) -> PageContent:
        """Messages as they are stored; at least one."""

    def messages(self, blob: bytes) -> tuple[Message, ...]:
        """The messages of a blob; DATA_LOSS when it is none."""


@dataclass(frozen=True, slots=True)
class Env:
    store: Store
    runs: LiveRuns
    codec: Codec
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    heads: KnownHeads = field(default_factory=KnownHeads)


@dataclass(frozen=True, slots=True)
class Target:
    """A branch of a session, and what the caller expects there."""

    session_id: str
    branch: str = MAIN
    expected_head: str | None = None
    abandon_pending: bool = False


async def known_session(tx: ReadTx, session_id: str) -> Session:
    session = await tx.session(session_id)
    if session is None:
        raise NotFound("session")
    return session


def writable(session: Session | None) -> Session:
    if session is None:
        raise NotFound("session")
    if session.state is SessionState.ARCHIVED:
        raise FailedPrecondition("ARCHIVED", "The session is archived: restore it first.")
    return restorable(session)


def restorable(session: Session | None) -> Session:
    """The session, archived or not, of a project that is not."""
    if session is None:
        raise NotFound("session")
    if session.project_archived:
        raise project_archived()
    if session.ended:
        raise draft_not_active(session.ended)
    return session


def project_archived() -> FailedPrecondition:
    return FailedPrecondition("ARCHIVED", "The project is archived: restore it first.")


def draft_not_active(state: str) -> FailedPrecondition:
    return FailedPrecondition(
        "DRAFT_NOT_ACTIVE", "The draft has ended, and takes no writes.", {"state": state}
    )


async def session_of_floor(env: Env, write: Write, floor_id: str, session_id: str = "") -> str:
    """The session that a floor names; NOT_FOUND when the caller named another.

    A repeat of the request comes first, and names its session itself.
    """
    async with env.store.reading(write.caller.tenant_id) as tx:
        answer = await tx.answer(write.request)
        if answer is not None:
            return answer.session_id
        floor = await tx.floor(floor_id)
    if floor is None or (session_id and floor.session_id != session_id):
        raise NotFound("floor")
    return floor.session_id


__all__ = [
    "MAIN",
    "Caller",
    "Codec",
    "Env",
    "LiveRuns",
    "ReadTx",
    "SoFar",
    "Target",
    "Write",
    "WriteTx",
    "draft_not_active",
    "known_session",
    "project_archived",
    "restorable",
    "session_of_floor",
    "writable",
]
