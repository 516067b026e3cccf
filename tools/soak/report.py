"""What a soak says: to whoever watches it, and in docs/soak.md."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.soak.controls import Control
from tools.soak.leg import Result

ROOT = Path(__file__).resolve().parents[2]

# The lines are those of docs/soak.md.
_PAGE = """\
# Killed under load

Made by `{command}` from {commit}, seed {seed}: {verdict}

Clients append, edit, regenerate, roll back and open floors, on sessions of their own and on shared ones; a
call whose end they do not know is sent again with the same `request_id`. Meanwhile the service is killed by
SIGKILL (one process on SQLite, two replicas on PostgreSQL), and so is every process of PostgreSQL at once:
at random moments, each time after calls were acknowledged since the last kill. In the end everything is
read back, the history of all calls is judged by it (`tools/history`), and `VerifySession` re-derives every
session.

{legs}

An unknown call got no answer, or one that does not say whether it happened; a failed one was told that
nothing did. Half: a request that was carried out in part, or rows that disagree.

{details}## Faults that must be found

{controls}

Kills do not show that the log is synced before a call is acknowledged: a killed process loses nothing that
it has written. Syncs are counted, on both engines, by `tests/soak/test_syncs.py`.
"""
_LEGS = (
    *("engine", "service killed", "PostgreSQL killed", "calls acknowledged", "unknown", "failed"),
    *("lost or changed", "half", "other violations", "seconds of load", "of verdict"),
)
_CONTROLS = ("fault", "service killed", "PostgreSQL killed", "acknowledged", "violations", "lost", "caught")


@dataclass(frozen=True, slots=True)
class Soak:
    """A whole soak: its legs, and each control with what it came to."""

    seed: int
    command: str
    legs: Sequence[Result]
    controls: Sequence[tuple[Control, Result]]

    @property
    def passed(self) -> bool:
        caught = all(control.caught(result) for control, result in self.controls)
        return caught and all(leg.passed for leg in self.legs)


def commit() -> str:
    """The commit of the sources, `-dirty` when they differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "sources without a commit"


def details(result: Result) -> Iterator[str]:
    """What was wrong, line by line; of each kind the first."""
    for violation in result.verdict.violations[:10]:
        calls = ", ".join(map(str, violation.operations)) or "none"
        yield f"{violation.rule}: {violation.text} [calls: {calls}]"
    yield from (f"VerifySession: {problem}" for problem in result.problems[:10])
    yield from result.faults[:3]
    yield from (f"logged as an error, {count} times: {what}" for what, count in result.errors.most_common(10))


def summary(result: Result) -> str:
    """A leg in a sentence."""
    row = zip(_LEGS[1:], _leg(result)[1:], strict=True)
    return ", ".join(f"{what} {value}" for what, value in row)


def markdown(soak: Soak) -> str:
    """docs/soak.md."""
    found = [f"- {leg.plan.engine}: {line}\n" for leg in soak.legs for line in details(leg)]
    return _PAGE.format(
        command=soak.command,
        commit=commit(),
        seed=soak.seed,
        verdict="**nothing was lost, and every fault was found.**" if soak.passed else "**FAILED.**",
        legs=_table(_LEGS, [_leg(leg) for leg in soak.legs]),
        details="".join([*found, "\n"]) if found else "",
        controls=_table(_CONTROLS, [_control(*pair) for pair in soak.controls]),
    )


def _leg(result: Result) -> list[object]:
    verdict, rules = result.verdict, [violation.rule for violation in result.verdict.violations]
    return [
        *(result.plan.engine, result.service_kills, result.postgres_kills),
        *(verdict.acknowledged, verdict.unknown, verdict.refused),
        *(verdict.lost, rules.count("R3") + len(result.problems)),
        sum(rule not in ("R2", "R3") for rule in rules),
        *(f"{seconds:.0f}" for seconds in result.seconds),
    ]


def _control(control: Control, result: Result) -> list[object]:
    verdict = result.verdict
    return [
        *(control.fault, result.service_kills, result.postgres_kills),
        *(verdict.acknowledged, len(verdict.violations), verdict.lost),
        "yes" if control.caught(result) else "**NO**",
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows))
