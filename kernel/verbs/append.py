"""A whole turn, committed at once: the hot write.

Its rule runs first, on the immutable parent, and yields one record; the store then checks head,
pending floor, request and place, and writes it, in one step.
"""

from dataclasses import dataclass, replace

from kernel.errors import NotFound, floor_pending, head_moved, request_id_reused
from kernel.tree.model import Branch, Floor, PageContent, Slot, Usage
from kernel.verbs.answers import Answered, Shown, answer_of, answered, before, in_session
from kernel.verbs.env import Env, Target, Write, known_session, writable
from kernel.verbs.moves import COMMIT, head_floor, move_head
from kernel.verbs.pages import child_place, new_floor, new_page, own_tokens, sealed
from kernel.verbs.pending import free_branch
from kernel.verbs.records import (
    Answer,
    AppendRecord,
    Blocked,
    Committed,
    Replayed,
    Reused,
    Session,
    Stale,
)
from kernel.verbs.store import ReadTx, WriteTx

_TRIES = 8


@dataclass(frozen=True, slots=True)
class Turn:
    """What a caller brings for one floor."""

    input: PageContent | None = None
    output: PageContent | None = None
    usage: Usage | None = None


async def append_floor(env: Env, write: Write, target: Target, turn: Turn) -> Answered:
    """A committed child of the branch's head.

    Raises HEAD_MOVED with the current head when `expected_head` is not it, or when eight tries
    without one all lost their race; FLOOR_PENDING; NOT_FOUND; ARCHIVED.
    """
    if target.abandon_pending:
        return await _append_locked(env, write, target, turn)
    for _ in range(_TRIES):
        planned = await _plan(env, write, target, turn)
        if planned is None:
            return await _append_locked(env, write, target, turn)
        if isinstance(planned, Answered):
            return planned
        record, shown_before = planned
        (outcome,) = await env.store.append([record])
        match outcome:
            case Committed(branch):
                return Answered(Shown(record.floor, shown_before), branch)
            case Replayed(answer):
                async with env.store.reading(write.caller.tenant_id) as tx:
                    return await answered(tx, answer)
            case Reused():
                raise request_id_reused()
            case Blocked(pending_floor_id):
                raise floor_pending(pending_floor_id)
            case Stale(current_head) if target.expected_head is not None:
                raise head_moved(target.branch, current_head)
            case _:
                continue
    raise await _lost(env, write, target)


async def _plan(
    env: Env, write: Write, target: Target, turn: Turn
) -> Answered | tuple[AppendRecord, str] | None:
    """The record; or the answer of a repeat; or None when only the session's lock can tell a twin
    that has just won from a call that is late."""
    async with env.store.reading(write.caller.tenant_id) as tx:
        if (answer := await tx.answer(write.request)) is not None:
            return await answered(tx, answer)
        writable(await known_session(tx, target.session_id))
        branch = await tx.branch(target.session_id, target.branch)
        if branch is None:
            raise NotFound("branch")
        parent = await tx.floor(target.expected_head or branch.head_floor_id)
        if parent is None or parent.floor_id != branch.head_floor_id or branch.pending_floor_id:
            return None
        return await _record(tx, env, write, branch, parent, turn)


async def _record(
    tx: ReadTx, env: Env, write: Write, branch: Branch, parent: Floor, turn: Turn
) -> tuple[AppendRecord, str]:
    place = await child_place(tx, parent)
    floor = _build(env, new_floor(env, parent, place, write.caller.principal, branch.name), parent, turn)
    record = AppendRecord(
        write.caller.tenant_id,
        write.request,
        branch.name,
        parent.floor_id,
        floor,
        place.opens_segment,
        env.new_id(),
    )
    return record, await before(tx, floor)


def _build(env: Env, floor: Floor, parent: Floor, turn: Turn) -> Floor:
    filled = replace(
        floor,
        input=new_page(env, floor.floor_id, Slot.INPUT, turn.input),
        output=new_page(env, floor.floor_id, Slot.OUTPUT, turn.output),
        usage=turn.usage,
    )
    return sealed(env, filled, parent)


async def _append_locked(env: Env, write: Write, target: Target, turn: Turn) -> Answered:
    async def work(tx: WriteTx, session: Session) -> Answer:
        branch = await free_branch(tx, env, session, target)
        parent = await head_floor(tx, branch)
        place = await child_place(tx, parent)
        floor = _build(env, new_floor(env, parent, place, write.caller.principal, branch.name), parent, turn)
        await tx.insert_floor(floor, place.opens_segment)
        await tx.touch_session(session.session_id, own_tokens(floor))
        moved = await move_head(tx, env, session, branch, floor, COMMIT, write.caller.principal)
        return answer_of(floor, moved)

    return await in_session(env, write, target.session_id, work)


async def _lost(env: Env, write: Write, target: Target) -> Exception:
    async with env.store.reading(write.caller.tenant_id) as tx:
        branch = await tx.branch(target.session_id, target.branch)
    if branch is None:
        return NotFound("branch")
    return head_moved(branch.name, branch.head_floor_id)
