"""Edit and regenerate: they add a sibling and never touch the floor they start from (T5)."""

from dataclasses import dataclass, replace

from kernel.errors import NotFound, invalid
from kernel.tree.model import Branch, Floor, FloorState, Page, PageContent, Slot
from kernel.verbs.answers import Answered, answer_of, in_session
from kernel.verbs.effects import Given, checked, seal_floor
from kernel.verbs.env import Env, Target, Write, WriteTx, session_of_floor
from kernel.verbs.floors import freed_by_name, keep_versions, sibling_source
from kernel.verbs.moves import COMMIT, move_head
from kernel.verbs.pages import child_place, new_floor, new_page, own_tokens, with_output
from kernel.verbs.pending import free_branch, open_pending
from kernel.verbs.records import Answer, Session


@dataclass(frozen=True, slots=True)
class Edit:
    floor_id: str
    input: PageContent
    output: PageContent | None = None
    effects: Given | None = None


@dataclass(frozen=True, slots=True)
class Regenerate:
    """`output` or `from_page_id` commits the sibling; neither leaves it pending. A candidate comes with
    the effects that it brought, unless others are given."""

    floor_id: str
    output: PageContent | None = None
    from_page_id: str = ""
    effects: Given | None = None


async def edit_floor(env: Env, write: Write, target: Target, edit: Edit) -> Answered:
    """A sibling of the named floor with a new input: committed with an output, else pending."""
    target = await _at_floor(env, write, target, edit.floor_id)

    async def work(tx: WriteTx, session: Session) -> Answer:
        freed = await freed_by_name(tx, env, session, target, edit.floor_id)
        _, parent = await sibling_source(tx, edit.floor_id)
        branch = freed or await free_branch(tx, env, session, target)
        floor, opens = await _sibling(tx, env, write, parent, branch)
        floor = replace(
            floor,
            input=new_page(env, floor.floor_id, Slot.INPUT, edit.input),
            output=new_page(env, floor.floor_id, Slot.OUTPUT, edit.output),
            effects=await checked(tx, parent, edit.effects),
        )
        return await _settle(tx, env, session, branch, parent, floor, opens)

    return await in_session(env, write, target.session_id, work)


async def regenerate_floor(env: Env, write: Write, target: Target, ask: Regenerate) -> Answered:
    """A sibling that shares the named floor's input page, or has none as that floor has none."""
    target = await _at_floor(env, write, target, ask.floor_id)

    async def work(tx: WriteTx, session: Session) -> Answer:
        freed = await freed_by_name(tx, env, session, target, ask.floor_id)
        source, parent = await sibling_source(tx, ask.floor_id)
        chosen = await _candidate(tx, source, ask.from_page_id) if ask.from_page_id else None
        branch = freed or await free_branch(tx, env, session, target)
        floor, opens = await _sibling(tx, env, write, parent, branch)
        floor = replace(
            floor, input=source.input, output=new_page(env, floor.floor_id, Slot.OUTPUT, ask.output)
        )
        if chosen is not None:
            floor = with_output(floor, chosen)
        if ask.effects is not None:
            floor = replace(floor, effects=await checked(tx, parent, ask.effects))
        return await _settle(tx, env, session, branch, parent, floor, opens)

    return await in_session(env, write, target.session_id, work)


async def _at_floor(env: Env, write: Write, target: Target, floor_id: str) -> Target:
    session_id = await session_of_floor(env, write, floor_id, target.session_id)
    return replace(target, session_id=session_id)


async def _sibling(tx: WriteTx, env: Env, write: Write, parent: Floor, branch: Branch) -> tuple[Floor, bool]:
    place = await child_place(tx, parent)
    return new_floor(env, parent, place, write.caller.principal, branch.name), place.opens_segment


async def _settle(
    tx: WriteTx, env: Env, session: Session, branch: Branch, parent: Floor, floor: Floor, opens: bool
) -> Answer:
    if floor.output is None:
        branch = await open_pending(tx, env, session, branch, floor, opens)
        await keep_versions(tx, floor)
        return answer_of(floor, branch)
    done = await seal_floor(tx, env, session, floor, parent)
    await tx.insert_floor(done, opens)
    await tx.touch_session(session.session_id, own_tokens(done))
    return answer_of(done, await move_head(tx, env, session, branch, done, COMMIT, done.principal))


async def _candidate(tx: WriteTx, source: Floor, page_id: str) -> Page:
    """An output version of the named floor that is not what it committed already."""
    known = {page.page_id: page for _, page in await tx.pages(source.floor_id)}
    if source.output is not None:
        known.setdefault(source.output.page_id, source.output)
        if source.state is FloorState.COMMITTED and page_id == source.output.page_id:
            raise invalid("from_page_id", "is the floor's own output; name a candidate")
    page = known.get(page_id)
    if page is None:
        raise NotFound("page")
    if page.slot is not Slot.OUTPUT:
        raise invalid("from_page_id", "names an input page; name an output page")
    return page
