"""T1: each floor has its parent. T9: paths and ordinals follow from parents alone."""

from __future__ import annotations

from collections import Counter

from tools.history.evidence import Evidence
from tools.history.model import COMMITTED, OPEN, BranchRow, FloorRow


def judge(evidence: Evidence) -> None:
    ordinals: Counter[str] = Counter()
    seen: set[tuple[str, int]] = set()
    ids: set[str] = set()
    for floor in evidence.dump.floors:
        if floor.floor_id in ids:
            evidence.broken("T1", f"there are two floors {floor.floor_id}", evidence.behind(floor.floor_id))
        ids.add(floor.floor_id)
        _placed(evidence, floor)
        if floor.parent_floor_id:
            ordinals[floor.parent_floor_id] += 1
            if (floor.parent_floor_id, floor.ordinal) in seen:
                _ordinal_taken(evidence, floor)
            seen.add((floor.parent_floor_id, floor.ordinal))
    for parent, ordinal in seen:
        if ordinal >= ordinals[parent] or ordinal < 0:
            evidence.broken(
                "T9", f"a child of {parent} has the ordinal {ordinal}, of {ordinals[parent]} children in all"
            )
    for session in evidence.dump.sessions:
        if (session.session_id, "main") not in evidence.branches:
            evidence.broken("T1", f"the session {session.session_id} has no branch main")
    for branch in evidence.dump.branches:
        _pointed(evidence, branch)


def _placed(evidence: Evidence, floor: FloorRow) -> None:
    """A parent that is one step nearer to the root: so there is no cycle either."""
    call = evidence.behind(floor.floor_id)
    session = evidence.sessions.get(floor.session_id)
    if session is None:
        evidence.broken("T1", f"the floor {floor.floor_id} is in no session", call)
        return
    if floor.state == COMMITTED and not floor.digest:
        evidence.broken("R2", f"the committed floor {floor.floor_id} has no digest", call)
    if floor.floor_id == session.root_floor_id:
        if floor.parent_floor_id or floor.depth:
            evidence.broken("T1", f"the root {floor.floor_id} has a parent or a depth", call)
        return
    parent = evidence.floors.get(floor.parent_floor_id)
    if parent is None or parent.session_id != floor.session_id:
        evidence.broken(
            "T1",
            f"the floor {floor.floor_id} is an orphan: its parent {floor.parent_floor_id or '(none)'} is"
            f" not there",
            call,
        )
    elif parent.depth + 1 != floor.depth:
        evidence.broken(
            "T1",
            f"the floor {floor.floor_id} has the depth {floor.depth}; expected {parent.depth + 1}, one more"
            f" than its parent's",
            call,
        )
    elif parent.state != COMMITTED:
        evidence.broken("T1", f"the floor {floor.floor_id} hangs on one that is {parent.state}", call)


def _ordinal_taken(evidence: Evidence, floor: FloorRow) -> None:
    evidence.broken(
        "T9",
        f"two children of {floor.parent_floor_id} have the ordinal {floor.ordinal}: their order is lost",
        evidence.behind(floor.floor_id),
    )


def _pointed(evidence: Evidence, branch: BranchRow) -> None:
    where = f"branch {branch.name} of session {branch.session_id}"
    head = evidence.floors.get(branch.head_floor_id)
    if head is None or head.session_id != branch.session_id:
        evidence.broken(
            "T1",
            f"the head of {where} points to the floor {branch.head_floor_id}, which is not there",
            evidence.behind(branch.head_floor_id),
        )
        return
    if head.state != COMMITTED:
        evidence.broken(
            "T3",
            f"the head of {where} is {head.floor_id}, which is {head.state}",
            evidence.behind(head.floor_id),
        )
    pending = evidence.floors.get(branch.pending_floor_id)
    if branch.pending_floor_id and (pending is None or pending.state != OPEN):
        evidence.broken(
            "T1",
            f"{where} waits for the floor {branch.pending_floor_id}, which is"
            f" {pending.state if pending else 'not there'}",
            evidence.behind(branch.pending_floor_id),
        )
    _path(evidence, branch, where)


def _path(evidence: Evidence, branch: BranchRow, where: str) -> None:
    session = evidence.sessions.get(branch.session_id)
    if session is None:
        evidence.broken("T1", f"{where} is in no session")
        return
    before = session.root_floor_id
    for number, floor_id in enumerate(branch.path, 1):
        floor = evidence.floors.get(floor_id)
        if floor is None or floor.parent_floor_id != before:
            evidence.broken(
                "T9",
                f"the path of {where} has {floor_id} as its floor {number}, which is no child of {before}",
                evidence.behind(floor_id),
            )
            return
        before = floor_id
    if before != branch.head_floor_id:
        evidence.broken(
            "T9",
            f"the path of {where} ends at {before}, its head is {branch.head_floor_id}",
            evidence.behind(branch.head_floor_id),
        )
