"""The built-in tools that need no state; and effects as what calls say."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from kernel.prompt.config import Config, Tool
from kernel.state.limits import faults
from kernel.state.model import Effects, MemoryKind, MemoryOp, MemoryWrite, Scope, SlotWrite, VariableWrite
from kernel.tools.builtin import BUILT_INS, ToolFault, roll, time_now
from kernel.tools.effects import effects_of
from kernel.tools.model import Owner
from kernel.tools.schema import argument_schema
from kernel.tree.message import Message, Text, ToolCall, ToolResult
from kernel.tree.model import Role
from kernel.verbs.pages import MODEL

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
ALL = Config(tools=tuple(Tool(name, owner=Owner.BUILT_IN) for name in BUILT_INS))


def test_time() -> None:
    assert json.loads(time_now(lambda: NOON, "")) == {
        "time": "2026-07-01T12:00:00+00:00",
        "zone": "UTC",
        "weekday": "Wednesday",
    }
    assert json.loads(time_now(lambda: NOON, "Europe/Berlin"))["time"] == "2026-07-01T14:00:00+02:00"
    late = NOON.astimezone(timezone(timedelta(hours=5)))
    assert json.loads(time_now(lambda: late, "UTC"))["time"] == "2026-07-01T12:00:00+00:00"


@pytest.mark.parametrize("zone", ["Nowhere/At_All", "../../etc/passwd", "/etc/localtime", "Europe", "x\0"])
def test_time_in_no_zone(zone: str) -> None:
    with pytest.raises(ToolFault, match="IANA"):
        time_now(lambda: NOON, zone)


@pytest.mark.parametrize(
    ("dice", "asked", "total"),
    [
        ("2d6+1", [6, 6], 3 + 1),
        ("d20", [20], 1),
        (" 3 D 8 - 2 ", [8, 8, 8], 6 - 2),
        ("1d1", [1], 1),
    ],
)
def test_dice(dice: str, asked: list[int], total: int) -> None:
    """What comes out of the box is 0, 1, 2 and so on."""
    sides: list[int] = []

    def below(limit: int) -> int:
        sides.append(limit)
        return (len(sides) - 1) % limit

    found = json.loads(roll(dice, below))
    assert sides == asked
    assert found["rolls"] == [1 + n % limit for n, limit in enumerate(asked)]
    assert found["total"] == total


def test_dice_are_rolled_in_their_range() -> None:
    seen = {json.loads(roll("d3"))["total"] for _ in range(200)}
    assert seen == {1, 2, 3}


@pytest.mark.parametrize("dice", ["", "six", "0d6", "101d6", "2d0", "2d1000001", "2d6+", "2d6+1+1", "d²"])
def test_no_dice(dice: str) -> None:
    with pytest.raises(ToolFault):
        roll(dice)


def said(*parts: object) -> list[Message]:
    """One answer with calls, and their results."""
    calls = tuple(part for part in parts if not isinstance(part, ToolResult))
    results = tuple(part for part in parts if isinstance(part, ToolResult))
    return [Message(Role.ASSISTANT, calls), Message(Role.TOOL, results)]  # type: ignore[arg-type]


def test_effects_are_what_calls_with_a_result_write_in_the_order_of_the_calls() -> None:
    messages = [
        *said(
            Text("Well."),
            ToolCall("1", "set_variable", '{"key":"hp","value": 9007199254740993 }'),
            ToolCall("2", "remember", '{"text":"Ann is hurt","fact_key":"ann","importance":1}'),
            ToolCall("3", "set_slot", '{"namespace":"game","slot":"map","value":[1.0,"\\u00e9"]}'),
            ToolCall("4", "roll_dice", '{"dice":"d6"}'),
            ToolResult("3", "done"),
            ToolResult("2", "done"),
            ToolResult("1", "done"),
            ToolResult("4", "6"),
        ),
        *said(
            ToolCall("5", "set_variable", '{"key":"failed","value":1}'),
            ToolCall("6", "set_variable", '{"key":"open","value":1}'),
            ToolCall("7", "delete_variable", '{"key":"hp"}'),
            ToolCall("8", "remember", '{"text":"Find Bob","kind":"open_loop","fact_key":"x"}'),
            ToolCall("9", "update_memory", '{"memory_id":"m","text":"new"}'),
            ToolCall("10", "forget", '{"memory_id":"n"}'),
            ToolCall("11", "delete_slot", '{"namespace":"game","slot":"old"}'),
            ToolResult("5", "no", is_error=True),
            *(ToolResult(str(n), "done") for n in range(7, 12)),
        ),
    ]
    given = effects_of(messages, ALL)
    assert given is not None
    assert given.effects == Effects(
        (
            VariableWrite(Scope.PATH, "hp", "9007199254740993"),
            VariableWrite(Scope.PATH, "hp", None),
        ),
        (
            MemoryWrite(MemoryOp.ADD, "", MemoryKind.FACT, "ann", "Ann is hurt", 1.0),
            MemoryWrite(MemoryOp.ADD, "", MemoryKind.OPEN_LOOP, "", "Find Bob", 0.5),
            MemoryWrite(MemoryOp.UPDATE, "m", text="new", importance=0.5),
            MemoryWrite(MemoryOp.DEPRECATE, "n"),
        ),
        (SlotWrite("game", "map", '[1.0,"\\u00e9"]'), SlotWrite("game", "old", None)),
    )
    assert given.source == MODEL
    assert given.covers == ("",) * 4
    assert list(faults(given.effects)) == []


def test_only_built_in_tools_have_effects() -> None:
    messages = said(ToolCall("1", "set_variable", '{"key":"k","value":1}'), ToolResult("1", "done"))
    assert effects_of(messages, ALL) is not None
    assert effects_of(messages, Config()) is None
    assert effects_of(messages, Config(tools=(Tool("set_variable", owner=Owner.CLIENT),))) is None
    assert effects_of([Message(Role.ASSISTANT, (Text("no calls"),))], ALL) is None


@pytest.mark.parametrize("name", BUILT_INS)
def test_parameters_are_schemas_that_refuse_what_is_not_theirs(name: str) -> None:
    schema = argument_schema(BUILT_INS[name].parameters_json)
    assert schema.faults({"unheard_of": 1})
