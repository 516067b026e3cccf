"""C3: each committed fact has one event, nothing else has one, and positions have no gaps."""

from __future__ import annotations

from collections import Counter

from tools.history.evidence import Evidence, Pointer
from tools.history.model import EventRow, MoveRow, Operation

_OF_MOVES = {"floor.committed": True, "head.moved": False}
Told = tuple[str, str, str]


def judge(evidence: Evidence) -> None:
    feeds: dict[tuple[str, str], dict[int, EventRow]] = {}
    for event in evidence.dump.events:
        feed = feeds.setdefault((event.tenant, event.project_id), {})
        if event.position in feed:
            evidence.broken(
                "C3", f"two events of the feed {event.project_id} have the position {event.position}"
            )
        feed[event.position] = event
    last = {(feed.tenant, feed.project_id): feed.last for feed in evidence.dump.feeds}
    told: dict[Pointer, list[EventRow]] = {}
    for key, feed in feeds.items():
        for event in _in_order(evidence, key[1], feed, last.get(key, 0)):
            if event.type in _OF_MOVES:
                told.setdefault((event.session_id, event.branch), []).append(event)
    for key in last.keys() - feeds.keys():
        if last[key]:
            evidence.broken("C3", f"the feed {key[1]} is empty; expected {last[key]} events")
    for pointer in dict.fromkeys((*evidence.moves, *told)):
        _moves_are_told(evidence, pointer, evidence.moves.get(pointer, []), told.get(pointer, []))
    _openings_are_told(evidence)


def _in_order(evidence: Evidence, project: str, feed: dict[int, EventRow], last: int) -> list[EventRow]:
    """The events by position, from 1 to the last, each there."""
    events: list[EventRow] = []
    for position in range(1, len(feed) + 1):
        if position not in feed:
            evidence.broken("C3", f"the feed {project} has a gap: there is no event at position {position}")
            break
        events.append(feed[position])
    else:
        if last != len(feed):
            evidence.broken("C3", f"the feed {project} says that it ends at {last}; it does at {len(feed)}")
        return events
    # The order of those that are there, for the other checks.
    return sorted(feed.values(), key=lambda event: event.position)


def _moves_are_told(
    evidence: Evidence, pointer: Pointer, moves: list[MoveRow], events: list[EventRow]
) -> None:
    """One event for each move of a branch, in the order of the moves."""
    facts = [(move.from_floor_id, move.to_floor_id, move.kind) for move in moves]
    told = [(event.from_floor_id, event.to_floor_id, event.kind) for event in events]
    for event in events:
        if _OF_MOVES[event.type] != (event.kind == "commit") or event.floor_id != event.to_floor_id:
            evidence.broken(
                "C3",
                f"the event at position {event.position} is {event.type} of {event.floor_id}, and tells of a"
                f" {event.kind} to {event.to_floor_id}",
                evidence.behind(event.to_floor_id),
            )
    if facts == told:
        return
    where = f"branch {pointer[1]} of session {pointer[0]}"
    made = Counter(facts)
    untold, made_up = made - Counter(told), Counter(told) - made
    for fact in untold:
        _broken(evidence, fact, f"no event tells of the {_words(fact)} of {where}")
    for fact in made_up:
        what = f"{made[fact] + made_up[fact]} events tell of the {_words(fact)} of {where}"
        _broken(evidence, fact, f"{what}; it happened {made[fact]} times")
    if not untold and not made_up:
        fact = next(told for fact, told in zip(facts, told, strict=True) if fact != told)
        evidence.broken(
            "T9", f"the events of {where} tell of the {_words(fact)} out of turn", _blamed(evidence, fact)
        )


def _broken(evidence: Evidence, fact: Told, text: str) -> None:
    evidence.broken("C3", text, _blamed(evidence, fact))


def _blamed(evidence: Evidence, fact: Told) -> Operation | None:
    """The call of a commit; which one moved a head otherwise, its ends do not tell."""
    return evidence.behind(fact[1]) if fact[2] == "commit" else None


def _words(fact: Told) -> str:
    return f"{fact[2]} from {fact[0]} to {fact[1]}"


def _openings_are_told(evidence: Evidence) -> None:
    """One event for each session and each branch that was made."""
    facts = Counter(
        ("session.created", session.session_id, "") for session in evidence.dump.sessions
    ) + Counter(
        ("branch.created", row.session_id, row.branch)
        for row in evidence.dump.requests
        if row.method == "CreateBranch"
    )
    told = Counter(
        (event.type, event.session_id, event.branch)
        for event in evidence.dump.events
        if event.type in ("session.created", "branch.created")
    )
    for (kind, session_id, branch), count in (facts - told).items():
        evidence.broken("C3", f"{count} events {kind} of {session_id} {branch} are missing")
    for (kind, session_id, branch), count in (told - facts).items():
        evidence.broken("C3", f"there are {count} events {kind} of {session_id} {branch} too many")
