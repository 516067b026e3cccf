"""What a write answers, and how a repeat of it gets the same bytes.

A fresh answer and a replayed one are both built here, from the same record, so they cannot differ.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from kernel.errors import Aborted, NotFound
from kernel.tree.model import Branch, Floor, FloorState, Page
from kernel.verbs.env import Env, ReadTx, Write, WriteTx, writable
from kernel.verbs.records import Answer, ConfigVersion, Session

# Floors to look at for the message before one, at first.
_FEW = 16


@dataclass(frozen=True, slots=True)
class Shown:
    """A floor with the id of the message before its first one; empty when there is none."""

    floor: Floor
    before: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What the rpc layer turns into a response; what a verb has no use for is None."""

    shown: Shown | None
    branch: Branch | None
    page: Page | None = None
    session: Session | None = None
    config_version: ConfigVersion | None = None
    version: int = 0
    other: str = ""

    @property
    def floor(self) -> Floor:
        assert self.shown is not None
        return self.shown.floor


def message_id(page: Page, index: int) -> str:
    return f"{page.page_id}.{index}"


def last_message(floor: Floor) -> str:
    """The id of a floor's last message; empty when it has none."""
    for page in reversed(floor.pages):
        if page.content.facts:
            return message_id(page, len(page.content.facts) - 1)
    return ""


async def before(tx: ReadTx, floor: Floor) -> str:
    """The id of the message before a floor's first: its parent's last, or further up, past floors that
    only change the state."""
    parent = await tx.floor(floor.parent_floor_id) if floor.parent_floor_id else None
    if parent is None:
        return ""
    if found := last_message(parent):
        return found
    last, count = parent.place.depth - 1, _FEW
    while last > 0:
        outlines = await tx.path_outline(parent.session_id, parent.place, max(1, last - count + 1), last)
        for outline in reversed(outlines):
            if outline.pages:
                page = outline.pages[-1]
                return f"{page.page_id}.{len(page.facts) - 1}"
        last, count = last - count, count * 2
    return ""


async def shown(tx: ReadTx, floor: Floor) -> Shown:
    return Shown(floor, await before(tx, floor))


def answer_of(floor: Floor, branch: Branch | None, page: Page | None = None) -> Answer:
    return Answer(
        floor.session_id,
        floor.floor_id,
        floor.state.value,
        floor.input.page_id if floor.input else "",
        floor.output.page_id if floor.output else "",
        page.page_id if page else "",
        floor.run_id or "",
        branch,
    )


async def answered(tx: ReadTx, answer: Answer) -> Answered:
    """The answer as it was given; NOT_FOUND when what it shows was erased since."""
    if not answer.floor_id:
        return Answered(
            None,
            answer.branch,
            session=answer.session,
            config_version=answer.config_version,
            version=answer.version,
            other=answer.other,
        )
    stored = await tx.floor(answer.floor_id)
    if stored is None:
        raise NotFound("floor")
    versions = {}
    if answer.floor_state == FloorState.OPEN or answer.page_id:
        versions = {page.page_id: page for _, page in await tx.pages(stored.floor_id)}
    floor = stored
    if answer.floor_state == FloorState.OPEN:
        floor = _as_open(stored, versions, answer)
    return Answered(await shown(tx, floor), answer.branch, versions.get(answer.page_id))


def _as_open(stored: Floor, versions: dict[str, Page], answer: Answer) -> Floor:
    known = versions | {page.page_id: page for page in stored.pages}
    chosen = versions.get(answer.output_page_id)
    return replace(
        stored,
        state=FloorState.OPEN,
        input=known.get(answer.input_page_id),
        output=known.get(answer.output_page_id),
        digest=None,
        path_tokens=0,
        usage=None,
        run_id=None,
        failure_reason="",
        commit_time=None,
        effects=chosen.effects if chosen else None,
    )


async def _of_project(work: Awaitable[Answer], session: Session) -> Answer:
    try:
        return await work
    except Aborted as error:
        error.project_id = session.project_id
        raise


Work = Callable[[WriteTx, Session], Awaitable[Answer]]


async def in_session(
    env: Env,
    write: Write,
    session_id: str,
    work: Work,
    check: Callable[[Session | None], Session] = writable,
) -> Answered:
    """One write on one session: locked, answered once, recorded with what it did (R1).

    The lock comes first, so a concurrent twin has either committed, and is replayed, or waits. What
    was answered for a session that was erased since is NOT_FOUND.
    """

    async def attempt(tx: WriteTx) -> Answered:
        session = await tx.lock_session(session_id)
        answer = await tx.answer(write.request)
        if session is None:
            raise NotFound("session")
        if answer is None:
            answer = await _of_project(work(tx, check(session)), session)
            await tx.record(write.request, answer)
        return await answered(tx, answer)

    return await env.store.write(write.caller.tenant_id, attempt, session_id)
