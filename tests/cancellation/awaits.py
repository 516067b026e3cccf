"""The awaits of our source, and which of them a suspended call stands at.

An await is named by its place without line numbers, `kernel/storage/turns.py:Turns.of: async with lock`, so
that a name outlives edits above it. What an `async with` waits for, going in or out, is one await.
"""

import ast
import gc
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

# Characters of an await in its name; should two of a function be the same, they are numbered.
_NAME = 44

# First line and column, last line and column: as the compiler notes them for each instruction.
_Position = tuple[int | None, int | None, int | None, int | None]


class _Awaits(ast.NodeVisitor):
    def __init__(self, path: str) -> None:
        self.found: dict[_Position, str] = {}
        self._path = path
        self._scope: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._inside(node)

    def _inside(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._scope.append(node.name)
        self.generic_visit(node)
        self._scope.pop()

    def visit_Await(self, node: ast.Await) -> None:
        self._add(node, ast.unparse(node))
        self.generic_visit(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        self._add(node, "async with " + ", ".join(ast.unparse(item) for item in node.items))
        self.generic_visit(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self._add(node, f"async for {ast.unparse(node.target)} in {ast.unparse(node.iter)}")
        self.generic_visit(node)

    def _add(self, node: ast.stmt | ast.expr, text: str) -> None:
        position = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        short = text if len(text) <= _NAME else f"{text[:_NAME]}…"
        name = f"{self._path}:{'.'.join(self._scope)}: {short}"
        same = sum(known.split(" #")[0] == name for known in self.found.values())
        self.found[position] = f"{name} #{same + 1}" if same else name


def parsed(source: str, path: str) -> dict[_Position, str]:
    """The awaits of a module by where they are, in the order of the source."""
    awaits = _Awaits(path)
    awaits.visit(ast.parse(source))
    return awaits.found


@cache
def awaits_of(path: str) -> dict[_Position, str]:
    """The same for one of our files, named from the root of the checkout."""
    return parsed((ROOT / path).read_text(), path)


def standing_at(suspended: Any) -> tuple[str, ...]:
    """The awaits of ours that a suspended coroutine stands at, from the outside in."""
    return tuple(name for frame, last in _frames(suspended) if (name := _name(frame.f_code, last)))


@cache
def _name(code: types.CodeType, last: int) -> str | None:
    path = Path(code.co_filename)
    if not path.is_relative_to(ROOT) or path.is_relative_to(ROOT / ".venv"):
        return None
    first_line, last_line, first_column, last_column = list(code.co_positions())[last // 2]
    return awaits_of(str(path.relative_to(ROOT))).get((first_line, first_column, last_line, last_column))


_Suspendable = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)


def _frames(outermost: Any) -> Iterator[tuple[types.FrameType, int]]:
    """The frames of a chain of awaits, each with the offset of the instruction that it stands at."""
    awaited = outermost
    while awaited is not None:
        if not isinstance(awaited, _Suspendable):
            # The step of an asynchronous generator, and the like: what it steps is known to the collector
            # alone. A future is the end of the chain.
            awaited = next(
                (held for held in gc.get_referents(awaited) if isinstance(held, _Suspendable)), None
            )
            continue
        prefix = {types.CoroutineType: "cr", types.GeneratorType: "gi"}.get(type(awaited), "ag")
        frame = getattr(awaited, f"{prefix}_frame")
        if frame is None:
            return
        yield frame, frame.f_lasti
        awaited = getattr(awaited, "gi_yieldfrom" if prefix == "gi" else f"{prefix}_await")
