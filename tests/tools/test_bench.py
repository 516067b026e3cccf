"""The table of `make bench`: ratios, verdicts, and how they are printed."""

from datetime import UTC, datetime
from itertools import islice

import pytest

from tools.bench.bench import FULL, QUICK, Size
from tools.bench.report import Report
from tools.bench.rows import measured, sections
from tools.bench.streams import message_fields
from tools.bench.table import Row, Target, Unit, Values, Verdict, markdown, ratio, summary, verdict
from tools.bench.words import INPUT_BYTES, OUTPUT_BYTES, turns

ECHO = Target(("echo",), at_least=0.6)
APPEND = Row("append", "append", Unit.PER_SECOND, "echo", ECHO)


def test_rounds_are_compared_round_by_round() -> None:
    """The machine was twice as slow in the second round: of the medians it would be 0.75."""
    values = {"append": [600.0, 300.0, 900.0], "echo": [1_000.0, 500.0, 1_200.0]}
    assert ratio(values, APPEND) == pytest.approx(0.6)


def test_without_the_same_rounds_medians_are_compared() -> None:
    assert ratio({"append": [1.0, 3.0, 8.0], "echo": [6.0]}, APPEND) == pytest.approx(0.5)


def test_a_target_may_be_beside_a_sum() -> None:
    row = Row("cold", "cold", Unit.MS, "query + echo", Target(("query", "echo"), at_most=1.8))
    values = {"cold": [9.0, 4.0], "query": [4.0, 1.0], "echo": [1.0, 1.0]}
    assert ratio(values, row) == pytest.approx(1.9)
    assert verdict(values, row) is Verdict.MISSED


@pytest.mark.parametrize("values", [{}, {"append": [1.0]}, {"echo": [1.0]}, {"append": [], "echo": [1.0]}])
def test_what_is_missing_is_not_measured(values: Values) -> None:
    assert ratio(values, APPEND) is None
    assert verdict(values, APPEND) is Verdict.NOT_MEASURED
    assert verdict(values, Row("echo", "echo", Unit.PER_SECOND)) is Verdict.NONE


@pytest.mark.parametrize(
    ("target", "held", "broken"),
    [
        (ECHO, 0.6, 0.59),
        # As printed: 0.60.
        (ECHO, 0.5951, 0.5949),
        (Target(("x",), at_most=1.05), 1.05, 1.06),
        (Target(("x",), at_least=0.9, at_most=1.1), 1.0, 1.2),
    ],
)
def test_a_target_holds_up_to_its_bound(target: Target, held: float, broken: float) -> None:
    assert target.holds(held)
    assert not target.holds(broken)


def test_a_comparison_without_a_bound_is_only_shown() -> None:
    row = Row("cpu", "append", Unit.MS, "echo", Target(("echo",)))
    values = {"append": [3.0], "echo": [2.0]}
    assert verdict(values, row) is Verdict.NONE
    assert markdown(values, [row])[-1] == "| cpu | 3.00 ms |  | echo | 1.50 |  |  |"
    assert len(markdown({}, [row])) == 2
    assert summary(values, [row]) == "0 of 0 targets met, 0 missed."


def test_the_table_says_what_was_missed() -> None:
    values = {"append": [1_234.4, 1_000.0, 2_000.0], "echo": [4_000.0, 4_000.0, 4_000.0]}
    *_, line = markdown(values, [APPEND])
    assert line == "| append | 1,234/s | 1,000 – 2,000/s | echo | 0.31 | ≥ 0.6 | **missed** |"


def test_a_row_without_value_or_target_is_left_out() -> None:
    rows = [Row("nothing", "nothing", Unit.MS), APPEND]
    *_, line = markdown({}, rows)
    assert line == "| append | – |  | echo |  | ≥ 0.6 | not measured |"
    assert len(markdown({}, rows)) == 3


def test_the_summary_counts_what_was_measured() -> None:
    bad = Row("bad", "bad", Unit.MS, "echo", Target(("echo",), at_most=1))
    plain = Row("echo", "echo", Unit.MS)
    values = {"append": [7.0], "bad": [11.0], "echo": [10.0]}
    missing = Row("other", "other", Unit.MS, "echo", ECHO)
    rows = [APPEND, bad, plain, missing]
    assert summary(values, rows) == "1 of 2 targets met (50 %), 1 missed, 1 not measured."
    assert summary({}, [APPEND]) == "0 of 0 targets met, 0 missed, 1 not measured."


@pytest.mark.parametrize("size", [FULL, QUICK])
def test_every_row_is_another(size: Size) -> None:
    """What is compared differs when the row is the same; no row is beside itself."""
    rows = [row for found in sections(size).values() for row in found]
    keys = [(row.name, row.target) for row in rows]
    assert len(set(keys)) == len(keys)
    assert all(row.name not in row.target.beside for row in rows if row.target)
    assert all(bool(row.beside_text) == (row.target is not None) for row in rows)


def test_a_run_of_some_sections_misses_no_others() -> None:
    found = {"Limits": [Row("echo", "echo", Unit.PER_SECOND), APPEND], "Peers": [APPEND]}
    assert measured(found, {"echo": [1.0]}) == {"Limits": [Row("echo", "echo", Unit.PER_SECOND)]}


def test_the_report_names_its_command_and_no_machine() -> None:
    report = Report(
        command="python -m tools.bench",
        commit="abc",
        seconds=1.4,
        machine={"Cores": "2"},
        values={"append": [7.0], "echo": [10.0]},
        facts={"Peers": "none"},
        sections={"Turns": [APPEND]},
    )
    text = report.text(datetime(2026, 1, 2, tzinfo=UTC))
    assert "`python -m tools.bench` on 2026-01-02, commit abc, in 1 s" in text
    assert "1 of 1 targets met (100 %), 0 missed." in text
    for line in ("- Cores: 2", "## Turns", "- Peers: none"):
        assert line in text.splitlines()


def test_everybody_has_the_same_turns() -> None:
    first, again, other = (list(islice(turns(seed), 3)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    for asked, said in first:
        assert (len(asked.encode()), len(said.encode())) == (INPUT_BYTES, OUTPUT_BYTES)


def test_the_fields_of_a_message_are_found_in_any_order() -> None:
    assert message_fields(b"\x12\x03abc\x0a\x02id") == {0x12: b"abc", 0x0A: b"id"}
    long = bytes(300)
    assert message_fields(b"\x12\xac\x02" + long + b"\x0a\x00") == {0x12: long, 0x0A: b""}
