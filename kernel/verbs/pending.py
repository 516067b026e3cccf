"""The one pending floor of a branch: how it is opened, and how it fails."""

from collections.abc import Sequence
from dataclasses import replace

from kernel.errors import FailedPrecondition, floor_pending, head_moved
from kernel.tree.model import Branch, Floor, FloorState, Page, PageContent, Slot
from kernel.verbs.env import Env, Target, WriteTx
from kernel.verbs.moves import expect_head, known_branch
from kernel.verbs.pages import MODEL, new_page, own_tokens, with_output
from kernel.verbs.records import RunState, Session

ABANDONED = "ABANDONED"


async def free_branch(tx: WriteTx, env: Env, session: Session, target: Target) -> Branch:
    """The branch, with nothing pending and at the expected head: in that order of checks.

    A pending floor is failed first when the target says so; should the head then not be the
    expected one, that is rolled back with everything else.
    """
    branch = await known_branch(tx, target)
    if branch.pending_floor_id is not None:
        if not target.abandon_pending:
            raise floor_pending(branch.pending_floor_id)
        floor = await tx.floor(branch.pending_floor_id)
        assert floor is not None, "a branch's pending floor exists"
        _, branch = await fail(tx, env, session, floor, branch, ABANDONED)
    expect_head(branch, target)
    return branch


async def open_pending(
    tx: WriteTx, env: Env, session: Session, branch: Branch, floor: Floor, opens_segment: bool
) -> Branch:
    """Stores an OPEN or GENERATING floor as the branch's pending one."""
    await tx.insert_floor(floor, opens_segment)
    await tx.touch_session(session.session_id, own_tokens(floor))
    pending = replace(
        branch,
        pending_floor_id=floor.floor_id,
        failed_floor_id=None,
        version=branch.version + 1,
        update_time=env.clock(),
    )
    return await changed(tx, session, branch, pending)


async def changed(tx: WriteTx, session: Session, seen: Branch, new: Branch) -> Branch:
    if not await tx.update_branch(session.session_id, seen, new):
        raise head_moved(seen.name, seen.head_floor_id)
    return new


async def fail(
    tx: WriteTx,
    env: Env,
    session: Session,
    floor: Floor,
    branch: Branch,
    reason: str,
    run_end: RunState = RunState.CANCELLED,
) -> tuple[Floor, Branch]:
    """Ends a pending floor as FAILED, and its run with what that has shown so far."""
    written = 0
    if floor.state is FloorState.GENERATING and floor.run_id:
        floor, written = await _end_run(tx, env, floor, run_end, reason)
    return await fail_floor(tx, env, session, floor, branch, reason, written)


async def fail_floor(
    tx: WriteTx,
    env: Env,
    session: Session,
    floor: Floor,
    branch: Branch,
    reason: str,
    new_tokens: int = 0,
) -> tuple[Floor, Branch]:
    """FAILED, with the output that `floor` has; the branch shows it as failed until it moves on."""
    failed = replace(floor, state=FloorState.FAILED, failure_reason=reason)
    await tx.update_pending(failed)
    await tx.touch_session(session.session_id, new_tokens)
    left = replace(
        branch,
        pending_floor_id=None,
        failed_floor_id=failed.floor_id,
        version=branch.version + 1,
        update_time=env.clock(),
    )
    return failed, await changed(tx, session, branch, left)


async def keep_partials(
    tx: WriteTx, floor: Floor, pages: Sequence[Page], *, show: bool = False
) -> tuple[Floor, int]:
    """Keeps what was written of a floor's pages, beside the candidates that it has. With `show`, and when
    there is one, the first is shown as its output. -> the floor, and how many tokens are new"""
    stored = [page for _, page in await tx.pages(floor.floor_id) if page.slot is Slot.OUTPUT]
    known = {page.page_id for page in stored}
    new = [page for page in pages if page.page_id not in known]
    shown = next(iter((*stored, *new)), None) if show else None
    if shown is not None:
        floor = with_output(floor, shown)
    for page in new:
        # A lone page is the floor's own; several are versions, of which one is shown.
        if shown is None or page is not shown or stored or len(new) > 1:
            await tx.insert_page(floor.floor_id, floor.session_id, page)
    return floor, sum(page.tokens for page in new)


async def _end_run(tx: WriteTx, env: Env, floor: Floor, end: RunState, reason: str) -> tuple[Floor, int]:
    """Ends the floor's run, if it is active, and keeps what it has shown as partial pages. -> the floor
    with the first of them, and how many tokens are new"""
    # Locked: what its process logs meanwhile would be seen, and not be on the page.
    run = await tx.lock_run(floor.run_id or "")
    if run is None or not run.state.active:
        return floor, 0
    so_far = await env.runs.so_far(tx, run)
    if so_far.chunk is not None:
        await tx.insert_chunk(run.session_id, so_far.chunk)
    why = reason if end is RunState.FAILED else ""
    ended = replace(run, state=end, failure_reason=why, end_time=env.clock())
    await tx.update_run(replace(ended, epoch=so_far.epoch, last_seq=so_far.last_seq))
    tx.after_commit(lambda: env.runs.ended(run.run_id))
    pages = [
        page
        for page_id, content in so_far.pages
        if (page := _partial(env, floor, page_id, content)) is not None
    ]
    await tx.meter(floor, run.usage, sum(page.tokens for page in pages))
    return await keep_partials(tx, floor, pages, show=True)


def _partial(env: Env, floor: Floor, page_id: str, content: PageContent) -> Page | None:
    return new_page(env, floor.floor_id, Slot.OUTPUT, content, page_id=page_id, partial=True, source=MODEL)


def refuse_sealed(floor: Floor) -> None:
    """A verb on an OPEN floor met one in another state."""
    if floor.state is FloorState.COMMITTED:
        raise FailedPrecondition("FLOOR_SEALED", "The floor is committed and can not change.")
    if floor.state is FloorState.FAILED:
        raise FailedPrecondition("FLOOR_FAILED", "The floor has failed: regenerate it instead.")
    if floor.state is FloorState.GENERATING:
        raise run_active(floor)


def run_active(floor: Floor) -> FailedPrecondition:
    return FailedPrecondition(
        "RUN_ACTIVE",
        "A run is writing this floor: wait for it, or cancel it.",
        {"run_id": floor.run_id or ""},
    )
