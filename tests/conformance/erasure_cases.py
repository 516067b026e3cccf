"""The cases of `cases.py` for erasing a principal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.verbs.records import Erased
from kernel.verbs.store import WriteTx

if TYPE_CHECKING:
    from tests.conformance.cases import Furnished, Write

# Whom nothing here is of, but a grave.
GONE = "somebody gone"


def author(on: Furnished) -> str:
    return on.first.principal


async def _add_taken(tx: WriteTx, on: Furnished) -> None:
    await tx.bury(GONE)
    await tx.add_taken(GONE, [Erased("floor", len(on.world.mark))])


async def _erase_whole(tx: WriteTx, on: Furnished) -> None:
    session, root, main = on.world.new_session(on.project_id)
    await tx.insert_session(session, root, main)
    await tx.erase_whole(session)


ERASURE_WRITES: dict[str, Write] = {
    "refuse_buried": lambda tx, on: tx.refuse_buried("nobody"),
    "bury": lambda tx, on: tx.bury(f"{GONE} {on.world.mark}"),
    "taken_from": lambda tx, on: tx.taken_from(GONE),
    "add_taken": _add_taken,
    "erase_entries_of": lambda tx, on: tx.erase_entries_of(on.staged.staged_by),
    "sessions_of": lambda tx, on: tx.sessions_of(author(on), 100),
    "lock_whole": lambda tx, on: tx.lock_whole(on.session_id),
    "is_alone": lambda tx, on: tx.is_alone(on.world.session, author(on)),
    "pending_of": lambda tx, on: tx.pending_of(on.session_id, author(on)),
    "blank_in": lambda tx, on: tx.blank_in(on.world.session, author(on)),
    "erase_whole": _erase_whole,
    "erase_rest": lambda tx, on: tx.erase_rest(on.request.principal),
}
# Of these, what leaves no row by itself.
LOOKS = {"refuse_buried", "taken_from", "sessions_of", "lock_whole", "is_alone", "pending_of"}
