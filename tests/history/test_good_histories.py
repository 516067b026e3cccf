"""What a service that keeps its promises does, passes: whatever was under way at once, lost or repeated."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from random import Random
from types import FrameType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.history.simulation import Call, Simulation
from tests.history.stories import Story
from tools.history.checker import check
from tools.history.evidence import METHODS as METHODS_JUDGED
from tools.history.model import COMMITTED, OPEN

CLIENTS = "abc"
METHODS = ["AppendFloor"] * 4 + [
    "EditFloor",
    "RegenerateFloor",
    "MoveHead",
    "OpenFloor",
    "AddPage",
    "CommitFloor",
    "again",
    "other content",
]
ASKED = ("session_id", "branch", "floor_id", "page_id", "input", "output", "expected_head", "abandon")
STEPS = st.lists(
    st.tuples(st.sampled_from(CLIENTS), st.integers(0, 5), st.integers(0, 2**16)), min_size=10, max_size=120
)


class Crowd:
    """Clients of a simulation, each with at most one call under way; and calls whose callers gave up, which
    may happen later or never."""

    def __init__(self) -> None:
        self.service = Simulation()
        self.under_way: dict[str, Call] = {}
        self.left_behind: list[Call] = []
        session = self.service.do("CreateSession").answer
        assert session is not None
        self.session, self.root = session.session_id, session.head_floor_id
        self.service.do("CreateBranch", session_id=self.session, branch="side", floor_id=self.root)
        self._words = 0

    def step(self, client: str, what: int, number: int) -> None:
        call = self.under_way.get(client)
        if call is None:
            self.under_way[client] = self._new(client, number)
        elif what == 0:
            self.service.lose(call)
            self.left_behind.append(self.under_way.pop(client))
        elif what == 1 and self.left_behind:
            late = self.left_behind.pop(number % len(self.left_behind))
            if late.result is None:
                self.service.happen(late)
        elif call.result is None:
            self.service.happen(call)
        else:
            self.service.answer(self.under_way.pop(client))

    def _new(self, client: str, number: int) -> Call:
        method, number = METHODS[number % len(METHODS)], number // len(METHODS)
        if method in ("again", "other content"):
            return self._again(client, number, other=method != "again")
        method, asked = self._asked(method, number)
        return self.service.send(method, "", client, **asked)

    def _again(self, client: str, number: int, *, other: bool) -> Call:
        asked = self.service.history[number % len(self.service.history)]
        fields = {name: getattr(asked, name) for name in ASKED}
        if other:
            fields["output"] = self._said()
        return self.service.send(asked.method, asked.request_id, client, **fields)

    def _asked(self, method: str, number: int) -> tuple[str, dict[str, Any]]:
        opened = self._floors(OPEN)
        if method in ("AddPage", "CommitFloor") and opened:
            floor_id = opened[number % len(opened)]
            if method == "AddPage":
                return method, {"floor_id": floor_id, "output": self._said()}
            pages = [page.page_id for page in self.service.pages.values() if page.floor_id == floor_id]
            return method, {"floor_id": floor_id, "page_id": ["", *pages][number % (len(pages) + 1)]}
        turns = [floor_id for floor_id in self._floors(COMMITTED) if floor_id != self.root]
        asked = self._target(turns, number)
        if method == "MoveHead":
            return method, asked | {"floor_id": [self.root, *turns][number % (len(turns) + 1)]}
        if method in ("EditFloor", "RegenerateFloor") and turns:
            asked["floor_id"] = turns[number % len(turns)]
        elif method != "OpenFloor":
            method = "AppendFloor"
        if method != "RegenerateFloor":
            asked["input"] = self._said()
        if method != "OpenFloor":
            asked["output"] = self._said()
        return method, asked

    def _target(self, turns: list[str], number: int) -> dict[str, Any]:
        """A branch, sometimes with an expected head: the one that was just read, or some other."""
        branch = "side" if number % 5 == 0 else "main"
        head = self.service.branches[self.session, branch].head_floor_id
        heads = ["", "", head, head, turns[-1] if turns else self.root]
        expected = heads[number % len(heads)]
        asked = {"session_id": self.session, "branch": branch, "expected_head": expected}
        return asked | {"abandon": number % 7 == 0}

    def _floors(self, state: str) -> list[str]:
        return [floor.floor_id for floor in self.service.floors.values() if floor.state == state]

    def _said(self) -> str:
        self._words += 1
        return f"word {self._words}"


def crowd_after(steps: Sequence[tuple[str, int, int]]) -> Crowd:
    """Everybody did their steps; what is then under way never is answered."""
    crowd = Crowd()
    for step in steps:
        crowd.step(*step)
    crowd.service.history += [call.operation for call in crowd.under_way.values()]
    return crowd


@settings(max_examples=150)
@given(STEPS)
def test_what_keeps_the_promises_passes(steps: list[tuple[str, int, int]]) -> None:
    service = crowd_after(steps).service
    verdict = check(service.history, service.dump())
    assert verdict.passed, "\n".join(verdict.lines())
    outcomes = Counter(operation.outcome for operation in service.history)
    assert (verdict.acknowledged, verdict.refused, verdict.unknown) == (
        outcomes["ok"],
        outcomes["fail"],
        outcomes["unknown"],
    )
    assert verdict.lost == 0


def test_a_move_to_where_the_head_is_already_passes() -> None:
    """Two moves to one floor leave one version, and expect different heads: each what it met."""
    story = Story()
    there = {"session_id": story.session, "floor_id": story.root}
    moves = [
        story.service.do("MoveHead", expected_head=head, client=head, **there)
        for head in ("floor-5", story.root, story.root)
    ]
    assert all(move.acknowledged for move in moves)
    verdict = check(story.service.history, story.service.dump())
    assert verdict.passed, "\n".join(verdict.lines())


def random_steps(count: int, seed: int) -> list[tuple[str, int, int]]:
    random = Random(seed)
    return [(random.choice(CLIENTS), random.randrange(6), random.randrange(2**16)) for _ in range(count)]


def test_the_random_histories_hold_everything_that_can_happen() -> None:
    """The generator itself: of each method something acknowledged, each refusal, both kinds of unknown."""
    service = crowd_after(random_steps(3000, seed=4)).service
    seen = {(operation.method, operation.outcome) for operation in service.history}
    assert {method for method, outcome in seen if outcome == "ok"} == METHODS_JUDGED
    refusals = {operation.reason for operation in service.history if operation.outcome == "fail"}
    expected = {"HEAD_MOVED", "FLOOR_PENDING", "REQUEST_ID_REUSED", "FLOOR_SEALED", "FLOOR_FAILED"}
    assert refusals == expected
    verdict = check(service.history, service.dump())
    assert verdict.passed, "\n".join(verdict.lines())
    assert 0 < verdict.happened < verdict.unknown


def _lines_run(steps: int) -> tuple[int, int]:
    """The calls of a random history, and the lines of code that checking it takes."""
    service = crowd_after(random_steps(steps, seed=7)).service
    dump, lines = service.dump(), 0

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        verdict = check(service.history, dump)
    finally:
        sys.settrace(before)
    assert verdict.passed
    return len(service.history), lines


def test_checking_takes_linear_time() -> None:
    """Counted in lines of code that run, for one session on which all of it happens."""
    small, large = _lines_run(1000), _lines_run(8000)
    assert large[0] > 6 * small[0]
    assert large[1] / large[0] < 1.2 * small[1] / small[0]
