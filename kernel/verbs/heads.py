"""Rollback, checkout and siblings: moving a head without adding a floor; and branches."""

from kernel.errors import AlreadyExists, FailedPrecondition, NotFound, invalid
from kernel.tree.model import Branch, Floor, FloorState
from kernel.tree.places import on_path
from kernel.verbs.answers import Answered, in_session
from kernel.verbs.env import MAIN, Env, Target, Write, WriteTx
from kernel.verbs.moves import CHECKOUT, ROLLBACK, SIBLING, head_floor, known_branch, move_head
from kernel.verbs.pending import free_branch, refuse_sealed
from kernel.verbs.records import Answer, Event, Session


async def move_to(env: Env, write: Write, target: Target, floor_id: str) -> Answered:
    """The head at a committed floor or the root. A head that is there already stays, unrecorded."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        to = await committed(tx, session, floor_id)
        branch = await free_branch(tx, env, session, target)
        head = await head_floor(tx, branch)
        if head.floor_id != to.floor_id:
            chain = await tx.chain(session.session_id, head.place)
            kind = ROLLBACK if on_path(chain, to.place) else CHECKOUT
            branch = await move_head(tx, env, session, branch, to, kind, write.caller.principal)
            await tx.touch_session(session.session_id, 0)
        return Answer(session.session_id, branch=branch)

    return await in_session(env, write, target.session_id, work)


async def select_sibling(env: Env, write: Write, target: Target, floor_id: str) -> Answered:
    """T6: to the leaf this branch last left below the floor, else down by the highest ordinal."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        sibling = await committed(tx, session, floor_id)
        if sibling.is_root:
            raise invalid("floor_id", "the root has no siblings")
        branch = await free_branch(tx, env, session, target)
        head = await head_floor(tx, branch)
        if not on_path(await tx.chain(session.session_id, head.place), sibling.place):
            leaf = await tx.leaf_left(session.session_id, branch.name, sibling.place)
            leaf = leaf or await tx.last_leaf(session.session_id, sibling.place)
            branch = await move_head(tx, env, session, branch, leaf, SIBLING, write.caller.principal)
            await tx.touch_session(session.session_id, 0)
        return Answer(session.session_id, branch=branch)

    return await in_session(env, write, target.session_id, work)


async def create_branch(env: Env, write: Write, session_id: str, name: str, floor_id: str) -> Answered:
    """A second head, at a committed floor or the root."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        at = await committed(tx, session, floor_id)
        if await tx.branch(session_id, name) is not None:
            raise AlreadyExists("INVALID", "The session has a branch of this name.", {"branch": name})
        now = env.clock()
        branch = Branch(name, at.floor_id, None, None, at.place.depth, 1, now, now)
        await tx.insert_branch(session_id, branch)
        tx.emit(session.project_id, _branch_event(env, "branch.created", session_id, branch))
        return Answer(session_id, branch=branch)

    return await in_session(env, write, session_id, work)


async def delete_branch(env: Env, write: Write, session_id: str, name: str) -> Answered:
    """Takes the name away; the floors stay. Answers with the branch as it was."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        branch = await known_branch(tx, Target(session_id, name))
        if name == MAIN:
            raise invalid("branch", "`main` always exists")
        if branch.pending_floor_id is not None:
            raise FailedPrecondition(
                "FLOOR_PENDING",
                "The branch has a pending floor: commit or abandon it first.",
                {"pending_floor_id": branch.pending_floor_id},
            )
        await tx.delete_branch(session_id, name)
        tx.emit(session.project_id, _branch_event(env, "branch.deleted", session_id, branch))
        return Answer(session_id, branch=branch)

    return await in_session(env, write, session_id, work)


def _branch_event(env: Env, kind: str, session_id: str, branch: Branch) -> Event:
    payload: dict[str, str | int] = {"branch": branch.name, "head_floor_id": branch.head_floor_id}
    return Event(env.new_id(), kind, session_id, branch.head_floor_id, payload)


async def committed(tx: WriteTx, session: Session, floor_id: str) -> Floor:
    floor = await tx.floor(floor_id)
    if floor is None or floor.session_id != session.session_id:
        raise NotFound("floor")
    if floor.state is FloorState.OPEN:
        raise FailedPrecondition(
            "FLOOR_PENDING", "The floor is not committed.", {"pending_floor_id": floor.floor_id}
        )
    if floor.state is not FloorState.COMMITTED:
        refuse_sealed(floor)
    return floor
