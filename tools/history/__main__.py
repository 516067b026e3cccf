"""`python -m tools.history check HISTORY DUMP` prints the verdict. Exit status 1 when a promise is broken, 2
for files that cannot be read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.history.checker import check
from tools.history.files import BadFile, read_dump, read_history


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.history", description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("check", help="judge a history by a dump")
    command.add_argument("history", type=Path)
    command.add_argument("dump", type=Path)
    given = parser.parse_args(arguments)
    try:
        verdict = check(read_history(given.history), read_dump(given.dump))
    except (BadFile, OSError, ValueError) as error:
        print(f"history: {error}", file=sys.stderr)
        return 2
    print("\n".join(verdict.lines()))
    return 0 if verdict.passed else 1


if __name__ == "__main__":
    sys.exit(main())
