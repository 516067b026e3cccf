"""A history and a dump, indexed once: what every rule asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tools.history.model import (
    COMMITTED,
    BranchRow,
    Dump,
    FloorRow,
    MoveRow,
    Operation,
    RequestRow,
    Rule,
    SessionRow,
    Violation,
)

# Tenant, method and request id: what a request is known by (R1).
Key = tuple[str, str, str]
# A session's branch.
Pointer = tuple[str, str]

MAKES_A_FLOOR = frozenset({"AppendFloor", "OpenFloor", "EditFloor", "RegenerateFloor"})
METHODS = MAKES_A_FLOOR | {"CreateSession", "CreateBranch", "AddPage", "CommitFloor", "MoveHead"}


@dataclass(slots=True)
class Ask:
    """One request: its calls have the same id and the same content. `row`: it is recorded as done."""

    key: Key
    fingerprint: str
    calls: list[Operation] = field(default_factory=list)
    row: RequestRow | None = None
    # Of its calls: the first to be sent; the first to be acknowledged, if one was.
    first: Operation = field(init=False)
    told: Operation | None = None

    def add(self, call: Operation) -> None:
        if not self.calls or call.invoked < self.first.invoked:
            self.first = call
        if call.acknowledged and (self.told is None or _returned(call) < _returned(self.told)):
            self.told = call
        self.calls.append(call)

    @property
    def refused(self) -> bool:
        """All of its calls were told that nothing happened."""
        return all(call.refused for call in self.calls)

    @property
    def said(self) -> str:
        """What nobody else said; empty for a request without words."""
        return self.first.output or self.first.input

    @property
    def blamed(self) -> Operation:
        """The call to name first."""
        return self.told or self.first


def _returned(call: Operation) -> int:
    return call.invoked if call.returned is None else call.returned


def named(call: Operation) -> str:
    return f"operation {call.op} ({call.method} of {call.client})"


class Evidence:
    """Everything by its id, and the violations found so far."""

    def __init__(self, history: Iterable[Operation], dump: Dump) -> None:
        self.dump = dump
        self.asks: dict[Key, dict[str, Ask]] = {}
        self.calls = 0
        self._end = 0
        for call in history:
            self._add(call)
        self.rows: dict[Key, RequestRow] = {(r.tenant, r.method, r.request_id): r for r in dump.requests}
        self._attach()
        self.sessions: dict[str, SessionRow] = {row.session_id: row for row in dump.sessions}
        self.floors: dict[str, FloorRow] = {row.floor_id: row for row in dump.floors}
        self.pages = {row.page_id: row for row in dump.pages}
        self.branches: dict[Pointer, BranchRow] = {(row.session_id, row.name): row for row in dump.branches}
        self.moves: dict[Pointer, list[MoveRow]] = {}
        for move in dump.moves:
            self.moves.setdefault((move.session_id, move.branch), []).append(move)
        # Which request made a floor, and which committed it.
        self.made_by: dict[str, Ask] = {}
        self.committed_by: dict[str, Ask] = {}
        self._claim()
        self.lost: set[tuple[Key, str]] = set()
        self.violations: list[Violation] = []

    def broken(self, rule: Rule, text: str, *calls: Operation | None) -> None:
        """A violation; `calls`: those concerned, the one to blame first."""
        known = [call for call in calls if call is not None]
        at = known[0].invoked if known else self._end + 1
        self.violations.append(Violation(rule, tuple(call.op for call in known), at, text))

    def lose(self, ask: Ask, text: str) -> None:
        """An acknowledged request that left no effect, or not the one that was acknowledged (R2)."""
        assert ask.told is not None
        self.lost.add((ask.key, ask.fingerprint))
        self.broken("R2", text, ask.told)

    def every_ask(self) -> Iterable[Ask]:
        return (ask for twins in self.asks.values() for ask in twins.values())

    def ask_of(self, row: RequestRow) -> Ask | None:
        return self.asks.get((row.tenant, row.method, row.request_id), {}).get(row.fingerprint)

    def behind(self, floor_id: str) -> Operation | None:
        """The call that committed a floor, or made it: to name in a message."""
        ask = self.committed_by.get(floor_id) or self.made_by.get(floor_id)
        return ask.blamed if ask else None

    def _add(self, call: Operation) -> None:
        if call.method not in METHODS:
            raise ValueError(f"operation {call.op}: the checker does not judge {call.method}")
        self.calls += 1
        self._end = max(self._end, call.invoked, call.returned or 0)
        key = (call.tenant, call.method, call.request_id)
        twins = self.asks.setdefault(key, {})
        if call.fingerprint not in twins:
            twins[call.fingerprint] = Ask(key, call.fingerprint)
        twins[call.fingerprint].add(call)

    def _attach(self) -> None:
        for row in self.dump.requests:
            if ask := self.ask_of(row):
                ask.row = row

    def _claim(self) -> None:
        for row in self.dump.requests:
            ask = self.ask_of(row)
            if ask is None:
                continue
            if row.method in MAKES_A_FLOOR:
                self.made_by.setdefault(row.floor_id, ask)
            if row.floor_state == COMMITTED:
                self.committed_by.setdefault(row.floor_id, ask)
