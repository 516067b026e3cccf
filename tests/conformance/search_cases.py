"""The cases of `cases.py` for feeds as a whole and the index of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.tree.model import Floor
from kernel.verbs.search_store import Indexed, IndexEntry, IndexKey, WordQuery
from kernel.verbs.store import WriteTx

if TYPE_CHECKING:
    from tests.conformance.cases import Read, Write


def entry(floor: Floor, *words: str, position: int = 1, number: int = 0) -> IndexEntry:
    assert floor.input is not None
    key = IndexKey(position, floor.place, number)
    return IndexEntry(key, floor.session_id, floor.floor_id, floor.input.page_id, 0, words)


async def insert_index(tx: WriteTx, project_id: str, floor: Floor) -> None:
    """One entry, and the position that the index has with it."""
    await tx.insert_entries(project_id, [entry(floor, "word", "other")])
    await tx.set_indexed(project_id, Indexed(1, floor.place))


SEARCH_READS: dict[str, Read] = {
    "feed": lambda tx, on: tx.feed(on.project_id),
    "floors": lambda tx, on: tx.floors([on.first.floor_id, on.second.floor_id]),
    "heads": lambda tx, on: tx.heads(on.session_id),
    "indexed": lambda tx, on: tx.indexed(on.project_id),
    "indexed_floors": lambda tx, on: tx.indexed_floors([on.first.floor_id]),
    "search": lambda tx, on: tx.search(WordQuery(on.project_id, on.session_id, ("word",)), None, 10),
}
SEARCH_WRITES: dict[str, Write] = {
    "lock_index": lambda tx, on: tx.lock_index(on.project_id),
    "insert_entries": lambda tx, on: tx.insert_entries(on.project_id, [entry(on.second, "word")]),
    "lock_entries": lambda tx, on: tx.lock_entries(on.project_id),
    "remove_entries": lambda tx, on: tx.remove_entries([on.first.floor_id]),
    "set_indexed": lambda tx, on: tx.set_indexed(on.project_id, Indexed(2)),
}
