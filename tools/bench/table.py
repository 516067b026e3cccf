"""Measurements, targets, and the table that sets them beside each other. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

# By the name of what was measured, one value for each round.
Values = Mapping[str, Sequence[float]]


class Unit(StrEnum):
    """How a value is shown; the values themselves are in these units."""

    PER_SECOND = "/s"
    MS = "ms"
    BYTES = "B"
    RATIO = "×"


class Verdict(StrEnum):
    MET = "met"
    MISSED = "missed"
    NOT_MEASURED = "not measured"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Target:
    """The value divided by the sum of what `beside` names has to be `at_least` or `at_most` so much;
    with neither, the ratio is only shown."""

    beside: tuple[str, ...]
    at_least: float | None = None
    at_most: float | None = None

    @property
    def bounded(self) -> bool:
        return self.at_least is not None or self.at_most is not None

    def holds(self, ratio: float) -> bool:
        """Whether the ratio, as it is printed, keeps to the target."""
        shown = round(ratio, 2)
        return (self.at_least is None or shown >= self.at_least) and (
            self.at_most is None or shown <= self.at_most
        )

    def __str__(self) -> str:
        bounds = (("≥", self.at_least), ("≤", self.at_most))
        return " ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)


@dataclass(frozen=True, slots=True)
class Row:
    """One line: what is measured, under which name it is found, and what it is to be compared with."""

    text: str
    name: str
    unit: Unit
    beside_text: str = ""
    target: Target | None = None


def middle(values: Values, name: str) -> float | None:
    """The median over the rounds; None for what was not measured."""
    found = values.get(name)
    return median(found) if found else None


def ratio(values: Values, row: Row) -> float | None:
    """The row's value divided by the sum of what is beside it.

    When all have as many rounds, it is the median of the rounds' ratios, which a machine that gets slower
    meanwhile spoils least; else the ratio of the medians. None when anything is missing.
    """
    if row.target is None:
        return None
    names = row.target.beside
    measured = [values.get(name) or () for name in (row.name, *names)]
    if not all(measured):
        return None
    if len({len(found) for found in measured}) > 1:
        measured = [[median(found)] for found in measured]
    own, *others = measured
    pairs = [(one, sum(each)) for one, *each in zip(own, *others, strict=True)]
    found = [one / other for one, other in pairs if other]
    return median(found) if found else None


def verdict(values: Values, row: Row) -> Verdict:
    """Whether the row's target was met."""
    if row.target is None or not row.target.bounded:
        return Verdict.NONE
    found = ratio(values, row)
    if found is None:
        return Verdict.NOT_MEASURED
    return Verdict.MET if row.target.holds(found) else Verdict.MISSED


def shown(value: float | None, unit: Unit) -> str:
    """`1,234/s`, `0.87 ms`, `2,572 B`, `1.02 ×`; a dash for nothing."""
    match unit:
        case _ if value is None:
            return "–"
        case Unit.PER_SECOND:
            return f"{value:,.0f}/s"
        case Unit.BYTES:
            return f"{value:,.0f} B"
        case Unit.MS:
            return f"{value:,.2f} ms"
        case _:
            return f"{value:.2f} ×"


def _spread(values: Sequence[float] | None, unit: Unit) -> str:
    """The least and the most of the rounds."""
    if not values or len(values) < 2:
        return ""
    return f"{shown(min(values), unit).removesuffix(unit).strip()} – {shown(max(values), unit)}"


def markdown(values: Values, rows: Iterable[Row]) -> list[str]:
    """A table of the rows that were measured, or that have a target."""
    lines = [
        "| what | median | least – most | compared with | ratio | target | |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        value, found = middle(values, row.name), ratio(values, row)
        if value is None and verdict(values, row) is Verdict.NONE:
            continue
        cells = [
            row.text,
            shown(value, row.unit),
            _spread(values.get(row.name), row.unit),
            row.beside_text,
            "" if found is None else f"{found:.2f}",
            "" if row.target is None else str(row.target),
            _mark(verdict(values, row)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _mark(found: Verdict) -> str:
    return f"**{found}**" if found is Verdict.MISSED else str(found)


def summary(values: Values, rows: Iterable[Row]) -> str:
    """`31 of 36 targets met (86 %), 5 missed, 2 not measured.`"""
    verdicts = [verdict(values, row) for row in rows]
    met, missed = verdicts.count(Verdict.MET), verdicts.count(Verdict.MISSED)
    measured = met + missed
    share = f" ({100 * met / measured:.0f} %)" if measured else ""
    left = verdicts.count(Verdict.NOT_MEASURED)
    rest = f", {left} not measured" if left else ""
    return f"{met} of {measured} targets met{share}, {missed} missed{rest}."
