"""What effects may hold: (path, why not) for each write at fault, whoever brings them."""

import math
from collections.abc import Iterator

from kernel.state.model import Effects, MemoryKind, MemoryOp, MemoryWrite
from kernel.strict_json import NotJson, is_storable, loads

# Of one floor: writes in all, and bytes of everything that they say.
MAX_WRITES, MAX_BYTES = 256, 256 * 1024
# A copy of the state is kept at least at every so manieth floor with effects.
COPY_EVERY = 16
# Of the state of a path as text: it is shown whole, and copied.
MAX_STATE = 1024 * 1024
# Values of one live layer, and characters in their keys and values.
MAX_LIVE_VALUES, MAX_LIVE_SIZE = 1_000, 512 * 1024
# Characters of a key; bytes of a value and of an item's text.
MAX_KEY, MAX_VALUE, MAX_TEXT = 128, 64 * 1024, 16 * 1024

Faults = Iterator[tuple[str, str]]


def faults(effects: Effects) -> Faults:
    """Every fault, in the order of the writes. Ids are not looked at."""
    for n, write in enumerate(effects.variables):
        yield from variable_faults(f"variables[{n}]", write.key, write.value_json)
    for n, item in enumerate(effects.memory):
        yield from _memory(f"memory[{n}]", item)
    for n, slot in enumerate(effects.slots):
        yield from _name(f"slots[{n}].namespace", slot.namespace)
        yield from _name(f"slots[{n}].slot", slot.slot)
        yield from _value(f"slots[{n}].value_json", slot.value_json)


def variable_faults(path: str, key: str, value_json: str | None) -> Faults:
    yield from _name(f"{path}.key", key)
    yield from _value(f"{path}.value_json", value_json)


def _name(path: str, name: str, least: int = 1) -> Faults:
    if not least <= len(name) <= MAX_KEY or not is_storable(name):
        yield path, f"has {least} to {MAX_KEY} characters, and no NUL"


def _value(path: str, text: str | None) -> Faults:
    if text is None:
        return
    if not text:
        yield path, "is required"
    elif len(text.encode()) > MAX_VALUE:
        yield path, "has at most 64 KiB"
    else:
        try:
            loads(text)
        except NotJson as error:
            yield path, str(error)


def _memory(path: str, write: MemoryWrite) -> Faults:
    if write.op is MemoryOp.DEPRECATE:
        if write != MemoryWrite(write.op, write.memory_id):
            yield path, "names an item and nothing else"
        return
    if write.op is MemoryOp.ADD and write.kind is None:
        yield f"{path}.kind", "is required"
    if not write.text or len(write.text.encode()) > MAX_TEXT or not is_storable(write.text):
        yield f"{path}.text", "has 1 byte to 16 KiB, and no NUL"
    if write.fact_key and write.kind not in (None, MemoryKind.FACT):
        yield f"{path}.fact_key", "is for a FACT"
    yield from _name(f"{path}.fact_key", write.fact_key, least=0)
    for name, share in (("importance", write.importance), ("confidence", write.confidence)):
        if math.isnan(share) or not 0 <= share <= 1:
            yield f"{path}.{name}", "is between 0 and 1"
