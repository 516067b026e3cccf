"""The tools in the box: what a model is told of them, and what time and dice do. `state.py` has the others.

Each one is allowed by naming it in a configuration's tools with the owner BUILT_IN.
"""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from kernel.prompt.merge_patch import members
from kernel.state.model import (
    Effects,
    MemoryKind,
    MemoryOp,
    MemoryWrite,
    Scope,
    SlotWrite,
    VariableWrite,
)
from kernel.strict_json import dumps, loads

_DICE = re.compile(r"\s*(\d{0,3})\s*[dD]\s*(\d{1,7})\s*(?:([+-])\s*(\d{1,9}))?\s*", re.ASCII)
_MAX_DICE, _MAX_SIDES = 100, 1_000_000
# Of an item whose importance the model does not state.
_IMPORTANCE = 0.5


class ToolFault(Exception):
    """The call cannot be carried out; says to the model what to do instead."""


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """`writes` makes a call's effects of its arguments, which fit the schema; None for one that writes
    nothing. `proposes`: it keeps a proposal."""

    name: str
    description: str
    parameters_json: str
    writes: Callable[[str], Effects] | None = None
    proposes: bool = False


def time_now(clock: Callable[[], datetime], zone: str) -> str:
    """The result of `get_time`. Raises: ToolFault for a zone that is not known."""
    try:
        place = ZoneInfo(zone) if zone else UTC
    except (LookupError, ValueError, OSError):
        raise ToolFault("There is no such time zone. Use an IANA name, as in Europe/Berlin.") from None
    now = clock().astimezone(place)
    said = {"time": now.isoformat(timespec="seconds"), "zone": zone or "UTC", "weekday": now.strftime("%A")}
    return dumps(said)


def roll(dice: str, randbelow: Callable[[int], int] = secrets.randbelow) -> str:
    """The result of `roll_dice`. Raises: ToolFault for what is no dice."""
    found = _DICE.fullmatch(dice)
    if found is None:
        raise ToolFault("This is no dice. Write it as in 2d6+1, d20 or 3d8-2.")
    count, sides = int(found[1] or "1"), int(found[2])
    if not 1 <= count <= _MAX_DICE or not 1 <= sides <= _MAX_SIDES:
        raise ToolFault(f"Roll 1 to {_MAX_DICE} dice of 1 to {_MAX_SIDES:,} sides.")
    bonus = int(f"{found[3]}{found[4]}") if found[3] else 0
    rolls = [1 + randbelow(sides) for _ in range(count)]
    return dumps({"dice": dice.strip(), "rolls": rolls, "total": sum(rolls) + bonus})


def _schema(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> str:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return dumps({**schema, "additionalProperties": False})


def _text(description: str, most: int = 128) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": most, "description": description}


def _set_variable(arguments: str) -> Effects:
    given = members(arguments)
    return Effects((VariableWrite(Scope.PATH, _string(given["key"]), given["value"]),))


def _delete_variable(arguments: str) -> Effects:
    return Effects((VariableWrite(Scope.PATH, _string(members(arguments)["key"]), None),))


def _set_slot(arguments: str) -> Effects:
    given = members(arguments)
    slot = SlotWrite(_string(given["namespace"]), _string(given["slot"]), given["value"])
    return Effects(slots=(slot,))


def _delete_slot(arguments: str) -> Effects:
    given = members(arguments)
    return Effects(slots=(SlotWrite(_string(given["namespace"]), _string(given["slot"]), None),))


def _remember(arguments: str) -> Effects:
    given: Any = loads(arguments)
    kind = MemoryKind.OPEN_LOOP if given.get("kind") == "open_loop" else MemoryKind.FACT
    # Only facts have keys; a model that gives one to something else means no harm.
    fact_key = given.get("fact_key", "") if kind is MemoryKind.FACT else ""
    importance = float(given.get("importance", _IMPORTANCE))
    return Effects(memory=(MemoryWrite(MemoryOp.ADD, "", kind, fact_key, given["text"], importance),))


def _update_memory(arguments: str) -> Effects:
    given: Any = loads(arguments)
    importance = float(given.get("importance", _IMPORTANCE))
    write = MemoryWrite(MemoryOp.UPDATE, given["memory_id"], text=given["text"], importance=importance)
    return Effects(memory=(write,))


def _forget(arguments: str) -> Effects:
    given: Any = loads(arguments)
    return Effects(memory=(MemoryWrite(MemoryOp.DEPRECATE, given["memory_id"]),))


def _string(text: str) -> str:
    value = loads(text)
    assert isinstance(value, str), "the schema says so"
    return value


_KEY, _VALUE = _text("The variable's name."), {"description": "Any JSON value."}
_SPACE, _SLOT = _text("What the slot belongs to."), _text("The slot's name.")
_MEMORY = _text("The item's memory_id, as get_state shows it.")
_WORDS = _text("What to remember, in a sentence that is understood by itself.", 8_192)
_SHARE = {"type": "number", "minimum": 0, "maximum": 1, "description": "0 to 1; 0.5 when left out."}

_ALL = (
    BuiltIn(
        "get_state",
        "Shows what is kept with this conversation: variables, remembered items with their ids, slots.",
        _schema(
            keys={"type": "array", "items": _KEY, "maxItems": 100, "description": "Only these variables."}
        ),
    ),
    BuiltIn(
        "set_variable",
        "Keeps a value under a name, from this turn on.",
        _schema(("key", "value"), key=_KEY, value=_VALUE),
        _set_variable,
    ),
    BuiltIn("delete_variable", "Removes a variable.", _schema(("key",), key=_KEY), _delete_variable),
    BuiltIn(
        "set_slot",
        "Keeps a value in a slot, from this turn on.",
        _schema(("namespace", "slot", "value"), namespace=_SPACE, slot=_SLOT, value=_VALUE),
        _set_slot,
    ),
    BuiltIn(
        "delete_slot",
        "Empties a slot.",
        _schema(("namespace", "slot"), namespace=_SPACE, slot=_SLOT),
        _delete_slot,
    ),
    BuiltIn(
        "remember",
        "Proposes to remember something. A fact takes the place of the one with its fact_key.",
        _schema(
            ("text",),
            text=_WORDS,
            kind={
                "enum": ["fact", "open_loop"],
                "description": "What it is: a fact unless something is still open.",
            },
            fact_key=_text("What a fact is about, as in hero.name."),
            importance=_SHARE,
        ),
        _remember,
    ),
    BuiltIn(
        "update_memory",
        "States a remembered item anew.",
        _schema(("memory_id", "text"), memory_id=_MEMORY, text=_WORDS, importance=_SHARE),
        _update_memory,
    ),
    BuiltIn("forget", "Takes a remembered item back.", _schema(("memory_id",), memory_id=_MEMORY), _forget),
    BuiltIn(
        "get_time",
        "Says what time it is.",
        _schema(zone=_text("An IANA time zone, as in Europe/Berlin; UTC when left out.")),
    ),
    BuiltIn(
        "roll_dice",
        "Rolls dice, fairly.",
        _schema(("dice",), dice=_text("As in 2d6+1, d20 or 3d8-2.", 64)),
    ),
)

BUILT_INS = {tool.name: tool for tool in _ALL}
