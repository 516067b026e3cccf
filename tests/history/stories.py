"""One good history, in which all kinds of things happen, and the tools to spoil it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.history.simulation import Simulation
from tools.history.model import Answer, Dump, FloorRow, MoveRow, Operation, RequestRow

# How a story is spoiled, the rule that it breaks then, the calls to be named first, and words of the message.
Bad = tuple[Callable[["Story"], object], str, tuple[int, ...], str]


def having(**values: str) -> Callable[[object], bool]:
    """Whether a row has these values."""
    return lambda row: all(getattr(row, name) == value for name, value in values.items())


class Story:
    """Thirteen calls on one session:

    1 CreateSession · 2 AppendFloor floor-1 at the root · 3 AppendFloor floor-2 · 4 the same again ·
    5 AppendFloor at the root, refused · 6 EditFloor of floor-1: floor-3 · 7 MoveHead to floor-2 ·
    8 OpenFloor floor-4 · 9 AddPage page-4 · 10 CommitFloor · 11 AppendFloor floor-5, its answer lost ·
    12 AppendFloor, lost before it happened · 13 AppendFloor with the request id of 2, refused
    """

    def __init__(self, service: Simulation | None = None) -> None:
        self.service = s = service or Simulation()
        opened = s.do("CreateSession").answer
        assert opened is not None
        self.session, self.root = opened.session_id, opened.head_floor_id
        self.append("2", expected_head=self.root)
        self.append("3", "request-3", client="b")
        self.append("3", "request-3", client="b")
        self.append("5", expected_head=self.root)
        s.do("EditFloor", session_id=self.session, floor_id="floor-1", input="in 6", output="out 6")
        s.do("MoveHead", session_id=self.session, floor_id="floor-2")
        s.do("OpenFloor", session_id=self.session, input="in 8")
        s.do("AddPage", branch="", floor_id="floor-4", output="out 9")
        s.do("CommitFloor", branch="", floor_id="floor-4", page_id="page-4")
        lost = s.send("AppendFloor", session_id=self.session, input="in 11", output="out 11")
        s.happen(lost)
        s.lose(lost)
        s.lose(s.send("AppendFloor", session_id=self.session, input="in 12", output="out 12"))
        self.append("13", "request-2")
        self.dump: Dump = s.dump()
        self.history: list[Operation] = s.history

    def append(self, words: str, request_id: str = "", **asked: Any) -> Operation:
        said = {"input": f"in {words}", "output": f"out {words}"}
        return self.service.do("AppendFloor", request_id, session_id=self.session, **said, **asked)

    def call(self, op: int) -> Operation:
        return next(operation for operation in self.history if operation.op == op)

    def retell(self, op: int, **values: Any) -> None:
        """One call is recorded otherwise; `answer` takes the fields that change in it."""
        call = self.call(op)
        if "answer" in values and values["answer"] is not None:
            values["answer"] = replace(call.answer or Answer(), **values["answer"])
        self.history[self.history.index(call)] = replace(call, **values)

    def change(self, rows: str, which: Callable[[Any], bool], **values: Any) -> None:
        """Rows of the dump are otherwise; at least one."""
        table = getattr(self.dump, rows)
        found = [number for number, row in enumerate(table) if which(row)]
        assert found
        for number in found:
            table[number] = replace(table[number], **values)

    def remove(self, rows: str, which: Callable[[Any], bool]) -> None:
        table = getattr(self.dump, rows)
        left = [row for row in table if not which(row)]
        assert len(left) < len(table)
        setattr(self.dump, rows, left)

    def floor(self, floor_id: str, **values: Any) -> None:
        self.change("floors", lambda row: row.floor_id == floor_id, **values)

    def branch(self, **values: Any) -> None:
        self.change("branches", lambda row: row.name == "main", **values)

    def request(self, op: int, **values: Any) -> None:
        self.change("requests", lambda row: row.request_id == f"request-{op}", **values)

    def forget_last_turn(self, *, but: str) -> None:
        """Of the lost and happened turn 11 only one kind of row stays."""
        if but != "floors":
            self.remove("floors", lambda row: row.floor_id == "floor-5")
        if but != "requests":
            self.remove("requests", lambda row: row.request_id == "request-11")
        if but != "moves":
            self.remove("moves", lambda row: row.to_floor_id == "floor-5")
            branch = self.dump.branches[0]
            self.branch(head_floor_id="floor-4", path=branch.path[:-1], version=branch.version - 1)
        if but != "events":
            self.remove("events", lambda row: row.floor_id == "floor-5")
            self.dump.feeds = [replace(feed, last=feed.last - 1) for feed in self.dump.feeds]

    def add_floor(self, **values: Any) -> None:
        """One more floor at the root, with the next ordinal."""
        self.dump.floors.append(
            FloorRow(self.session, "floor-9", self.root, "committed", 1, 2, "digest", **values)
        )

    def add_move(self, start: str, end: str, kind: str) -> None:
        self.dump.moves.append(MoveRow(self.session, "main", start, end, kind))

    def add_request(self, **values: Any) -> None:
        self.dump.requests.append(RequestRow(**values))


class NoHeadCheck(Simulation):
    """A service that never looks at `expected_head`."""

    def _free(self, asked: Operation) -> Any:
        return super()._free(replace(asked, expected_head=""))


class NoMemory(Simulation):
    """A service that forgets which requests it has done: a repeat is done again."""

    def happen(self, call: Any) -> None:
        kept = dict(self.done)
        if call.operation.op == 4:
            self.done.clear()
        super().happen(call)
        self.done = {**self.done, **kept}
