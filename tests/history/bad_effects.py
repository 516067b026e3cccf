"""Histories that break R1, R2 and R3."""

from __future__ import annotations

from tests.history.stories import Bad, having
from tools.history.model import PageRow, SessionRow

BAD: dict[str, Bad] = {
    # R2: acknowledged, and not there or not the same.
    "a lost acknowledgement": (lambda s: s.append("14"), "R2", (14,), "there is no record of its request"),
    "a lost floor": (lambda s: s.remove("floors", having(floor_id="floor-3")), "R2", (6,), "which is gone"),
    "changed words": (lambda s: s.floor("floor-2", output="else"), "R2", (3,), "its output was 'out 3'"),
    "a changed digest": (lambda s: s.floor("floor-2", digest="else"), "R2", (3,), "its digest was"),
    "another parent": (
        lambda s: s.floor("floor-3", parent_floor_id="floor-1"),
        "R2",
        (6,),
        "parent_floor_id",
    ),
    "uncommitted again": (lambda s: s.floor("floor-1", state="failed"), "R2", (2,), "is 'failed' now"),
    "a lost page": (lambda s: s.dump.pages.clear(), "R2", (9,), "there is no page page-4"),
    "a changed page": (
        lambda s: s.change("pages", having(page_id="page-4"), content="else"),
        "R2",
        (9,),
        "says something else",
    ),
    "another page than the chosen": (
        lambda s: s.floor("floor-4", output_page_id="page-1"),
        "R2",
        (10,),
        "is not the page page-4 that it chose",
    ),
    "a lost branch": (lambda s: s.dump.branches.clear(), "R2", (2,), "there is no branch main"),
    "a lost session": (lambda s: s.dump.sessions.clear(), "R2", (1,), "there is no session"),
    "another version was told": (lambda s: s.retell(6, answer={"version": 9}), "R2", (6,), "the version of"),
    "a commit without a digest": (lambda s: s.floor("floor-5", digest=""), "R2", (11,), "has no digest"),
    # R1: a repeat has the same answer and no effect; other content is refused.
    "a repeat told otherwise": (
        lambda s: s.retell(4, answer={"floor_id": "floor-1"}),
        "R1",
        (4, 3),
        "floor_id is 'floor-1', expected 'floor-2'",
    ),
    "a repeat told in other bytes": (lambda s: s.retell(4, answer={"raw": "x"}), "R1", (4, 3), "raw is"),
    "a repeat refused": (
        lambda s: s.retell(4, outcome="fail", reason="HEAD_MOVED", current_head="floor-1", answer=None),
        "R1",
        (4, 3),
        "expected the same answer",
    ),
    "a repeat refused as reused": (
        lambda s: s.retell(4, outcome="fail", reason="REQUEST_ID_REUSED", answer=None),
        "R1",
        (4,),
        "recorded with this very content",
    ),
    "reused, and nobody used it": (
        lambda s: s.retell(5, reason="REQUEST_ID_REUSED", current_head=""),
        "R1",
        (5,),
        "nothing else was recorded",
    ),
    "other content acknowledged": (
        lambda s: s.retell(13, outcome="ok", reason="", answer={"floor_id": "floor-1"}),
        "R1",
        (13, 2),
        "has the same request_id and other content",
    ),
    "other content refused otherwise": (
        lambda s: s.retell(13, reason="FLOOR_PENDING"),
        "R1",
        (13, 2),
        "expected REQUEST_ID_REUSED",
    ),
    "acknowledged, and recorded as another's": (
        lambda s: s.request(2, fingerprint=s.call(13).fingerprint),
        "R1",
        (2,),
        "is recorded with other content",
    ),
    # R3: whole or not at all.
    "half a turn": (lambda s: s.floor("floor-5", input=""), "R3", (11,), "the input of its floor floor-5"),
    "the other half of a turn": (lambda s: s.floor("floor-5", output=""), "R3", (11,), "the output of its"),
    "a floor alone": (lambda s: s.forget_last_turn(but="floors"), "R3", (11,), "half of it"),
    "a record alone": (
        lambda s: s.forget_last_turn(but="requests"),
        "R3",
        (11,),
        "there is no floor floor-5",
    ),
    "a move alone": (lambda s: s.forget_last_turn(but="moves"), "R3", (), "floor-5, which is not there"),
    "an event alone": (lambda s: s.forget_last_turn(but="events"), "C3", (), "events tell of the commit"),
    "a commit without a move": (
        lambda s: s.change("moves", having(to_floor_id="floor-3"), kind="checkout"),
        "R3",
        (6,),
        "0 head moves tell of its commit; expected 1",
    ),
    "refused, and happened": (
        lambda s: s.retell(6, outcome="fail", reason="HEAD_MOVED", current_head="floor-1", answer=None),
        "R3",
        (6,),
        "and yet it happened",
    ),
    "refused, and left a floor": (
        lambda s: s.add_floor(input="in 5", output="out 5"),
        "R3",
        (5,),
        "was refused with HEAD_MOVED, and left the floor floor-9",
    ),
    "a ghost floor": (lambda s: s.add_floor(output="boo"), "R3", (), "floor-9 that nobody asked for"),
    "a ghost session": (
        lambda s: s.dump.sessions.append(SessionRow("ghost", "project", "root-9")),
        "R3",
        (),
        "session ghost that nobody asked for",
    ),
    "a session without its record": (
        lambda s: s.remove("requests", having(method="CreateSession")),
        "R3",
        (),
        "session session-1 that nobody asked for",
    ),
    "a ghost page": (
        lambda s: s.dump.pages.append(PageRow("page-9", "floor-4", "boo")),
        "R3",
        (),
        "page page-9 that nobody asked for",
    ),
    "a ghost request": (
        lambda s: s.add_request(method="MoveHead", request_id="ghost", fingerprint="f"),
        "R3",
        (),
        "nobody ever made it",
    ),
    "recorded, and not what was asked": (
        lambda s: s.request(11, fingerprint="else"),
        "R3",
        (11,),
        "is not what was asked",
    ),
    "one floor of two requests": (
        lambda s: (s.request(6, floor_id="floor-2"), s.retell(6, answer={"floor_id": "floor-2"})),
        "R3",
        (6, 3),
        "both made the floor floor-2",
    ),
}
