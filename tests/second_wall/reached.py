"""Which functions of the storages make statements, and which of them were run."""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[2]
STORAGES = ("kernel/storage", "conversation_service/storage", "draft_service/storage")
_MAKERS = {"select", "insert", "update", "delete", "sql_delete", "upsert", "_insert", "union"}

Place = tuple[str, str]
"""(file from the root, function)."""


def makers() -> set[Place]:
    """Functions with a statement in them."""
    found: set[Place] = set()
    for folder in STORAGES:
        for path in sorted((ROOT / folder).glob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _makes(node):
                    found.add((str(path.relative_to(ROOT)), node.name))
    return found


def _makes(function: ast.AST) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _MAKERS:
                return True
    return False


@contextmanager
def run_functions() -> Iterator[set[Place]]:
    """Those of the storages that are called on this thread while the block lasts."""
    files = {str(ROOT / folder): folder for folder in STORAGES}
    known: dict[Any, bool] = {}
    found: set[Place] = set()

    def called(frame: FrameType, what: str, _: Any) -> None:
        code = frame.f_code
        if what != "call" or code in known:
            return
        path = Path(code.co_filename)
        known[code] = str(path.parent) in files
        if known[code]:
            found.add((str(path.relative_to(ROOT)), code.co_name))

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield found
    finally:
        sys.setprofile(before)
