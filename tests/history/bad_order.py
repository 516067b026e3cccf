"""Histories that break T1, T3, T9 and C3."""

from __future__ import annotations

from dataclasses import replace

from tests.history.stories import Bad, Story, having
from tools.history.model import EventRow, MoveRow


def _answered_too_late(story: Story) -> None:
    """Of 2 and 3 the times are swapped: 3 was answered before 2 was sent."""
    first, second = story.call(2), story.call(3)
    story.retell(2, invoked=second.invoked, returned=second.returned)
    story.retell(3, invoked=first.invoked, returned=first.returned)


def _twice_the_same_move(story: Story, kind: str = "checkout") -> None:
    """Away from the head and back."""
    story.add_move("floor-5", "floor-4", "rollback")
    story.add_move("floor-4", "floor-5", kind)


def _swapped_events(story: Story) -> None:
    """The two commits 2 and 3 have changed their positions."""
    two, three = story.dump.events[1:3]
    story.dump.events[1:3] = [replace(three, position=2), replace(two, position=3)]


def _another_event(story: Story, **values: str) -> None:
    position = len(story.dump.events) + 1
    told = replace(story.dump.events[2], position=position, event_id="another", **values)
    story.dump.events.append(told)
    story.dump.feeds = [replace(feed, last=position) for feed in story.dump.feeds]


def _event_is_gone(story: Story) -> None:
    """With the positions closed up behind it."""
    rest = [event for event in story.dump.events if event.floor_id != "floor-3"]
    story.dump.events = [replace(event, position=number) for number, event in enumerate(rest, 1)]
    story.dump.feeds = [replace(feed, last=len(rest)) for feed in story.dump.feeds]


BAD: dict[str, Bad] = {
    # T3: of the calls with one expected head one wins, along one chain.
    "a fork of the chain": (
        lambda s: s.change("moves", having(to_floor_id="floor-2", kind="commit"), from_floor_id=s.root),
        "T3",
        (3, 2),
        "are no chain",
    ),
    "a head that no move led to": (
        lambda s: s.branch(head_floor_id="floor-4", path=("floor-1", "floor-2", "floor-4")),
        "T3",
        (11, 10),
        "its moves lead to floor-5",
    ),
    "a head that nobody has": (
        lambda s: s.branch(head_floor_id="floor-77"),
        "T3",
        (11,),
        "is floor-77; its moves lead to floor-5",
    ),
    "moves that nobody made": (_twice_the_same_move, "T3", (), "no request did that"),
    "a commit that nobody made": (
        lambda s: _twice_the_same_move(s, "commit"),
        "T3",
        (11,),
        "moved from floor-4 to floor-5, and no request did that",
    ),
    "a version that nobody made": (lambda s: s.branch(version=99), "T3", (), "its requests lead to"),
    "two calls made one version": (
        lambda s: (s.request(3, version=2), s.retell(3, answer={"version": 2})),
        "T3",
        (2, 3),
        "had 2 heads under the version 2",
    ),
    "a version far off": (lambda s: s.request(11, version=50), "T3", (11,), "far from all others"),
    "refused at the expected head": (
        lambda s: s.retell(5, current_head=s.root),
        "T3",
        (5,),
        "although the head was as expected",
    ),
    "told a head that never was": (
        lambda s: s.retell(5, current_head="floor-4x"),
        "T3",
        (5,),
        "it never was",
    ),
    "moves of no branch": (
        lambda s: s.dump.moves.append(MoveRow(s.session, "side", s.root, "floor-1", "commit")),
        "T3",
        (),
        "of branch side of session-1, which is not there",
    ),
    "a change without a record": (
        lambda s: s.remove("requests", having(request_id="request-6")),
        "T3",
        (),
        "the version 4, which no request is recorded with",
    ),
    "two commits made one version": (
        lambda s: s.request(6, version=3, head_floor_id="floor-2"),
        "T3",
        (3, 6),
        "2 requests left branch main of session session-1 with the version 3: two won",
    ),
    "a move to another floor than was told": (
        lambda s: s.request(3, head_floor_id="floor-1"),
        "T3",
        (),
        "the next move recorded leads to floor-2",
    ),
    "a commit recorded as a checkout": (
        lambda s: s.change("moves", having(to_floor_id="floor-3"), kind="checkout"),
        "T3",
        (6,),
        "is recorded as checkout",
    ),
    "a head that failed": (lambda s: s.floor("floor-5", state="failed"), "T3", (11,), "which is failed"),
    # T9: what comes later stands later.
    "an earlier call stands behind a later one": (_answered_too_late, "T9", (3, 2), "comes later on"),
    "a path out of order": (
        lambda s: s.branch(path=("floor-2", "floor-1", "floor-4", "floor-5")),
        "T9",
        (3,),
        "which is no child of root-1",
    ),
    "a path that ends early": (lambda s: s.branch(path=("floor-1",)), "T9", (11,), "ends at floor-1"),
    "two siblings in one place": (lambda s: s.floor("floor-3", ordinal=0), "T9", (6,), "the ordinal 0"),
    "a place left out": (lambda s: s.floor("floor-3", ordinal=2), "T9", (), "the ordinal 2"),
    "events out of turn": (_swapped_events, "T9", (3,), "out of turn"),
    # T1: the shape of the tree.
    "a second root": (lambda s: s.floor("floor-5", parent_floor_id=""), "T1", (11,), "its parent (none)"),
    "an orphan": (lambda s: s.floor("floor-5", parent_floor_id="gone"), "T1", (11,), "is an orphan"),
    "a wrong depth": (lambda s: s.floor("floor-5", depth=9), "T1", (11,), "expected 4, one more"),
    "a root with a parent": (lambda s: s.floor("root-1", parent_floor_id="floor-1"), "T1", (), "the root"),
    "a floor twice": (lambda s: s.dump.floors.append(s.dump.floors[-1]), "T1", (11,), "two floors floor-5"),
    "pending, and not there": (
        lambda s: s.branch(pending_floor_id="gone"),
        "T1",
        (),
        "waits for the floor gone",
    ),
    "pending, and committed": (
        lambda s: s.branch(pending_floor_id="floor-5"),
        "T1",
        (11,),
        "which is committed",
    ),
    "no branch main": (lambda s: s.dump.branches.clear(), "T1", (), "has no branch main"),
    "a floor in no session": (lambda s: s.dump.sessions.clear(), "T1", (), "floor-1 is in no session"),
    "a branch in no session": (
        lambda s: s.dump.sessions.clear(),
        "T1",
        (),
        "branch main of session session-1 is in no session",
    ),
    "a turn after a failed one": (
        lambda s: s.floor("floor-4", state="failed"),
        "T1",
        (),
        "that is failed",
    ),
    "a head that is not there": (
        lambda s: s.branch(head_floor_id="floor-77"),
        "T1",
        (),
        "points to the floor floor-77, which is not there",
    ),
    # C3: one event for each fact, no gaps.
    "a gap": (
        lambda s: s.remove("events", lambda event: event.position == 3),
        "C3",
        (3,),
        "no event tells of the commit from floor-1 to floor-2",
    ),
    "a missing event": (_event_is_gone, "C3", (6,), "no event tells of the commit from floor-2 to floor-3"),
    "a duplicate event": (_another_event, "C3", (3,), "2 events tell of the commit"),
    "an event of nothing": (
        lambda s: _another_event(s, to_floor_id="floor-1x", floor_id="floor-1x"),
        "C3",
        (),
        "it happened 0 times",
    ),
    "a commit told as a move": (
        lambda s: s.change("events", having(floor_id="floor-3"), type="head.moved"),
        "C3",
        (6,),
        "is head.moved of floor-3",
    ),
    "two events in one position": (
        lambda s: s.change("events", having(floor_id="floor-3"), position=3),
        "C3",
        (),
        "have the position 3",
    ),
    "a feed that says too much": (
        lambda s: s.change("feeds", having(project_id="project"), last=99),
        "C3",
        (),
        "says that it ends at 99",
    ),
    "a session untold": (
        lambda s: s.change("events", having(type="session.created"), type="project.updated"),
        "C3",
        (),
        "session.created of session-1  are missing",
    ),
    "a session told twice": (
        lambda s: s.dump.events.append(
            EventRow("project", len(s.dump.events) + 1, "e", "session.created", s.session, s.root)
        ),
        "C3",
        (),
        "session.created of session-1  too many",
    ),
    "no events at all": (lambda s: s.dump.events.clear(), "C3", (), "is empty; expected"),
}
