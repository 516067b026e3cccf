"""An open floor: its versions, its commit, its end."""

from dataclasses import dataclass, replace

from kernel.errors import FailedPrecondition, NotFound, floor_pending, invalid
from kernel.tree.model import Branch, Floor, FloorState, Page, PageContent, Slot
from kernel.verbs.answers import Answered, Work, answer_of, in_session
from kernel.verbs.effects import Given, checked, seal_floor
from kernel.verbs.env import Env, Target, Write, WriteTx, session_of_floor
from kernel.verbs.moves import COMMIT, expect_head, head_floor, move_head
from kernel.verbs.pages import child_place, new_floor, new_page, showable, with_output
from kernel.verbs.pending import ABANDONED, fail, free_branch, open_pending, refuse_sealed
from kernel.verbs.records import Answer, Session


async def open_floor(env: Env, write: Write, target: Target, content: PageContent | None) -> Answered:
    """A pending floor below the branch's head, with or without its input."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        branch = await free_branch(tx, env, session, target)
        parent = await head_floor(tx, branch)
        place = await child_place(tx, parent)
        floor = new_floor(env, parent, place, write.caller.principal, branch.name)
        floor = replace(floor, input=new_page(env, floor.floor_id, Slot.INPUT, content))
        branch = await open_pending(tx, env, session, branch, floor, place.opens_segment)
        await keep_versions(tx, floor)
        return answer_of(floor, branch)

    return await in_session(env, write, target.session_id, work)


async def keep_versions(tx: WriteTx, floor: Floor) -> None:
    """An opened floor's pages are versions from the start: each can be chosen again later."""
    for page in floor.pages:
        await tx.insert_page(floor.floor_id, floor.session_id, page)


@dataclass(frozen=True, slots=True)
class NewVersion:
    floor_id: str
    slot: Slot
    content: PageContent
    activate: bool
    effects: Given | None = None


async def add_page(env: Env, write: Write, version: NewVersion) -> Answered:
    """Another version; chosen with `activate`, or when its side is still empty."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        floor = await _open(tx, version.floor_id)
        page = new_page(env, floor.floor_id, version.slot, version.content)
        assert page is not None
        page = replace(page, effects=await checked(tx, await _parent(tx, floor), version.effects))
        await tx.insert_page(floor.floor_id, session.session_id, page)
        await tx.touch_session(session.session_id, page.tokens)
        if version.activate or _chosen(floor, version.slot) is None:
            floor = showable(_choose(floor, page))
            await tx.update_pending(floor)
        return answer_of(floor, None, page)

    return await _on_floor(env, write, version.floor_id, work)


async def activate_page(env: Env, write: Write, page_id: str) -> Answered:
    """Chooses a version of an OPEN floor. NOT_FOUND for a page that no opened floor has."""
    floor_id = await _floor_of_page(env, write, page_id)

    async def work(tx: WriteTx, _: Session) -> Answer:
        floor = await _open(tx, floor_id)
        floor = showable(_choose(floor, await _version(tx, floor, page_id)))
        await tx.update_pending(floor)
        return answer_of(floor, None)

    return await _on_floor(env, write, floor_id, work)


async def commit_floor(
    env: Env, write: Write, floor_id: str, page_id: str, expected_head: str | None, effects: Given | None
) -> Answered:
    """Seals an OPEN floor and moves its branch's head to it, in one transaction. Effects that are given,
    be they empty, take the place of those that the output brought."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        floor = await _open(tx, floor_id)
        if page_id:
            page = await _version(tx, floor, page_id)
            if page.slot is not Slot.OUTPUT:
                raise invalid("page_id", "names an input page; an output page is committed")
            floor = _choose(floor, page)
        if effects is not None:
            floor = replace(floor, effects=await checked(tx, await _parent(tx, floor), effects))
        branch = await pending_branch(tx, floor)
        expect_head(branch, Target(session.session_id, branch.name, expected_head))
        floor, branch = await seal(tx, env, session, floor, branch, write.caller.principal)
        return answer_of(floor, branch)

    return await _on_floor(env, write, floor_id, work)


async def seal(
    tx: WriteTx,
    env: Env,
    session: Session,
    floor: Floor,
    branch: Branch,
    principal: str,
    new_tokens: int = 0,
) -> tuple[Floor, Branch]:
    """Commits a pending floor as it stands: immutable from here on, and the head."""
    done = await seal_floor(tx, env, session, floor, await _parent(tx, floor))
    await tx.update_pending(done)
    await tx.touch_session(session.session_id, new_tokens)
    return done, await move_head(tx, env, session, branch, done, COMMIT, principal)


async def abandon_floor(env: Env, write: Write, floor_id: str, reason: str) -> Answered:
    """Ends a pending floor as FAILED, with its run; nothing is deleted."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        floor = await _known(tx, floor_id)
        if not floor.state.pending:
            refuse_sealed(floor)
        branch = await pending_branch(tx, floor)
        floor, branch = await fail(tx, env, session, floor, branch, reason or ABANDONED)
        return answer_of(floor, branch)

    return await _on_floor(env, write, floor_id, work)


async def pending_branch(tx: WriteTx, floor: Floor) -> Branch:
    branch = await tx.branch(floor.session_id, floor.branch)
    if branch is None or branch.pending_floor_id != floor.floor_id:
        raise AssertionError("a pending floor is its branch's pending floor")
    return branch


async def freed_by_name(
    tx: WriteTx, env: Env, session: Session, target: Target, floor_id: str
) -> Branch | None:
    """The branch, when the named floor is its own pending one and the target abandons that: an edit of
    what waits for its answer. FLOOR_PENDING when it does not; None when it is another floor."""
    branch = await tx.branch(target.session_id, target.branch)
    if branch is None or branch.pending_floor_id != floor_id:
        return None
    return await free_branch(tx, env, session, target)


async def sibling_source(tx: WriteTx, floor_id: str) -> tuple[Floor, Floor]:
    """A floor that a sibling may be made of, and its parent: COMMITTED or FAILED, not the root."""
    floor = await _known(tx, floor_id)
    if floor.is_root:
        raise invalid("floor_id", "the root has no siblings: append below it instead")
    if floor.state is FloorState.OPEN:
        raise floor_pending(floor.floor_id)
    if floor.state is FloorState.GENERATING:
        refuse_sealed(floor)
    return floor, await _parent(tx, floor)


async def _parent(tx: WriteTx, floor: Floor) -> Floor:
    parent = await tx.floor(floor.parent_floor_id or "")
    assert parent is not None, "a floor below the root has its parent (foreign key)"
    return parent


async def _on_floor(env: Env, write: Write, floor_id: str, work: Work) -> Answered:
    session_id = await session_of_floor(env, write, floor_id)
    return await in_session(env, write, session_id, work)


async def _known(tx: WriteTx, floor_id: str) -> Floor:
    floor = await tx.floor(floor_id)
    if floor is None:
        raise NotFound("floor")
    return floor


async def _open(tx: WriteTx, floor_id: str) -> Floor:
    floor = await _known(tx, floor_id)
    refuse_sealed(floor)
    return floor


async def _floor_of_page(env: Env, write: Write, page_id: str) -> str:
    async with env.store.reading(write.caller.tenant_id) as tx:
        answer = await tx.answer(write.request)
        if answer is not None:
            return answer.floor_id
        holders = [floor_id for floor_id, _ in await tx.page_versions(page_id)]
        floors = [floor for h in holders if (floor := await tx.floor(h)) is not None]
    if not floors:
        raise NotFound("page")
    pending = [floor for floor in floors if floor.state.pending]
    if len(pending) > 1:
        raise FailedPrecondition(
            "INVALID", "Several open floors share this page: commit or abandon the others first."
        )
    return (pending or floors)[0].floor_id


async def _version(tx: WriteTx, floor: Floor, page_id: str) -> Page:
    for holder, page in await tx.page_versions(page_id):
        if holder == floor.floor_id:
            return page
    raise NotFound("page")


def _chosen(floor: Floor, slot: Slot) -> Page | None:
    return floor.input if slot is Slot.INPUT else floor.output


def _choose(floor: Floor, page: Page) -> Floor:
    return replace(floor, input=page) if page.slot is Slot.INPUT else with_output(floor, page)
