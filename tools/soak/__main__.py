"""Kills the service and PostgreSQL under load, and judges what is left. Exit status 0 when nothing was lost,
changed or half, and every planted fault was found; 1 when not; 130 on Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import secrets
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tools.soak.controls import controls
from tools.soak.leg import Plan, Result, run
from tools.soak.replica import Stuck
from tools.soak.report import ROOT, Soak, details, markdown, summary

# Kills of the service on SQLite, on PostgreSQL, and of PostgreSQL.
FULL, QUICK = (80, 120, 50), (4, 6, 5)


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 and 5 kills instead of 200 and 50")
    parser.add_argument("--seed", type=int, help="draws kills and calls; a new one by default")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), help="this one only, and no controls")
    parser.add_argument("--control", choices=tuple(controls(0)), help="this planted fault only")
    parser.add_argument("--keep", type=Path, help="a folder for the histories and dumps")
    parser.add_argument("--report", type=Path, help="where to write it (a full run: docs/soak.md)")
    return parser.parse_args(given)


def _command(options: argparse.Namespace) -> str:
    """What does the same again; where the files went does not matter."""
    words = ["--quick"] if options.quick else []
    for name in ("engine", "control", "seed"):
        if (value := getattr(options, name)) is not None:
            words.append(f"--{name} {value}")
    return f'make soak ARGS="{" ".join(words)}"'


def _legs(options: argparse.Namespace) -> list[Plan]:
    sqlite, service, postgres = QUICK if options.quick else FULL
    plans = [
        Plan("sqlite", options.seed, service_kills=sqlite, postgres_kills=0),
        Plan("postgres", options.seed, service_kills=service, postgres_kills=postgres, replicas=2),
    ]
    return [] if options.control else [plan for plan in plans if options.engine in (None, plan.engine)]


class _Progress:
    """One line that is written over, on a terminal; elsewhere a line every five seconds."""

    def __init__(self, name: str) -> None:
        self._name, self._started, self._shown = name, time.monotonic(), 0.0

    def __call__(self, what: str) -> None:
        now = time.monotonic()
        line = f"soak: {self._name} {now - self._started:5.0f} s: {what}"
        if sys.stderr.isatty():
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\033[K{line[:width]}", end="", file=sys.stderr, flush=True)
        elif now - self._shown >= 5:
            self._shown = now
            print(line, file=sys.stderr, flush=True)

    def end(self, what: str) -> None:
        start = "\r\033[K" if sys.stderr.isatty() else ""
        print(f"{start}soak: {self._name}: {what}", file=sys.stderr, flush=True)


async def _leg(name: str, plan: Plan, keep: Path) -> tuple[_Progress, Result]:
    folder = keep / name
    folder.mkdir(parents=True)
    progress = _Progress(name)
    return progress, await run(plan, folder, progress)


async def _soak(options: argparse.Namespace, command: str, keep: Path) -> Soak:
    """Raises CancelledError on Ctrl-C and SIGTERM, once everything that it started has ended."""
    myself = asyncio.current_task()
    assert myself is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, myself.cancel)
    legs = []
    for plan in _legs(options):
        progress, result = await _leg(plan.engine, plan, keep)
        progress.end(f"{'ok' if result.passed else 'FAILED'}: {summary(result)}")
        for line in details(result):
            print(f"  {line}", file=sys.stderr)
        legs.append(result)
    proved = []
    for control in controls(options.seed).values():
        if options.engine is None and options.control in (None, control.name):
            progress, result = await _leg(control.name, control.plan, keep)
            progress.end("found, as it must be" if control.caught(result) else "NOT FOUND: the soak is blind")
            print(f"  {next(details(result), 'no violation')}", file=sys.stderr)
            proved.append((control, result))
    return Soak(options.seed, command, legs, proved)


def main(given: Sequence[str] | None = None) -> int:
    """Exit status; see above."""
    options = _arguments(given)
    if options.seed is None:
        options.seed = secrets.randbelow(2**31)
    command = _command(options)
    print(f"soak: {command}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="stemma-soak-") as folder:
        try:
            soak = asyncio.run(_soak(options, command, options.keep or Path(folder)))
        except asyncio.CancelledError:
            print("\nsoak: stopped", file=sys.stderr)
            return 130
        except Stuck as error:
            print(f"\nsoak: FAILED: {error}", file=sys.stderr)
            return 1
    whole = not (options.quick or options.engine or options.control)
    report = options.report or (ROOT / "docs" / "soak.md" if whole else None)
    if report is not None:
        report.write_text(markdown(soak), encoding="utf-8")
    print(f"soak: {'ok' if soak.passed else 'FAILED'}", file=sys.stderr)
    return 0 if soak.passed else 1


if __name__ == "__main__":
    sys.exit(main())
