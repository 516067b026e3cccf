"""Whether what is stored of each turn agrees: its floor, head move, event and request, all or none."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from kernel.storage import tables as t
from kernel.storage.answer_rows import answer
from kernel.storage.engine import Engines

_COMMITTING = ("AppendFloor", "EditFloor")


@dataclass(frozen=True)
class Books:
    """What there is: the request ids that were answered, and how many of each kind of row."""

    request_ids: frozenset[str]
    counts: dict[str, int]


async def agree(engines: Engines) -> Books:
    """Fails with what there is of one and not of the other."""
    async with engines.reading() as connection:

        async def rows(*columns: Any) -> list[Any]:
            return list(await connection.execute(select(*columns)))

        floors = await rows(t.floor.c.floor_id, t.floor.c.parent_floor_id)
        moves = await rows(
            *(t.head_move.c[name] for name in ("session_id", "branch", "number", "to_floor_id", "kind"))
        )
        events = await rows(*(t.event.c[name] for name in ("type", "session_id", "floor_id")))
        requests = await rows(t.request.c.method, t.request.c.request_id, t.request.c.answer)
        heads = await rows(*(t.branch.c[name] for name in ("session_id", "name", "head_floor_id", "version")))
        sessions = await rows(t.session.c.session_id, t.session.c.root_floor_id)
    roots = {root: session for session, root in sessions}
    turns = [floor for floor, parent in floors if parent is not None]
    _same("floors and moves", turns, [m.to_floor_id for m in moves if m.kind == "commit"])
    _same("floors and events", turns, [e.floor_id for e in events if e.type == "floor.committed"])
    _same("moves and events", (m.to_floor_id for m in moves if m.kind != "commit"), _moved(events))
    _same("floors and requests", turns, (a.floor_id for a in _answers(requests, *_COMMITTING)))
    _same("roots and sessions", [floor for floor, parent in floors if parent is None], [*roots])
    made = [event.session_id for event in events if event.type == "session.created"]
    _same("sessions and events", [*roots.values()], made)
    _same("sessions and requests", made, (a.session_id for a in _answers(requests, "CreateSession")))
    _heads_follow(moves, heads, roots)
    counts = {"floors": len(turns), "moves": len(moves), "requests": len(requests), "sessions": len(sessions)}
    return Books(frozenset(row.request_id for row in requests), counts)


def _moved(events: list[Any]) -> Iterable[str]:
    return (event.floor_id for event in events if event.type == "head.moved")


def _answers(requests: list[Any], *methods: str) -> Iterable[Any]:
    return (answer(row.answer) for row in requests if row.method.rpartition("/")[2] in methods)


def _same(what: str, left: Iterable[str], right: Iterable[str]) -> None:
    one, other = Counter(left), Counter(right)
    assert one == other, f"{what} disagree: {one - other} and {other - one}"


def _heads_follow(moves: list[Any], heads: list[Any], roots: dict[str, str]) -> None:
    """Each branch is where its last move put it, and counts its moves."""
    last: dict[tuple[str, str], tuple[int, str]] = {
        (session, "main"): (0, root) for root, session in roots.items()
    }
    for move in sorted(moves, key=lambda move: move.number):
        number, _ = last[move.session_id, move.branch]
        assert move.number == number + 1, "a move is missing"
        last[move.session_id, move.branch] = (move.number, move.to_floor_id)
    there = {(head.session_id, head.name): (head.version - 1, head.head_floor_id) for head in heads}
    assert there == last
