"""A service that keeps its promises, in a few lines: it makes histories that must pass.

A call is sent (`send`), takes effect at once (`happen`), and is answered (`answer`) or its answer is lost
(`lose`), each whenever the test likes, and calls of other clients between them. What is not to happen is
simply not made to. Ids and digests are words.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from tools.history.model import (
    COMMITTED,
    FAILED,
    OPEN,
    Answer,
    BranchRow,
    Dump,
    EventRow,
    FeedRow,
    FloorRow,
    MoveRow,
    Operation,
    PageRow,
    RequestRow,
    SessionRow,
)

PROJECT = "project"


class Refused(Exception):
    """A reason, and the head for HEAD_MOVED."""

    def __init__(self, reason: str, head: str = "") -> None:
        super().__init__(reason)
        self.reason, self.head = reason, head


@dataclass
class Call:
    """One call on its way; `result` once it has happened."""

    operation: Operation
    result: Answer | Refused | None = None


class Simulation:
    def __init__(self) -> None:
        self.history: list[Operation] = []
        self.sessions: dict[str, SessionRow] = {}
        self.floors: dict[str, FloorRow] = {}
        self.pages: dict[str, PageRow] = {}
        self.branches: dict[tuple[str, str], BranchRow] = {}
        self.moves: list[MoveRow] = []
        self.events: list[EventRow] = []
        self.done: dict[tuple[str, str], tuple[RequestRow, Answer]] = {}
        self._sequence = 0
        self._made: Counter[str] = Counter()

    def send(self, method: str, request_id: str = "", client: str = "a", **asked: Any) -> Call:
        """A call under way. The content is what it asks, so equal fields are a repeat."""
        number = self._made["operation"] = self._made["operation"] + 1
        fields = {name: value for name, value in ({"branch": "main"} | asked).items() if value}
        content = f"{method} {sorted(fields.items())}"
        request_id = request_id or f"request-{number}"
        return Call(Operation(number, client, method, request_id, content, self._tick(), **fields))

    def happen(self, call: Call) -> None:
        """Now, wholly: or it is found done already, or refused."""
        asked = call.operation
        before = self.done.get((asked.method, asked.request_id))
        if before is not None:
            row, answer = before
            call.result = answer if row.fingerprint == asked.fingerprint else Refused("REQUEST_ID_REUSED")
            return
        try:
            answer = getattr(self, f"_{asked.method}")(asked)
        except Refused as refused:
            call.result = refused
            return
        call.result = replace(answer, raw=f"bytes of {asked.request_id}")
        self.done[asked.method, asked.request_id] = (self._row(asked, call.result), call.result)

    def answer(self, call: Call) -> Operation:
        if isinstance(call.result, Answer):
            return self._over(replace(call.operation, outcome="ok", answer=call.result))
        assert call.result is not None, "it has not happened yet"
        refused = call.result
        return self._over(
            replace(call.operation, outcome="fail", reason=refused.reason, current_head=refused.head)
        )

    def lose(self, call: Call) -> Operation:
        """The caller gives up."""
        return self._over(replace(call.operation, reason="DEADLINE_EXCEEDED"))

    def do(self, method: str, request_id: str = "", client: str = "a", **asked: Any) -> Operation:
        """Sent, happened, answered."""
        call = self.send(method, request_id, client, **asked)
        self.happen(call)
        return self.answer(call)

    def dump(self) -> Dump:
        return Dump(
            list(self.sessions.values()),
            list(self.floors.values()),
            list(self.pages.values()),
            [replace(branch, path=self._path(branch.head_floor_id)) for branch in self.branches.values()],
            list(self.moves),
            [row for row, _ in self.done.values()],
            list(self.events),
            [FeedRow(PROJECT, len(self.events))] if self.events else [],
        )

    # What each method does; only what was checked is changed.

    def _CreateSession(self, asked: Operation) -> Answer:
        session, root = self._id("session"), self._id("root")
        self.sessions[session] = SessionRow(session, PROJECT, root)
        self.floors[root] = FloorRow(session, root, "", COMMITTED, 0, 0, f"digest of {root}")
        self.branches[session, "main"] = BranchRow(session, "main", root, "", 1)
        self._tell("session.created", session, root)
        return Answer(session_id=session, head_floor_id=root, version=1)

    def _CreateBranch(self, asked: Operation) -> Answer:
        pointer = asked.session_id, asked.branch
        self.branches[pointer] = BranchRow(*pointer, asked.floor_id, "", 1)
        self._tell("branch.created", asked.session_id, asked.floor_id, branch=asked.branch)
        return Answer(head_floor_id=asked.floor_id, version=1)

    def _AppendFloor(self, asked: Operation) -> Answer:
        branch = self._free(asked)
        floor = self._floor(asked, branch.head_floor_id, asked.input, asked.output)
        return self._commit(branch, floor)

    def _EditFloor(self, asked: Operation) -> Answer:
        branch, source = self._free(asked), self.floors[asked.floor_id]
        return self._commit(branch, self._floor(asked, source.parent_floor_id, asked.input, asked.output))

    def _RegenerateFloor(self, asked: Operation) -> Answer:
        branch, source = self._free(asked), self.floors[asked.floor_id]
        return self._commit(branch, self._floor(asked, source.parent_floor_id, source.input, asked.output))

    def _MoveHead(self, asked: Operation) -> Answer:
        branch = self._free(asked)
        if branch.head_floor_id != asked.floor_id:
            back = asked.floor_id in ("", *self._path(branch.head_floor_id))
            branch = self._moved(branch, asked.floor_id, "rollback" if back else "checkout")
        return Answer(head_floor_id=branch.head_floor_id, version=branch.version)

    def _OpenFloor(self, asked: Operation) -> Answer:
        branch = self._free(asked)
        floor = self._floor(asked, branch.head_floor_id, asked.input, "")
        branch = self._set(branch, pending_floor_id=floor.floor_id)
        return self._shown(floor, branch)

    def _AddPage(self, asked: Operation) -> Answer:
        floor, page = self._open(asked), self._id("page")
        self.pages[page] = PageRow(page, floor.floor_id, asked.output)
        if not floor.output:
            floor = self.floors[floor.floor_id] = replace(floor, output=asked.output, output_page_id=page)
        return replace(self._shown(floor, None), page_id=page)

    def _CommitFloor(self, asked: Operation) -> Answer:
        floor = self._open(asked)
        if asked.page_id:
            floor = replace(floor, output=self.pages[asked.page_id].content, output_page_id=asked.page_id)
        (branch,) = (b for b in self.branches.values() if b.pending_floor_id == floor.floor_id)
        return self._commit(branch, floor)

    def _free(self, asked: Operation) -> BranchRow:
        branch = self.branches[asked.session_id, asked.branch]
        if branch.pending_floor_id and not asked.abandon:
            raise Refused("FLOOR_PENDING")
        if asked.expected_head not in ("", branch.head_floor_id):
            raise Refused("HEAD_MOVED", branch.head_floor_id)
        if branch.pending_floor_id:
            pending = self.floors[branch.pending_floor_id]
            self.floors[pending.floor_id] = replace(pending, state=FAILED)
            branch = self._set(branch, pending_floor_id="")
        return branch

    def _open(self, asked: Operation) -> FloorRow:
        floor = self.floors[asked.floor_id]
        if floor.state != OPEN:
            raise Refused("FLOOR_SEALED" if floor.state == COMMITTED else "FLOOR_FAILED")
        return floor

    def _floor(self, asked: Operation, parent: str, input: str, output: str) -> FloorRow:
        ordinal = sum(floor.parent_floor_id == parent for floor in self.floors.values())
        floor_id, depth = self._id("floor"), self.floors[parent].depth + 1
        page = self._id("page") if output else ""
        floor = FloorRow(
            asked.session_id, floor_id, parent, OPEN, depth, ordinal, "", input, output, page, "local"
        )
        self.floors[floor_id] = floor
        return floor

    def _commit(self, branch: BranchRow, floor: FloorRow) -> Answer:
        floor = replace(floor, state=COMMITTED, digest=f"digest of {floor.floor_id}")
        self.floors[floor.floor_id] = floor
        return self._shown(floor, self._moved(branch, floor.floor_id, "commit"))

    def _moved(self, branch: BranchRow, to: str, kind: str) -> BranchRow:
        move = MoveRow(branch.session_id, branch.name, branch.head_floor_id, to, kind)
        self.moves.append(move)
        told = "floor.committed" if kind == "commit" else "head.moved"
        ends = {"from_floor_id": move.from_floor_id, "to_floor_id": to, "kind": kind}
        self._tell(told, branch.session_id, to, branch=branch.name, **ends)
        return self._set(branch, head_floor_id=to, pending_floor_id="")

    def _set(self, branch: BranchRow, **values: str) -> BranchRow:
        changed = replace(branch, version=branch.version + 1, **values)
        self.branches[branch.session_id, branch.name] = changed
        return changed

    def _shown(self, floor: FloorRow, branch: BranchRow | None) -> Answer:
        names = ("session_id", "floor_id", "parent_floor_id", "digest", "state", "depth", "input", "output")
        values: dict[str, Any] = {name: getattr(floor, name) for name in names}
        if branch is not None:
            values["head_floor_id"], values["version"] = branch.head_floor_id, branch.version
            values["pending_floor_id"] = branch.pending_floor_id
        return Answer(**values)

    def _row(self, asked: Operation, answer: Answer) -> RequestRow:
        return RequestRow(
            asked.method,
            asked.request_id,
            asked.fingerprint,
            session_id=answer.session_id or asked.session_id,
            floor_id=answer.floor_id,
            floor_state=answer.state,
            page_id=answer.page_id,
            branch=self._branch_of(asked, answer),
            head_floor_id=answer.head_floor_id,
            version=answer.version,
        )

    def _branch_of(self, asked: Operation, answer: Answer) -> str:
        if not answer.version:
            return ""
        if asked.method != "CommitFloor":
            return asked.branch
        return next(b.name for b in self.branches.values() if b.head_floor_id == answer.floor_id)

    def _path(self, floor_id: str) -> tuple[str, ...]:
        found: list[str] = []
        while self.floors[floor_id].parent_floor_id:
            found.append(floor_id)
            floor_id = self.floors[floor_id].parent_floor_id
        return tuple(reversed(found))

    def _tell(self, what: str, session: str, floor: str, **payload: str) -> None:
        position = len(self.events) + 1
        self.events.append(EventRow(PROJECT, position, f"event-{position}", what, session, floor, **payload))

    def _over(self, operation: Operation) -> Operation:
        done = replace(operation, returned=self._tick())
        self.history.append(done)
        return done

    def _tick(self) -> int:
        self._sequence += 1
        return self._sequence

    def _id(self, kind: str) -> str:
        self._made[kind] += 1
        return f"{kind}-{self._made[kind]}"
