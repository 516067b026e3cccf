"""Effects and state between the contract's messages and the kernel's values."""

from collections.abc import Sequence

from stemma.kernel.v1 import effects_pb2 as pb
from stemma.kernel.v1 import state_pb2

from kernel.errors import Invalid, Violation, invalid
from kernel.rpc.checks import Gather, enum_field, uuid_field
from kernel.state.limits import MAX_BYTES, MAX_WRITES, faults
from kernel.state.model import (
    Effects,
    MemoryItem,
    MemoryKind,
    MemoryOp,
    MemoryWrite,
    Scope,
    SlotWrite,
    Value,
    Variable,
    VariableWrite,
)
from kernel.state.text import effects_from, effects_text
from kernel.tree.model import StoredEffects
from kernel.verbs.effects import Given


def given(message: pb.Effects, field: str = "effects") -> Given:
    """Checked effects as they were brought, perhaps none; INVALID names every fault."""
    count = len(message.variables) + len(message.memory) + len(message.slots)
    if count > MAX_WRITES:
        raise invalid(field, f"has at most {MAX_WRITES} writes")
    with Gather() as check:
        variables = [
            check(variable_write, write, f"{field}.variables[{n}]")
            for n, write in enumerate(message.variables)
        ]
        memory = [check(_memory, write, f"{field}.memory[{n}]") for n, write in enumerate(message.memory)]
        covers = [
            check(uuid_field, write.covers_floor_id, f"{field}.memory[{n}].covers_floor_id", required=False)
            for n, write in enumerate(message.memory)
        ]
        slots = [check(_slot, write, f"{field}.slots[{n}]") for n, write in enumerate(message.slots)]
    effects = Effects(tuple(variables), tuple(memory), tuple(slots))
    found = [Violation(f"{field}.{path}", why) for path, why in faults(effects)]
    if found:
        raise Invalid(*found)
    if len(effects_text(effects)) > MAX_BYTES:
        raise invalid(field, f"says at most {MAX_BYTES // 1024} KiB")
    return Given(effects, tuple(covers))


def live_values(writes: Sequence[pb.VariableWrite], scope: Scope) -> dict[str, str | None]:
    """Checked values of one layer by key, None for a deletion; the last write of a key wins."""
    if not 1 <= len(writes) <= MAX_WRITES:
        raise invalid("variables", f"has 1 to {MAX_WRITES} writes")
    with Gather() as check:
        checked = [check(variable_write, write, f"variables[{n}]", scope) for n, write in enumerate(writes)]
    effects = Effects(tuple(checked))
    found = [Violation(path, why) for path, why in faults(effects)]
    if found:
        raise Invalid(*found)
    if len(effects_text(effects)) > MAX_BYTES:
        raise invalid("variables", f"say at most {MAX_BYTES // 1024} KiB")
    return {write.key: write.value_json for write in checked}


def variable_write(write: pb.VariableWrite, field: str, only: Scope | None = None) -> VariableWrite:
    """`only` is the one scope that is allowed, and then the default."""
    scope = Scope(enum_field(write.scope, pb.Scope, f"{field}.scope", int(only or Scope.PATH)))
    if only is not None and scope is not only:
        raise invalid(f"{field}.scope", f"is {only.name} here, or left out")
    return VariableWrite(scope, write.key, _value(write, field))


def _slot(write: pb.SlotWrite, field: str) -> SlotWrite:
    return SlotWrite(write.namespace, write.slot, _value(write, field))


def _value(write: pb.VariableWrite | pb.SlotWrite, field: str) -> str | None:
    if write.delete and write.value_json:
        raise invalid(f"{field}.value_json", "not together with delete")
    return None if write.delete else write.value_json


def _memory(write: pb.MemoryWrite, field: str) -> MemoryWrite:
    with Gather() as check:
        number = check(enum_field, write.op, pb.MemoryOp, f"{field}.op")
        kind = check(enum_field, write.kind, pb.MemoryKind, f"{field}.kind", 0)
    op = MemoryOp(number)
    if op is MemoryOp.ADD and write.memory_id:
        raise invalid(f"{field}.memory_id", "is given by the server")
    if write.covers_floor_id and (op is MemoryOp.DEPRECATE or kind not in (0, MemoryKind.SUMMARY)):
        raise invalid(f"{field}.covers_floor_id", "is for a SUMMARY")
    return MemoryWrite(
        op,
        uuid_field(write.memory_id, f"{field}.memory_id", required=op is not MemoryOp.ADD),
        MemoryKind(kind) if kind else None,
        write.fact_key,
        write.text,
        write.importance,
        write.confidence,
    )


def effects_pb(stored: StoredEffects) -> pb.Effects:
    effects = effects_from(stored.blob)
    covers = iter(stored.covers)
    return pb.Effects(
        variables=[
            pb.VariableWrite(
                scope=_scope(write.scope),
                key=write.key,
                value_json=write.value_json or "",
                delete=write.value_json is None,
            )
            for write in effects.variables
        ],
        memory=[_memory_pb(write, next(covers) if write.covers_depth else "") for write in effects.memory],
        slots=[
            pb.SlotWrite(
                namespace=write.namespace,
                slot=write.slot,
                value_json=write.value_json or "",
                delete=write.value_json is None,
            )
            for write in effects.slots
        ],
    )


def _memory_pb(write: MemoryWrite, covers: str) -> pb.MemoryWrite:
    return pb.MemoryWrite(
        op=f"MEMORY_OP_{write.op.name}",
        memory_id=write.memory_id,
        kind=_kind_pb(write.kind),
        fact_key=write.fact_key,
        text=write.text,
        importance=write.importance,
        confidence=write.confidence,
        covers_floor_id=covers,
    )


def _scope(scope: Scope) -> str:
    return f"SCOPE_{scope.name}"


def _kind_pb(kind: MemoryKind | None) -> str:
    return f"MEMORY_KIND_{kind.name if kind else 'UNSPECIFIED'}"


def variable_pb(variable: Variable) -> state_pb2.Variable:
    return state_pb2.Variable(
        scope=_scope(variable.scope),
        key=variable.key,
        value_json=variable.value_json,
        floor_id=variable.floor_id,
        version=variable.version,
    )


def memory_item_pb(item: MemoryItem) -> state_pb2.MemoryItem:
    return state_pb2.MemoryItem(
        memory_id=item.memory_id,
        kind=_kind_pb(item.kind),
        fact_key=item.fact_key,
        text=item.text,
        importance=item.importance,
        confidence=item.confidence,
        covers_floor_id=item.covers_floor_id,
        floor_id=item.floor_id,
        message_id=item.message_id,
        source=item.source,
        trust=item.trust,
        added_floor_id=item.added_floor_id,
        deprecated=item.deprecated,
    )


def slots_pb(slots: Sequence[tuple[tuple[str, str], Value]]) -> list[state_pb2.SlotValue]:
    return [
        state_pb2.SlotValue(namespace=space, slot=slot, value_json=value.value_json, floor_id=value.floor_id)
        for (space, slot), value in slots
    ]
