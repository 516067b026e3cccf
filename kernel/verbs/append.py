"""A whole turn, committed at once: the hot write.

Its rule runs first, on the immutable parent, and yields one record; the store then checks head,
pending floor, request and place, and writes it, in one step.
"""

from dataclasses import dataclass, replace

from kernel.errors import request_id_reused
from kernel.tree.model import Floor, PageContent, Slot, Usage
from kernel.tree.places import first_child
from kernel.verbs.answers import Answered, Shown, answer_of, before, in_session, last_message
from kernel.verbs.effects import Given, checked, due, plain, seal_floor
from kernel.verbs.env import Env, Target, Write
from kernel.verbs.known_heads import KnownHead
from kernel.verbs.moves import COMMIT, head_floor, move_head
from kernel.verbs.pages import child_place, committed_floor, new_floor, new_page, own_tokens
from kernel.verbs.pending import free_branch
from kernel.verbs.records import Answer, AppendRecord, Committed, Reused, Session
from kernel.verbs.store import WriteTx


@dataclass(frozen=True, slots=True)
class Turn:
    """What a caller brings for one floor."""

    input: PageContent | None = None
    output: PageContent | None = None
    usage: Usage | None = None
    effects: Given | None = None

    @property
    def empty(self) -> bool:
        return self.input is None and self.output is None and not (self.effects and self.effects.effects)

    @property
    def plain(self) -> bool:
        """Whether the head alone says what to write: nothing else has to be read for it."""
        return self.effects is None or self.effects.plain


async def append_floor(env: Env, write: Write, target: Target, turn: Turn) -> Answered:
    """A committed child of the branch's head.

    Raises HEAD_MOVED with the current head when `expected_head` is not it; FLOOR_PENDING;
    NOT_FOUND; ARCHIVED. Without `expected_head` no race is lost: whoever comes late waits.
    """
    tenant_id = write.caller.tenant_id
    hot = turn.plain and not target.abandon_pending
    head = await _likely_head(env, tenant_id, target) if hot else None
    record = _record(env, write, target.branch, head.floor, turn) if head is not None else None
    if head is not None and record is not None:
        (outcome,) = await env.store.append([record])
        if isinstance(outcome, Committed):
            last = last_message(record.floor) or head.last_message
            env.heads.put(tenant_id, target.branch, record.floor, last)
            return Answered(Shown(record.floor, head.last_message), outcome.branch)
        env.heads.forget(tenant_id, target.session_id, target.branch)
        if isinstance(outcome, Reused):
            raise request_id_reused()
    # A repeat, a lost race, a fork, or a refusal: under the session's lock it is clear which.
    return await append_under_lock(env, write, target, turn)


async def _likely_head(env: Env, tenant_id: str, target: Target) -> KnownHead | None:
    """The head to plan on, without a lock; None when the plan would not hold."""
    head = env.heads.get(tenant_id, target.session_id, target.branch)
    if head is not None and target.expected_head in (None, head.floor.floor_id):
        return head
    async with env.store.reading(tenant_id) as tx:
        found = await tx.branch_head(target.session_id, target.branch)
        if found is None:
            return None
        branch, floor = found
        if branch.pending_floor_id or target.expected_head not in (None, floor.floor_id):
            return None
        return KnownHead(floor, last_message(floor) or await before(tx, floor))


def _record(env: Env, write: Write, branch: str, parent: Floor, turn: Turn) -> AppendRecord | None:
    """For the likely case, a head without children; None when a copy of the state is due."""
    place, floor_id, principal = first_child(parent.place), env.new_id(), write.caller.principal
    input = new_page(env, floor_id, Slot.INPUT, turn.input)
    output = new_page(env, floor_id, Slot.OUTPUT, turn.output)
    held = input, output, turn.usage, plain(parent, turn.effects)
    floor = committed_floor(env, parent, place, principal, branch, floor_id, held)
    if due(floor):
        return None
    return AppendRecord(
        write.caller.tenant_id,
        write.request,
        branch,
        parent.floor_id,
        floor,
        place.opens_segment,
        env.new_id(),
    )


def _filled(env: Env, floor: Floor, turn: Turn) -> Floor:
    return replace(
        floor,
        input=new_page(env, floor.floor_id, Slot.INPUT, turn.input),
        output=new_page(env, floor.floor_id, Slot.OUTPUT, turn.output),
        usage=turn.usage,
    )


async def append_under_lock(env: Env, write: Write, target: Target, turn: Turn) -> Answered:
    """The same, always under the session's lock: for a session whose lock says more than the hot write looks
    at."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        branch = await free_branch(tx, env, session, target)
        parent = await head_floor(tx, branch)
        place = await child_place(tx, parent)
        floor = _filled(env, new_floor(env, parent, place, write.caller.principal, branch.name), turn)
        floor = replace(floor, effects=await checked(tx, parent, turn.effects))
        floor = await seal_floor(tx, env, session, floor, parent)
        await tx.insert_floor(floor, place.opens_segment)
        await tx.touch_session(session.session_id, own_tokens(floor))
        moved = await move_head(tx, env, session, branch, floor, COMMIT, write.caller.principal)
        return answer_of(floor, moved)

    return await in_session(env, write, target.session_id, work)
