"""Faults that a soak must find. One that it does not find makes the soak itself fail."""

from __future__ import annotations

from dataclasses import dataclass

from tools.history.model import Rule
from tools.soak.leg import Plan, Result


@dataclass(frozen=True, slots=True)
class Control:
    """A leg with a fault; `breaks` is the promise that the checker must then see broken."""

    name: str
    fault: str
    plan: Plan
    breaks: Rule

    def caught(self, result: Result) -> bool:
        """Whether the verdict fails for the right reason."""
        return any(violation.rule == self.breaks for violation in result.verdict.violations)


def controls(seed: int) -> dict[str, Control]:
    """All of them by name."""
    # Nobody writes the log but who waits for it, and nobody does.
    asleep = {"synchronous_commit": "off", "wal_writer_delay": "10s"}
    found = (
        Control(
            "synchronous-commit-off",
            "PostgreSQL with synchronous_commit=off, every process of it killed",
            Plan("postgres", seed, service_kills=0, postgres_kills=2, settings=asleep),
            "R2",
        ),
        Control(
            "acknowledge-before-commit",
            "an acknowledgement planted before COMMIT",
            Plan("postgres", seed, service_kills=4, postgres_kills=0, plant="acknowledge-before-commit"),
            "R2",
        ),
        Control(
            "no-head-check",
            "a planted missing head check",
            Plan("postgres", seed, service_kills=1, postgres_kills=0, plant="no-head-check"),
            "T3",
        ),
    )
    return {control.name: control for control in found}
