"""What a file says of effects and live values: checked as a client's are, and folded."""

import re
from collections.abc import Sequence

from conversation_service.domain.exports.model import ExportLive
from conversation_service.domain.limits import LIMIT, Refused, refuse
from kernel.state.limits import (
    MAX_BYTES,
    MAX_LIVE_SIZE,
    MAX_LIVE_VALUES,
    MAX_WRITES,
    faults,
    variable_faults,
)
from kernel.state.model import Effects, MemoryOp
from kernel.state.text import effects_from, effects_text
from kernel.strict_json import NotJson, loads

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TEXTS = {"scope", "key", "value", "op", "memory_id", "kind", "fact_key", "text", "namespace", "slot"}
_NUMBERS = {"importance", "confidence"}


def effects_of(text: str, depth: int) -> Effects:
    """The effects of a floor at a depth. Raises Refused for what no floor can have: also for other than
    canonical text, whose digest would be another."""
    try:
        found = _read(text)
    except (NotJson, KeyError, TypeError, ValueError):
        raise refuse("A floor has effects that are none.") from None
    count = len(found.variables) + len(found.memory) + len(found.slots)
    if not 1 <= count <= MAX_WRITES or len(text.encode()) > MAX_BYTES:
        raise Refused(LIMIT, f"A floor has no effects, or more than {MAX_WRITES}, or more than 256 KiB.")
    for path, why in faults(found):
        raise refuse(f"A floor's effects: {path} {why}.")
    for write in found.memory:
        if not _UUID.fullmatch(write.memory_id):
            raise refuse("An item of memory has an id that is none.")
        if not 0 <= write.covers_depth < depth:
            raise refuse("A summary covers a floor that is not above it.")
        if write.op is MemoryOp.DEPRECATE and write.covers_depth:
            raise refuse("A deprecated item covers nothing.")
    return found


def _read(text: str) -> Effects:
    value = loads(text)
    if not isinstance(value, dict):
        raise TypeError
    for writes in value.values():
        for write in writes:
            if not isinstance(write, dict) or not all(_typed(*member) for member in write.items()):
                raise TypeError
    found = effects_from(text.encode())
    if effects_text(found).decode() != text:
        raise ValueError
    return found


def _typed(name: str, held: object) -> bool:
    if name in _TEXTS:
        return isinstance(held, str)
    if name in _NUMBERS:
        return isinstance(held, int | float) and not isinstance(held, bool)
    return name == "covers_depth" and isinstance(held, int) and not isinstance(held, bool)


def check_live(values: Sequence[ExportLive], version: int) -> None:
    """Raises Refused for values that no session can have."""
    if len(values) > MAX_LIVE_VALUES or sum(len(v.key) + len(v.value_json) for v in values) > MAX_LIVE_SIZE:
        raise Refused(LIMIT, f"A session has at most {MAX_LIVE_VALUES:,} live values, and 512 Ki characters.")
    if len({value.key for value in values}) != len(values):
        raise refuse("Two live values have the same key.")
    for value in values:
        for path, why in variable_faults("live value", value.key, value.value_json):
            raise refuse(f"A {path} {why}.")
        if not 1 <= value.version <= version:
            raise refuse("A live value is newer than the layer of them all.")
