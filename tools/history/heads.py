"""T3: a head moves by compare-and-swap, along one chain. T9: what came later stands later in it.

The record of a request holds the branch's version after it, and versions grow with every change: so the
requests of a branch have one order, whatever their clocks said, and each is judged at the head it met.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.history.evidence import Ask, Evidence, Pointer, named
from tools.history.model import COMMITTED, BranchRow, MoveRow, Operation, RequestRow


@dataclass(slots=True)
class Walk:
    """How far the chain of a branch has been followed: the head, and the call that moved it there."""

    branch: BranchRow
    moves: list[MoveRow]
    head: str
    next_move: int = 0
    mover: Operation | None = None
    # The call that was sent last, of those that took effect so far.
    latest: Operation | None = None
    # For each head that the branch had: before which call it was not, and after which it was no more.
    since: dict[str, int] = field(default_factory=dict)
    until: dict[str, float] = field(default_factory=dict)

    @property
    def where(self) -> str:
        return f"branch {self.branch.name} of session {self.branch.session_id}"


def judge(evidence: Evidence) -> None:
    changes: dict[Pointer, list[RequestRow]] = {}
    for row in evidence.dump.requests:
        if row.branch:
            changes.setdefault((row.session_id, row.branch), []).append(row)
    for pointer in evidence.moves.keys() - evidence.branches.keys():
        evidence.broken("T3", f"heads moved of branch {pointer[1]} of {pointer[0]}, which is not there")
    walks: dict[Pointer, Walk] = {}
    for pointer, branch in evidence.branches.items():
        rows = changes.get(pointer, [])
        walk = Walk(branch, evidence.moves.get(pointer, []), _start(evidence, branch, rows))
        walk.since[walk.head] = 0
        # Without its session a branch has no beginning: T1 says so.
        if walk.head and _one_chain(evidence, walk) and _follow(evidence, walk, rows):
            walk.until[walk.head] = math.inf
            walks[pointer] = walk
    _refusals(evidence, walks)


def _start(evidence: Evidence, branch: BranchRow, rows: list[RequestRow]) -> str:
    """Where a branch began: at the root, or where it was made."""
    made = (row.head_floor_id for row in rows if row.method == "CreateBranch")
    session = evidence.sessions.get(branch.session_id)
    return next(made, "") or (session.root_floor_id if session else "")


def _one_chain(evidence: Evidence, walk: Walk) -> bool:
    """Each move leaves from where the one before it arrived, and the last one arrives at the head."""
    head: str = walk.head
    for number, move in enumerate(walk.moves, 1):
        if move.from_floor_id != head:
            evidence.broken(
                "T3",
                f"the moves of {walk.where} are no chain: number {number} leaves from {move.from_floor_id} to"
                f" {move.to_floor_id}, but the head was {head}: of the calls that expected one head, two won",
                *_both(evidence, move.to_floor_id, head),
            )
            return False
        head = move.to_floor_id
    if head != walk.branch.head_floor_id:
        evidence.broken(
            "T3",
            f"the head of {walk.where} is {walk.branch.head_floor_id}; its moves lead to {head}",
            *_both(evidence, head, walk.branch.head_floor_id),
        )
        return False
    return True


def _both(evidence: Evidence, *floor_ids: str) -> list[Operation | None]:
    return [evidence.behind(floor_id) for floor_id in floor_ids]


def _follow(evidence: Evidence, walk: Walk, rows: list[RequestRow]) -> bool:
    """Every change of the branch in turn, by version. False when it leads astray: what comes after that
    would only seem wrong."""
    version = 0
    for number, slot in _by_version(evidence, walk, rows):
        if number > version + 1 and not _explained(evidence, slot, number - version):
            evidence.broken(
                "T3",
                f"{walk.where} has the version {version + 1}, which no request is recorded with",
                *_calls(evidence, slot),
            )
            return False
        version = number
        if not _take(evidence, walk, slot):
            return False
    if version != walk.branch.version:
        evidence.broken(
            "T3", f"{walk.where} has the version {walk.branch.version}; its requests lead to {version}"
        )
    for move in walk.moves[walk.next_move :]:
        evidence.broken(
            "T3",
            f"{walk.where} moved from {move.from_floor_id} to {move.to_floor_id}, and no request did that",
            evidence.behind(move.to_floor_id) if move.kind == "commit" else None,
        )
    return True


def _by_version(
    evidence: Evidence, walk: Walk, rows: list[RequestRow]
) -> Iterator[tuple[int, list[RequestRow]]]:
    """The rows of each version, in their order; linear, since a request raises it by two at most."""
    slots: dict[int, list[RequestRow]] = {}
    for row in rows:
        slots.setdefault(row.version, []).append(row)
    version, left, gap = 0, len(slots), 0
    while left and gap < 2:
        version += 1
        if version in slots:
            yield version, slots.pop(version)
            left, gap = left - 1, 0
        else:
            gap += 1
    for stray in slots.values():
        evidence.broken(
            "T3",
            f"a request of {walk.where} is recorded with the version {stray[0].version}, far from all others",
            *_calls(evidence, stray),
        )


def _explained(evidence: Evidence, slot: list[RequestRow], step: int) -> bool:
    """A call that abandons the pending floor first changes the branch twice."""
    asks = (evidence.ask_of(row) for row in slot)
    return step == 2 and any(ask.first.abandon for ask in asks if ask)


def _calls(evidence: Evidence, rows: list[RequestRow]) -> list[Operation]:
    return [ask.blamed for row in rows if (ask := evidence.ask_of(row))]


def _take(evidence: Evidence, walk: Walk, slot: list[RequestRow]) -> bool:
    """One version: the request that made it, then those that changed nothing there. False: as `_follow`."""
    heads = {row.head_floor_id for row in slot}
    calls = _calls(evidence, slot)
    if len(heads) > 1:
        evidence.broken(
            "T3", f"{walk.where} had {len(heads)} heads under the version {slot[0].version}", *calls
        )
        return False
    to = slot[0].head_floor_id
    maker = _maker(evidence, walk, slot)
    asks = [ask for row in slot if (ask := evidence.ask_of(row))]
    for ask in asks:
        _met_its_head(evidence, walk, ask, walk.head if ask is maker or maker is None else to)
    if to != walk.head and not _moved(evidence, walk, slot, maker):
        return False
    _in_order(evidence, walk, asks)
    return True


def _maker(evidence: Evidence, walk: Walk, slot: list[RequestRow]) -> Ask | None:
    """Of a version's requests the one that made it: the only one, or the one that is no MoveHead, or one of
    several moves to one floor that expected what was there. None when none of them can have."""
    if len(slot) == 1:
        return evidence.ask_of(slot[0])
    if others := [row for row in slot if row.method != "MoveHead"]:
        if len(others) > 1:
            evidence.broken(
                "T3",
                f"{len(others)} requests left {walk.where} with the version {slot[0].version}: two won",
                *_calls(evidence, others),
            )
        return evidence.ask_of(others[0])
    asks = [ask for row in slot if (ask := evidence.ask_of(row))]
    return next((ask for ask in asks if ask.first.expected_head in ("", walk.head)), None)


def _met_its_head(evidence: Evidence, walk: Walk, ask: Ask, head: str) -> None:
    call = ask.blamed
    if call.expected_head in ("", head):
        return
    moved = f"; {named(walk.mover)} had moved it there" if walk.mover else ""
    evidence.broken(
        "T3",
        f"{named(call)} took effect on {walk.where}, expecting the head {call.expected_head}, while it was"
        f" {head}{moved}; expected HEAD_MOVED",
        call,
        walk.mover,
    )


def _moved(evidence: Evidence, walk: Walk, slot: list[RequestRow], maker: Ask | None) -> bool:
    """A change of the head is the next move of the chain; a call that commits moves it to its floor."""
    to, mover = slot[0].head_floor_id, maker.blamed if maker else None
    move = walk.moves[walk.next_move] if walk.next_move < len(walk.moves) else None
    walk.mover = mover
    if slot[0].method in ("CreateSession", "CreateBranch"):
        return True
    _time(walk, to, maker)
    walk.head = to
    if move is None or move.to_floor_id != to:
        found = f"the next move recorded leads to {move.to_floor_id}" if move else "no move is recorded"
        evidence.broken("T3", f"{walk.where} went to the head {to}, but {found}", mover)
        return False
    walk.next_move += 1
    commits = any(row.floor_state == COMMITTED for row in slot)
    if commits != (move.kind == "commit"):
        evidence.broken("T3", f"the move of {walk.where} to {to} is recorded as {move.kind}", mover)
    return True


def _time(walk: Walk, to: str, maker: Ask | None) -> None:
    """A head that was left and returned to counts from its first time to its last."""
    left = maker.told.returned if maker and maker.told else None
    walk.until[walk.head] = max(walk.until.get(walk.head, 0), math.inf if left is None else left)
    since = maker.first.invoked if maker else 0
    walk.since[to] = min(walk.since.get(to, since), since)


def _in_order(evidence: Evidence, walk: Walk, asks: list[Ask]) -> None:
    """T9: nothing stands behind what was sent only after its answer had come."""
    for ask in asks:
        call, latest = ask.told, walk.latest
        if call is not None and latest is not None and (call.returned or 0) < latest.invoked:
            evidence.broken(
                "T9",
                f"{named(call)} had been answered before {named(latest)} was sent, and yet it comes later on"
                f" {walk.where}",
                call,
                latest,
            )
    for ask in asks:
        if walk.latest is None or ask.first.invoked > walk.latest.invoked:
            walk.latest = ask.first


def _refusals(evidence: Evidence, walks: dict[Pointer, Walk]) -> None:
    """HEAD_MOVED names a head that the branch had while the call was under way, and not the expected one."""
    for ask in evidence.every_ask():
        for call in ask.calls:
            if not call.refused or call.reason != "HEAD_MOVED":
                continue
            if call.current_head == call.expected_head:
                evidence.broken(
                    "T3",
                    f"{named(call)} was refused with HEAD_MOVED, although the head was as expected",
                    call,
                )
            elif walk := walks.get((call.session_id, call.branch)):
                _told_a_head(evidence, walk, call)


def _told_a_head(evidence: Evidence, walk: Walk, call: Operation) -> None:
    head = call.current_head
    if head not in walk.since:
        why = "which it never was"
    elif walk.since[head] > (call.returned or 0):
        why = "which it became only later"
    elif walk.until[head] < call.invoked:
        why = "which had been left before"
    else:
        return
    evidence.broken("T3", f"{named(call)} was told that the head of {walk.where} is {head}, {why}", call)
