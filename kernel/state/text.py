"""Effects and state as text: what is stored, and what digests cover.

The text is canonical: members in a fixed order, what is empty left out, numbers as JSON has them
shortest, no spaces. So equal effects have equal bytes, in any language that can write JSON.
"""

import json
from typing import Any

from kernel.state.model import (
    Effects,
    MemoryItem,
    MemoryKind,
    MemoryOp,
    MemoryWrite,
    Scope,
    SlotWrite,
    State,
    Value,
    VariableWrite,
)
from kernel.strict_json import dumps


def effects_text(effects: Effects) -> bytes:
    """One object with `variables`, `memory` and `slots`, each a list in the order of the writes.

    Ids of floors are not in it: a summary says the depth that it covers to, so a copied path keeps its
    digests.
    """
    return dumps(
        _filled(
            variables=[_variable(write) for write in effects.variables],
            memory=[_memory(write) for write in effects.memory],
            slots=[_slot(write) for write in effects.slots],
        )
    ).encode()


def effects_from(text: bytes) -> Effects:
    found = json.loads(text)
    return Effects(
        tuple(
            VariableWrite(Scope[one["scope"]], one["key"], one.get("value"))
            for one in found.get("variables", ())
        ),
        tuple(_memory_from(one) for one in found.get("memory", ())),
        tuple(SlotWrite(one["namespace"], one["slot"], one.get("value")) for one in found.get("slots", ())),
    )


def state_text(state: State) -> str:
    """The order of the items of memory is kept; all else is by key."""
    return dumps(
        _filled(
            variables=[[k, v.value_json, v.floor_id] for k, v in sorted(state.variables.items())],
            deleted=sorted(state.deleted),
            memory=[_item(item) for item in state.memory.values()],
            slots=[[*k, v.value_json, v.floor_id] for k, v in sorted(state.slots.items())],
        )
    )


def state_from(text: str) -> State:
    found = json.loads(text)
    items = [_item_from(one) for one in found.get("memory", ())]
    return State(
        {key: Value(value, floor_id) for key, value, floor_id in found.get("variables", ())},
        frozenset(found.get("deleted", ())),
        {item.memory_id: item for item in items},
        {(space, slot): Value(value, floor_id) for space, slot, value, floor_id in found.get("slots", ())},
    )


def _filled(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in (None, "", 0, [], False)}


def _variable(write: VariableWrite) -> dict[str, Any]:
    found = {"scope": write.scope.name, "key": write.key}
    return found if write.value_json is None else {**found, "value": write.value_json}


def _slot(write: SlotWrite) -> dict[str, Any]:
    found = {"namespace": write.namespace, "slot": write.slot}
    return found if write.value_json is None else {**found, "value": write.value_json}


def _memory(write: MemoryWrite) -> dict[str, Any]:
    return _filled(
        op=write.op.name,
        memory_id=write.memory_id,
        kind=write.kind.name if write.kind else None,
        fact_key=write.fact_key,
        text=write.text,
        importance=_number(write.importance),
        confidence=_number(write.confidence),
        covers_depth=write.covers_depth,
    )


def _number(value: float) -> float:
    return int(value) if value == int(value) else value


def _memory_from(found: dict[str, Any]) -> MemoryWrite:
    return MemoryWrite(
        MemoryOp[found["op"]],
        found.get("memory_id", ""),
        MemoryKind[found["kind"]] if "kind" in found else None,
        found.get("fact_key", ""),
        found.get("text", ""),
        float(found.get("importance", 0)),
        float(found.get("confidence", 0)),
        found.get("covers_depth", 0),
    )


def _item(item: MemoryItem) -> dict[str, Any]:
    return _filled(
        id=item.memory_id,
        kind=item.kind.name,
        fact_key=item.fact_key,
        text=item.text,
        importance=item.importance,
        confidence=item.confidence,
        covers=[item.covers_floor_id, item.covers_depth] if item.covers_depth else None,
        floor=item.floor_id,
        message=item.message_id,
        source=item.source,
        added=item.added_floor_id if item.added_floor_id != item.floor_id else None,
        deprecated=item.deprecated,
    )


def _item_from(found: dict[str, Any]) -> MemoryItem:
    covers_floor_id, covers_depth = found.get("covers", ("", 0))
    return MemoryItem(
        found["id"],
        MemoryKind[found["kind"]],
        found.get("fact_key", ""),
        found.get("text", ""),
        float(found.get("importance", 0)),
        float(found.get("confidence", 0)),
        covers_floor_id,
        covers_depth,
        found["floor"],
        found.get("message", ""),
        found.get("source", ""),
        found.get("added", found["floor"]),
        found.get("deprecated", False),
    )
