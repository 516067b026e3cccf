"""The rules of the house that no linter knows, for every Python file but the generated ones: files of at
most 400 lines, functions of at most 60, no unfinished marks, no skipped tests, no waiting for the clock.
Prints `file:line: what`; exit status 1 when anything is found.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.files import project_files

ROOT = Path(__file__).resolve().parent.parent
MAX_FILE = 400
MAX_FUNCTION = 60

# Spelled so that this file does not match itself.
MARKS: dict[str, re.Pattern[str]] = {
    "an unfinished mark": re.compile(r"\b(?:[T]ODO|[F]IXME|[X]XX|[H]ACK)\b|raise [N]otImplementedError"),
    "a skipped test": re.compile(r"pytest[.](?:skip|xfail|importorskip)\b|mark[.](?:skip|skipif|xfail)\b"),
    "a swallowed error": re.compile(r"except (?:Base)?Exception:\s*pass\b|except:\s*pass\b"),
    "a fixed sleep": re.compile(r"\btime[.]sleep\("),
}


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def problems(text: str) -> Iterator[tuple[int, str]]:
    """Line number (from 1) and what is wrong, for each thing found in the source of one module.

    Raises SyntaxError when it is not Python.
    """
    lines = text.splitlines()
    if len(lines) > MAX_FILE:
        yield 1, f"{len(lines)} lines; at most {MAX_FILE}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _length(node) > MAX_FUNCTION:
            yield node.lineno, f"{node.name} has {_length(node)} lines; at most {MAX_FUNCTION}"
    for what, pattern in MARKS.items():
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, what


def main(root: Path = ROOT) -> int:
    """Exit status 0 when there is nothing."""
    found = 0
    for path in project_files(root, "*.py"):
        relative = path.relative_to(root)
        if relative.parts[:2] == ("protos", "gen"):
            continue
        for number, what in problems(path.read_text(encoding="utf-8")):
            print(f"{relative}:{number}: {what}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
