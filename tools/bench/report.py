"""docs/benchmarks.md, and the same for programs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tools.bench.table import Row, Values, markdown, summary
from tools.bench.words import INPUT_BYTES, OUTPUT_BYTES

_ABOUT = """# Benchmarks

Made by `{command}` on {day}, commit {commit}, in {seconds} s. **Only ratios within one run mean anything**:
what is compared was measured in turns, on a machine that does other things too. A target (`≥`, `≤`) bounds
the ratio of its row to what the row is compared with. {summary}

A turn is {asked} bytes of a user and {said} bytes of reply, for everybody: random words, each as often as in
English, which pack about as well. The service runs in a process of its own with its default settings, events
on, and a line of log for each call; access is as the command says. Callers are another process, in which
the same code calls echo and service and leaves the answers unread. Every turn that counts was on disk before
it was acknowledged. Latencies are of one call at a time.
"""


@dataclass(frozen=True, slots=True)
class Report:
    command: str
    commit: str
    seconds: float
    machine: Mapping[str, str]
    values: Values
    facts: Mapping[str, str]
    sections: Mapping[str, Sequence[Row]]

    @property
    def summary(self) -> str:
        return summary(self.values, [row for rows in self.sections.values() for row in rows])

    def text(self, now: datetime) -> str:
        about = _ABOUT.format(
            command=self.command,
            day=now.date().isoformat(),
            commit=self.commit,
            seconds=round(self.seconds),
            summary=self.summary,
            asked=INPUT_BYTES,
            said=OUTPUT_BYTES,
        )
        lines = [about, "## Machine", "", *_listed(self.machine)]
        for heading, rows in self.sections.items():
            lines += ["", f"## {heading}", "", *markdown(self.values, rows)]
        lines += ["", "## Beside the tables", "", *_listed(self.facts)]
        return "\n".join(lines) + "\n"

    def write(self, target: Path, raw: Path) -> None:
        """The report, and beside it every value of every round."""
        for path in (target, raw):
            path.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(self.text(datetime.now(UTC)), encoding="utf-8")
        values = {"commit": self.commit, "machine": dict(self.machine), "values": dict(self.values)}
        raw.write_text(json.dumps(values, indent=1), encoding="utf-8")


def _listed(facts: Mapping[str, str]) -> list[str]:
    return [f"- {name}: {value}" for name, value in facts.items()]
