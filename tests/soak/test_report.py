"""A soak says what it found, and takes a planted fault that it does not find for its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tools.history.model import Rule, Verdict, Violation
from tools.soak.__main__ import FULL, QUICK, main
from tools.soak.controls import controls
from tools.soak.leg import Plan, Result
from tools.soak.report import Soak, details, markdown

CONTROLS = controls(1)


def _result(*rules: Rule, lost: int = 0) -> Result:
    violations = tuple(Violation(rule, (7, 8), 9, "something else was expected") for rule in rules)
    verdict = Verdict(violations, acknowledged=120, refused=30, unknown=40, happened=20, lost=lost)
    seconds = (60.4, 5.2)
    return Result(Plan("sqlite", 1, 10, 0), 10, 0, verdict, 8, (), (), Counter(), seconds)


def _soak(leg: Result, *rules: Rule) -> Soak:
    """One leg, and every control with a result in which these promises are broken."""
    return Soak(1, "make soak", [leg], [(control, _result(*rules)) for control in CONTROLS.values()])


def test_a_soak_passes_when_nothing_broke_and_every_fault_was_found() -> None:
    soak = _soak(_result(), "R2", "T3")
    assert soak.passed
    assert "**nothing was lost, and every fault was found.**" in markdown(soak)
    assert "| sqlite | 10 | 0 | 120 | 40 | 30 | 0 | 0 | 0 | 60 | 5 |" in markdown(soak)


@pytest.mark.parametrize("found", [(), ("R2",), ("T3",)])
def test_a_fault_that_is_not_found_fails_the_soak(found: tuple[Rule, ...]) -> None:
    soak = _soak(_result(), *found)
    assert not soak.passed
    assert "**FAILED.**" in markdown(soak)
    assert "**NO**" in markdown(soak)


@pytest.mark.parametrize(
    ("leg", "shown"),
    [
        (_result("R2", lost=1), "R2: something else was expected [calls: 7, 8]"),
        (_result("R3"), "R3: something else was expected [calls: 7, 8]"),
        (replace(_result(), problems=("one: head: is elsewhere",)), "VerifySession: one: head: is elsewhere"),
        (replace(_result(), faults=("the service ended",)), "the service ended"),
        (replace(_result(), errors=Counter({"unexpected error": 3})), "3 times: unexpected error"),
    ],
)
def test_whatever_is_wrong_fails_the_soak_and_is_shown(leg: Result, shown: str) -> None:
    soak = _soak(leg, "R2", "T3")
    assert not soak.passed
    assert any(shown in line for line in details(leg))
    assert f"- sqlite: {next(details(leg))}" in markdown(soak)


def test_a_full_run_has_200_and_50_kills_a_quick_one_10_and_5() -> None:
    assert (FULL[0] + FULL[1], FULL[2]) == (200, 50)
    assert (QUICK[0] + QUICK[1], QUICK[2]) == (10, 5)


def test_a_control_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["--control", "none"])
    assert refused.value.code == 2
    assert "no-head-check" in capsys.readouterr().err
