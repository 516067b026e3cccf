"""Histories and dumps as files; the format is `tools.history.model`'s."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, get_type_hints

from tools.history.model import (
    Answer,
    BranchRow,
    Dump,
    EventRow,
    FeedRow,
    FloorRow,
    MoveRow,
    Operation,
    Outcome,
    PageRow,
    RequestRow,
    SessionRow,
)

_ROWS: dict[str, Any] = {
    "sessions": SessionRow,
    "floors": FloorRow,
    "pages": PageRow,
    "branches": BranchRow,
    "moves": MoveRow,
    "requests": RequestRow,
    "events": EventRow,
    "feeds": FeedRow,
}


class BadFile(ValueError):
    """A line that is not of the format; says which."""


class HistoryWriter:
    """Records calls as they are made. For one event loop; any number of clients may share it.

    A line is with the operating system before `invoke` returns: whatever becomes of this process, a call
    that was sent is in the file. `counts` are of the outcomes so far.
    """

    def __init__(self, path: Path) -> None:
        """A new file; FileExistsError when there is one."""
        self._file = open(path, "x", encoding="utf-8", buffering=1)  # noqa: SIM115 (held until close)
        self._sequence = 0
        self._operations = 0
        self.counts: Counter[str] = Counter()

    def invoke(self, **asked: Any) -> Operation:
        """A call that is about to be sent; `asked` are fields of Operation."""
        self._operations += 1
        operation = Operation(op=self._operations, invoked=self._next(), **asked)
        self._file.write(_line(operation))
        return operation

    def complete(
        self,
        operation: Operation,
        outcome: Outcome,
        *,
        reason: str = "",
        current_head: str = "",
        answer: Answer | None = None,
    ) -> Operation:
        """What came of it."""
        done = replace(
            operation,
            returned=self._next(),
            outcome=outcome,
            reason=reason,
            current_head=current_head,
            answer=answer,
        )
        self.counts[outcome] += 1
        self._file.write(_line(done))
        return done

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> HistoryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence


def read_history(path: Path) -> Iterator[Operation]:
    """Every call once: in the order in which they were over, then those that never were.

    Holds only what is under way. A last line that was cut off is no line. Raises BadFile.
    """
    under_way: dict[int, Operation] = {}
    for number, values in _lines(path):
        if values.get("answer") is not None:
            values["answer"] = _made(Answer, values["answer"], number)
        operation: Operation = _made(Operation, values, number)
        if operation.returned is None:
            under_way[operation.op] = operation
        else:
            under_way.pop(operation.op, None)
            yield operation
    yield from under_way.values()


def write_dump(dump: Dump, path: Path) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for name in _ROWS:
            for row in getattr(dump, name):
                file.write(_line(row, row=name))


def read_dump(path: Path) -> Dump:
    """Raises BadFile."""
    dump = Dump()
    for number, values in _lines(path):
        name = values.pop("row", None)
        if name not in _ROWS:
            raise BadFile(f"line {number}: `row` is none of {', '.join(_ROWS)}")
        if name == "branches":
            values["path"] = tuple(values.get("path", ()))
        getattr(dump, name).append(_made(_ROWS[name], values, number))
    return dump


def _line(record: Any, **more: str) -> str:
    values: dict[str, Any] = dict(more)
    for field in fields(record):
        value = getattr(record, field.name)
        if not _is_default(field, value):
            values[field.name] = _answer_values(value) if isinstance(value, Answer) else value
    return json.dumps(values, separators=(",", ":")) + "\n"


def _answer_values(answer: Answer) -> dict[str, Any]:
    found = ((field, getattr(answer, field.name)) for field in fields(answer))
    return {field.name: value for field, value in found if not _is_default(field, value)}


def _is_default(field: Field[Any], value: object) -> bool:
    return field.default is not MISSING and value == field.default


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith("\n"):
                return
            try:
                values = json.loads(line)
            except json.JSONDecodeError as error:
                raise BadFile(f"line {number}: not JSON, at character {error.pos}") from None
            if not isinstance(values, dict):
                raise BadFile(f"line {number}: not an object")
            yield number, values


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _made(kind: Any, values: dict[str, Any], number: int) -> Any:
    """A record of that kind; numbers, texts and flags must be what they are declared to be."""
    hints = _hints(kind)
    for name, value in values.items():
        wanted = hints.get(name)
        if wanted is None:
            raise BadFile(f"line {number}: no {kind.__name__} has a field `{name}`")
        if wanted in (int, str, bool) and type(value) is not wanted:
            raise BadFile(f"line {number}: `{name}` is not of type {wanted.__name__}")
    try:
        return kind(**values)
    except TypeError as error:
        raise BadFile(f"line {number}: {error}") from None
