"""Plants faults one by one, and demands that a named test catches each.

tools/mutants.toml lists them:

    [[mutant]]
    name = "no head check"
    file = "kernel/storage/append.py"        # from the root of the project
    old = "AND head = :expected"             # must stand there exactly once
    new = ""
    test = "tests/rpc/test_heads.py::test_one_of_32_wins"   # a pytest node id, or a list of some

A mutant is caught when one of its tests *fails*: an error before the test (an import, a fixture) does not
count, nor does running out of time. First all named tests must pass as things are. Each mutant has its own
copy of the project; two run at a time. `python -m tools.mutants NAME…` runs those whose name has NAME in it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tools.files import project_files

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: in `file`, `old` becomes `new`, and one of `tests` fails."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What pytest said: how many tests ran, the names of those that failed or had errors, its words."""

    ran: int
    failed: tuple[str, ...]
    errors: tuple[str, ...]
    output: str


class MutantError(Exception):
    """The list, or an entry of it, does not fit the project."""


def load(path: Path) -> list[Mutant]:
    """The list in a TOML file. Raises MutantError for one that is malformed."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
        mutants = [
            Mutant(
                name=entry["name"],
                file=entry["file"],
                old=entry["old"],
                new=entry["new"],
                tests=tuple([entry["test"]] if isinstance(entry["test"], str) else entry["test"]),
            )
            for entry in entries
        ]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        raise MutantError(f"{path.name}: {error!r}") from error
    if len({mutant.name for mutant in mutants}) != len(mutants):
        raise MutantError(f"{path.name}: two mutants have the same name")
    return mutants


def plant(mutant: Mutant, tree: Path) -> None:
    """Changes the file below `tree`. Raises MutantError unless `old` stands there exactly once."""
    path = tree / mutant.file
    if not path.is_file():
        raise MutantError(f"{mutant.file} is not there")
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise MutantError(f"{mutant.file} has the old text {text.count(mutant.old)} times, not once")
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")


def copy(root: Path, tree: Path) -> None:
    """Copies the project's files, and no caches or environment."""
    for path in project_files(root):
        target = tree / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)


def run_tests(tree: Path, tests: Iterable[str]) -> Result:
    """Runs the tests of a copy against that copy's sources. Raises MutantError when time runs out."""
    report = tree / "report.xml"
    sources = os.pathsep.join(str(tree / folder) for folder in (".", "cli", "clients/python", "protos/gen"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    try:
        done = subprocess.run(
            [*command, *dict.fromkeys(tests)],
            cwd=tree,
            env={**os.environ, "PYTHONPATH": sources, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise MutantError(f"its tests did not end within {TIMEOUT_SECONDS:.0f} s") from error
    if not report.exists():
        return Result(0, (), (f"pytest exit status {done.returncode}",), done.stdout)
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))

    def with_(tag: str) -> tuple[str, ...]:
        return tuple(f"{case.get('name')}" for case in cases if case.find(tag) is not None)

    return Result(len(cases), with_("failure"), with_("error"), done.stdout)


def attempt(root: Path, mutant: Mutant) -> str:
    """The name of the test that caught the mutant. Raises MutantError when none did."""
    with tempfile.TemporaryDirectory(prefix="stemma-mutant-") as folder:
        copy(root, Path(folder))
        plant(mutant, Path(folder))
        result = run_tests(Path(folder), mutant.tests)
    if not result.failed:
        why = f"error: {', '.join(result.errors)}" if result.errors else "SURVIVED: its tests pass"
        raise MutantError(f"{why}\n{result.output}" if result.errors else why)
    return result.failed[0]


def check_unmutated(root: Path, mutants: Sequence[Mutant]) -> None:
    """Raises MutantError unless every named test exists and passes as things are."""
    with tempfile.TemporaryDirectory(prefix="stemma-mutant-") as folder:
        copy(root, Path(folder))
        for mutant in mutants:
            plant(mutant, Path(folder))
            shutil.copy2(root / mutant.file, Path(folder) / mutant.file)
        result = run_tests(Path(folder), [test for mutant in mutants for test in mutant.tests])
    if result.failed or result.errors or not result.ran:
        raise MutantError(f"a named test does not pass without any mutant:\n{result.output}")


def run_all(root: Path, mutants: Sequence[Mutant]) -> int:
    """Prints a line for each mutant; the number that was not caught."""
    uncaught = 0
    started = time.monotonic()
    width = max(len(mutant.name) for mutant in mutants)
    with ThreadPoolExecutor(max_workers=2) as pool:
        running = {pool.submit(attempt, root, mutant): mutant for mutant in mutants}
        for future in as_completed(running):
            name = running[future].name
            try:
                print(f"mutants: {name:{width}}  caught by {future.result()}", flush=True)
            except MutantError as error:
                uncaught += 1
                print(f"mutants: {name:{width}}  NOT CAUGHT  {error}", flush=True)
    caught = len(mutants) - uncaught
    print(f"mutants: {caught} of {len(mutants)} caught in {time.monotonic() - started:.0f} s")
    return uncaught


def main() -> int:
    """Exit status 0 when every mutant was caught, 1 when not, 2 when the list does not fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--root", type=Path, default=ROOT, help="the project")
    parser.add_argument("names", nargs="*", help="parts of names (all when none)")
    options = parser.parse_args()
    try:
        mutants = load(options.root / "tools/mutants.toml")
        if options.names:
            mutants = [m for m in mutants if any(name in m.name for name in options.names)]
        if not mutants:
            raise MutantError("no such mutant")
        print(f"mutants: {len(mutants)}; first their tests without any", flush=True)
        check_unmutated(options.root, mutants)
    except MutantError as error:
        print(f"mutants: {error}")
        return 2
    return 1 if run_all(options.root, mutants) else 0


if __name__ == "__main__":
    sys.exit(main())
