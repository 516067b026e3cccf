"""Moving a head: the one place where it happens, whatever the verb (T3, T6, C3, C6)."""

from dataclasses import replace
from datetime import datetime

from kernel.errors import NotFound, head_moved
from kernel.tree.model import Branch, Floor, HeadMove
from kernel.tree.places import left_behind
from kernel.verbs.env import Env, Target, WriteTx
from kernel.verbs.records import Event, Session

COMMIT, ROLLBACK, CHECKOUT, SIBLING = "commit", "rollback", "checkout", "sibling"


async def known_branch(tx: WriteTx, target: Target) -> Branch:
    branch = await tx.branch(target.session_id, target.branch)
    if branch is None:
        raise NotFound("branch")
    return branch


def expect_head(branch: Branch, target: Target) -> None:
    if target.expected_head is not None and target.expected_head != branch.head_floor_id:
        raise head_moved(branch.name, branch.head_floor_id)


async def head_floor(tx: WriteTx, branch: Branch) -> Floor:
    floor = await tx.floor(branch.head_floor_id)
    assert floor is not None, "a head always names a floor (foreign key)"
    return floor


async def move_head(
    tx: WriteTx, env: Env, session: Session, seen: Branch, to: Floor, kind: str, principal: str
) -> Branch:
    """Moves a branch from the head it was seen with; ABORTED when it has moved since."""
    if to.parent_floor_id != seen.head_floor_id:
        await _remember_leaf(tx, seen, to)
    moved = _at(seen, to, env.clock())
    if not await tx.update_branch(session.session_id, seen, moved):
        now_there = await tx.branch(session.session_id, seen.name)
        raise head_moved(seen.name, now_there.head_floor_id if now_there else "")
    move = HeadMove(
        seen.name, seen.head_floor_id, to.floor_id, kind, principal, to.commit_time or env.clock()
    )
    if kind != COMMIT:
        move = replace(move, move_time=env.clock())
    await tx.insert_head_move(session.session_id, move)
    tx.emit(session.project_id, move_event(env.new_id(), move, to))
    return moved


def _at(branch: Branch, head: Floor, now: datetime) -> Branch:
    """The branch with another head, and nothing pending or failed."""
    return replace(
        branch,
        head_floor_id=head.floor_id,
        pending_floor_id=None,
        failed_floor_id=None,
        depth=head.place.depth,
        version=branch.version + 1,
        update_time=now,
    )


def move_event(event_id: str, move: HeadMove, to: Floor) -> Event:
    """One event per fact: a commit tells of its head move itself."""
    payload: dict[str, str | int] = {
        "branch": move.branch,
        "from_floor_id": move.from_floor_id,
        "to_floor_id": move.to_floor_id,
        "kind": move.kind,
        "principal": move.principal,
    }
    if move.kind != COMMIT:
        return Event(event_id, "head.moved", to.session_id, to.floor_id, payload)
    payload |= {
        "parent_floor_id": to.parent_floor_id or "",
        "depth": to.place.depth,
        "digest": to.digest.hex() if to.digest else "",
    }
    if to.effects is not None:
        names = ("variable_writes", "memory_writes", "slot_writes")
        payload |= dict(zip(names, to.effects.counts, strict=True))
    return Event(event_id, "floor.committed", to.session_id, to.floor_id, payload)


async def _remember_leaf(tx: WriteTx, seen: Branch, to: Floor) -> None:
    leaf = await head_floor(tx, seen)
    leaving = await tx.chain(leaf.session_id, leaf.place)
    entering = await tx.chain(to.session_id, to.place)
    links = left_behind(leaving, entering)
    await tx.leave(leaf.session_id, seen.name, leaf.floor_id, links, seen.version + 1)
