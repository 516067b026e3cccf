"""What a file may say of effects and live values: as much as a client may, in canonical text."""

import json
from typing import Any

import pytest

from conversation_service.domain.exports.model import ExportLive
from conversation_service.domain.imports.effects import check_live, effects_of
from conversation_service.domain.limits import Refused
from kernel.state.text import effects_text
from tests.unit.test_state import EVERY_KIND

ID = "0198a0f0-0000-7000-8000-000000000000"
ADD = {"op": "ADD", "memory_id": ID, "kind": "FACT", "text": "x"}


def text(**lists: Any) -> str:
    return json.dumps(lists, separators=(",", ":"))


def test_canonical_text_is_taken() -> None:
    good = effects_text(EVERY_KIND).decode().replace('"m1"', f'"{ID}"').replace('"m2"', f'"{ID}"')
    assert effects_text(effects_of(good, 5)).decode() == good


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "{}",
        "[]",
        "5",
        '{"variables":5}',
        '{"variables":[5]}',
        '{"other":[]}',
        text(variables=[{"scope": "PATH", "key": "k", "value": 1}]),
        text(variables=[{"scope": "PATH", "key": 1, "value": "1"}]),
        text(variables=[{"scope": "NOWHERE", "key": "k", "value": "1"}]),
        text(variables=[{"scope": "PATH", "key": "", "value": "1"}]),
        text(variables=[{"scope": "PATH", "key": "k", "value": "{"}]),
        text(variables=[{"scope": "PATH", "key": "k", "value": "1", "extra": "x"}]),
        text(variables=[{"key": "k", "scope": "PATH", "value": "1"}]),
        text(variables=[{"scope": "PATH", "key": "k", "value": "1"}] * 257),
        text(memory=[{**ADD, "memory_id": "m1"}]),
        text(memory=[{"op": "ADD", "memory_id": ID, "text": "x"}]),
        text(memory=[{**ADD, "importance": 1.0}]),
        text(memory=[{**ADD, "importance": 2}]),
        text(memory=[{**ADD, "importance": True}]),
        text(memory=[{**ADD, "covers_depth": 5}]),
        text(memory=[{**ADD, "covers_depth": -1}]),
        text(memory=[{"op": "DEPRECATE", "memory_id": ID, "covers_depth": 1}]),
        text(slots=[{"namespace": "n", "slot": None}]),
    ],
)
def test_what_no_floor_can_have_is_refused(bad: str) -> None:
    with pytest.raises(Refused):
        effects_of(bad, 5)


@pytest.mark.parametrize(
    "values",
    [
        [ExportLive("k", "1", 3)],
        [ExportLive("k", "1", 0)],
        [ExportLive("k", "1", 1), ExportLive("k", "2", 1)],
        [ExportLive("k", "{", 1)],
        [ExportLive("x" * 129, "1", 1)],
        [ExportLive(f"k{n}", "1", 1) for n in range(1_001)],
        [ExportLive(f"k{n}", f'"{"x" * 60_000}"', 1) for n in range(9)],
    ],
    ids=range(7),
)
def test_live_values_that_no_session_can_have_are_refused(values: list[ExportLive]) -> None:
    with pytest.raises(Refused):
        check_live(values, 2)
    check_live([ExportLive("k", "1", 2)], 2)
