"""One record of `Store.append`: its checks in their order, then its rows."""

from dataclasses import replace

from kernel.storage.writes import Writes
from kernel.tree.model import Branch, HeadMove
from kernel.verbs.answers import answer_of
from kernel.verbs.moves import COMMIT, move_event
from kernel.verbs.pages import own_tokens
from kernel.verbs.records import (
    Absent,
    AppendRecord,
    Blocked,
    Committed,
    Outcome,
    PlaceTaken,
    Replayed,
    Session,
    SessionState,
    Stale,
)


async def append_record(tx: Writes, record: AppendRecord) -> Outcome:
    """Checks request, branch, pending floor, head and place, and writes all or nothing."""
    session = await tx.lock_session(record.floor.session_id)
    answer = await tx.answer(record.request)
    if answer is not None:
        return Replayed(answer)
    branch = await tx.branch(record.floor.session_id, record.branch)
    if session is None or branch is None or session.state is not SessionState.ACTIVE:
        return Absent()
    if branch.pending_floor_id is not None:
        return Blocked(branch.pending_floor_id)
    if branch.head_floor_id != record.expected_head:
        return Stale(branch.head_floor_id)
    if await tx.place_taken(record.floor, record.opens_segment):
        return PlaceTaken()
    return Committed(await _write(tx, record, session, branch))


async def _write(tx: Writes, record: AppendRecord, session: Session, branch: Branch) -> Branch:
    floor = record.floor
    assert floor.commit_time is not None
    await tx.insert_floor(floor, record.opens_segment)
    await tx.touch_session(session.session_id, own_tokens(floor))
    moved = replace(
        branch,
        head_floor_id=floor.floor_id,
        failed_floor_id=None,
        depth=floor.place.depth,
        version=branch.version + 1,
        update_time=floor.commit_time,
    )
    if not await tx.update_branch(session.session_id, branch, moved):
        raise AssertionError("the session's lock keeps its branches still")
    move = HeadMove(
        branch.name, branch.head_floor_id, floor.floor_id, COMMIT, floor.principal, floor.commit_time
    )
    await tx.insert_head_move(session.session_id, move)
    await tx.record(record.request, answer_of(floor, moved))
    tx.emit(session.project_id, move_event(record.event_id, move, floor))
    return moved
