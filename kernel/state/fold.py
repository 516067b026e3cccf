"""State as the fold of effects along a path."""

from dataclasses import replace

from kernel.state.model import (
    Effects,
    MemoryItem,
    MemoryKind,
    MemoryOp,
    MemoryWrite,
    Origin,
    Scope,
    State,
    Value,
)

# Of the items that were deprecated, so many stay readable: those that were added last.
KEPT_DEPRECATED = 256


class UnknownMemory(ValueError):
    """A write names an item that is not on the path, or is deprecated already."""

    def __init__(self, index: int) -> None:
        super().__init__(f"memory[{index}] names no visible item")
        self.index = index


def apply(state: State, effects: Effects, origin: Origin) -> State:
    """The path-scope state below a floor with these effects. Live writes are no part of it.

    A later write of a key wins over an earlier one. Adding a fact under a key that a visible fact has
    deprecates that one. Raises UnknownMemory.
    """
    variables, deleted = dict(state.variables), set(state.deleted)
    for write in effects.variables:
        if write.scope is not Scope.PATH:
            continue
        if write.value_json is None:
            variables.pop(write.key, None)
            deleted.add(write.key)
        else:
            variables[write.key] = Value(write.value_json, origin.floor_id)
            deleted.discard(write.key)
    slots = dict(state.slots)
    for slot in effects.slots:
        if slot.value_json is None:
            slots.pop((slot.namespace, slot.slot), None)
        else:
            slots[slot.namespace, slot.slot] = Value(slot.value_json, origin.floor_id)
    memory = _remembered(dict(state.memory), effects, origin) if effects.memory else state.memory
    return State(variables, frozenset(deleted), memory, slots)


def _remembered(memory: dict[str, MemoryItem], effects: Effects, origin: Origin) -> dict[str, MemoryItem]:
    covers = iter(origin.covers)
    for index, write in enumerate(effects.memory):
        known = memory.get(write.memory_id)
        covered = next(covers) if write.covers_depth else ""
        if write.op is MemoryOp.ADD:
            _supersede(memory, write)
            # Written anew, an item is the last one.
            memory.pop(write.memory_id, None)
            memory[write.memory_id] = _item(write, None, origin, covered)
        elif known is None or known.deprecated:
            raise UnknownMemory(index)
        elif write.op is MemoryOp.UPDATE:
            memory[write.memory_id] = _item(write, known, origin, covered)
        else:
            _deprecate(memory, known)
    gone = [item.memory_id for item in memory.values() if item.deprecated]
    for memory_id in gone[:-KEPT_DEPRECATED]:
        del memory[memory_id]
    return memory


def _supersede(memory: dict[str, MemoryItem], write: MemoryWrite) -> None:
    if write.kind is not MemoryKind.FACT or not write.fact_key:
        return
    for item in list(memory.values()):
        if item.kind is MemoryKind.FACT and item.fact_key == write.fact_key and not item.deprecated:
            _deprecate(memory, item)


def _deprecate(memory: dict[str, MemoryItem], item: MemoryItem) -> None:
    memory[item.memory_id] = replace(item, deprecated=True)


def _item(write: MemoryWrite, known: MemoryItem | None, origin: Origin, covered: str) -> MemoryItem:
    kind = write.kind or (known.kind if known else None)
    assert kind is not None, "an added item has a kind"
    return MemoryItem(
        write.memory_id,
        kind,
        write.fact_key or (known.fact_key if known else ""),
        write.text,
        write.importance,
        write.confidence,
        covered,
        write.covers_depth,
        origin.floor_id,
        origin.message_id,
        origin.source,
        known.added_floor_id if known else origin.floor_id,
    )
