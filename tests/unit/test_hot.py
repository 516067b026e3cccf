"""What the hot write stores of a floor is what every other write would store of it."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kernel.storage import answer_rows, hot, rows
from kernel.tree.model import Branch, Floor, HeadMove, StoredEffects, Usage
from kernel.tree.places import first_child
from kernel.verbs.answers import answer_of
from kernel.verbs.moves import COMMIT, move_event
from kernel.verbs.records import AppendRecord
from tools.bench.records import new_session, next_record

NAME = 'a "name" with \\ and ü\n'
EFFECTS = StoredEffects(b"{}", bytes(32), "client", (1, 2, 3), ("00000000-0000-7000-8000-000000000001",))


def the_record(change: str) -> AppendRecord:
    made = next_record(new_session("00000000-0000-7000-8000-000000000009").root, ("asked", "said"))
    floor = replace(made.floor, principal=NAME)
    changes: dict[str, dict[str, object]] = {
        "whole": {},
        "no input": {"input": None},
        "no output": {"output": None},
        "effects": {"effects": EFFECTS},
        "effects alone": {"input": None, "output": None, "effects": EFFECTS},
        "usage": {"usage": Usage(3, 4, True)},
    }
    return replace(made, branch=NAME, floor=replace(floor, **changes[change]))  # type: ignore[arg-type]


CHANGES = pytest.mark.parametrize(
    "change", ["whole", "no input", "no output", "effects", "effects alone", "usage"]
)


@CHANGES
def test_the_values_are_those_of_the_cold_write(change: str) -> None:
    record = the_record(change)
    floor = record.floor
    made = dict(zip(hot.NAMES, hot.values(record), strict=True))
    assert {name: made[name] for name in hot.FLOOR_NAMES} == rows.floor_values(replace(floor, branch=NAME))
    assert made["expected_head"] == floor.parent_floor_id
    assert (made["request_id"], made["event_id"]) == (record.request.request_id, record.event_id)


@CHANGES
def test_the_event_and_the_answer_are_those_of_the_cold_write(change: str) -> None:
    record = the_record(change)
    floor = record.floor
    assert floor.commit_time is not None
    move = HeadMove(NAME, record.expected_head, floor.floor_id, COMMIT, floor.principal, floor.commit_time)
    assert hot.payload(record) == json.dumps(move_event(record.event_id, move, floor).payload)
    seen = Branch(
        NAME, record.expected_head, None, None, 0, 7, datetime(2026, 1, 2, tzinfo=UTC), floor.create_time
    )
    moved = hot.moved(record, seen.version, seen.create_time)
    head = {"head_floor_id": floor.floor_id, "depth": floor.place.depth, "update_time": floor.commit_time}
    assert moved == replace(seen, version=8, **head)  # type: ignore[arg-type]
    assert hot.answer(record, moved) == answer_rows.answer_text(answer_of(floor, moved))


def test_the_record_is_of_a_first_child() -> None:
    """The parent's depth is not looked up: it is one less."""
    floor: Floor = the_record("whole").floor
    assert floor.place == first_child(replace(floor.place, depth=floor.place.depth - 1)).place
