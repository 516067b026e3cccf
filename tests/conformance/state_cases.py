"""The cases of `cases.py` for state and live values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kernel.state.model import Effects, Scope, VariableWrite
from kernel.state.text import effects_text
from kernel.tree.digest import effects_digest
from kernel.tree.model import StoredEffects
from kernel.verbs.state_store import LiveLayer, LiveRow
from kernel.verbs.store import ReadTx, WriteTx

if TYPE_CHECKING:
    from tests.conformance.cases import Furnished, Read, Write


def effects(key: str, value: str = "1") -> StoredEffects:
    blob = effects_text(Effects((VariableWrite(Scope.PATH, key, value),)))
    return StoredEffects(blob, effects_digest(blob), "client", (1, 0, 0))


async def insert_state(tx: WriteTx, session_id: str, floor_id: str, mark: str) -> None:
    await tx.insert_state_copies(session_id, {floor_id: mark})
    await tx.write_live(session_id, {"key": mark}, "somebody")


async def _since_copy(tx: ReadTx, on: Furnished) -> Any:
    text, written = await tx.since_copy(on.fork)
    assert text == ""
    return written


async def _live_layers(tx: ReadTx, on: Furnished) -> Any:
    layers = await tx.live_layers(on.session_id, on.project_id)
    assert set(layers) == {on.session_id, on.project_id}
    return [row for layer in layers.values() for row in layer.values]


async def _live_size(tx: ReadTx, on: Furnished) -> bool:
    return await tx.live_size(on.session_id) != (0, 0)


STATE_READS: dict[str, Read] = {
    "since_copy": _since_copy,
    "state_copies": lambda tx, on: tx.state_copies(on.session_id),
    "live_layers": _live_layers,
    "live_size": _live_size,
}
STATE_WRITES: dict[str, Write] = {
    "insert_state_copies": lambda tx, on: tx.insert_state_copies(on.session_id, {on.second.floor_id: "{}"}),
    "delete_state_copies": lambda tx, on: tx.delete_state_copies(on.session_id),
    "write_live": lambda tx, on: tx.write_live(on.session_id, {"key": None, "new": "2"}, "another"),
    "lock_live": lambda tx, on: tx.lock_live(on.session_id),
    "copy_live": lambda tx, on: tx.copy_live(on.world.new_id(), LiveLayer(3, (LiveRow("a", "1", 2),))),
    "update_derived": lambda tx, on: tx.update_derived(replace(on.first, path_tokens=77)),
    "update_stored_tokens": lambda tx, on: tx.update_stored_tokens(on.session_id, 99),
}
