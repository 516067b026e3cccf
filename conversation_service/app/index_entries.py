"""What the next events of a feed bring into the index of words.

A commit brings its floor. An import or a fork brings a whole session, which has one event: its floors are
taken in pieces, and the index remembers the last one. Such a session may have got more floors by then: each
takes its right place in the index when its own event comes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from kernel.tree.digest import page_holds
from kernel.tree.model import Floor, FloorState
from kernel.tree.words import words
from kernel.verbs.env import Codec, ReadTx
from kernel.verbs.records import Event, PlacedEvent
from kernel.verbs.search_store import Indexed, IndexEntry, IndexKey

log = structlog.get_logger(__name__)

# Of one batch: events that are looked at, floors that are read, and bytes after which it ends; and how many
# floors are read at a time, each of which may have some MiB.
_EVENTS, _FLOORS, _BYTES, _PIECE = 200, 64, 1024 * 1024, 8


@dataclass(frozen=True, slots=True)
class Batch:
    entries: Sequence[IndexEntry]
    # Floors whose entries are made anew.
    anew: Sequence[str]
    # How far the index has come with them.
    indexed: Indexed


async def next_batch(tx: ReadTx, codec: Codec, project_id: str, done: Indexed) -> Batch | None:
    """None when everything is indexed. At least one event, or one piece of a session, each time."""
    events = await tx.events(project_id, done.position, _EVENTS)
    if not events:
        return None
    if _is_whole(events[0].event):
        return await _session(tx, codec, events[0], done)
    return await _floors(tx, codec, events)


def _is_whole(event: Event) -> bool:
    """Whether it brings floors that have no events of their own: an import says where it came from."""
    return event.type == "session.forked" or (event.type == "session.created" and "source" in event.payload)


async def _session(tx: ReadTx, codec: Codec, placed: PlacedEvent, done: Indexed) -> Batch:
    """The next floors of a session in the order of its tree."""
    entries: list[IndexEntry] = []
    place, count, size = done.place, 0, 0
    while count < _FLOORS and size < _BYTES:
        piece = await tx.tree(placed.event.session_id, place, _PIECE, bodies=True)
        entries += _entries(codec, [(placed.position, floor) for floor in piece])
        if len(piece) < _PIECE:
            return Batch(entries, [], Indexed(placed.position))
        place, count, size = piece[-1].place, count + len(piece), size + _size(piece)
    return Batch(entries, [], Indexed(done.position, place))


async def _floors(tx: ReadTx, codec: Codec, events: Sequence[PlacedEvent]) -> Batch:
    """The floors of the commits up to the next whole session; one that was erased is not there."""
    positions, last = _committed(events)
    entries: list[IndexEntry] = []
    taken, size = list(positions), 0
    for start in range(0, len(taken), _PIECE):
        piece = await tx.floors(taken[start : start + _PIECE])
        entries += _entries(codec, [(positions[floor.floor_id], floor) for floor in piece])
        size += _size(piece)
        if size >= _BYTES:
            taken = taken[: start + _PIECE]
            last = positions[taken[-1]]
            break
    return Batch(entries, await tx.indexed_floors(taken), Indexed(last))


def _committed(events: Sequence[PlacedEvent]) -> tuple[dict[str, int], int]:
    """By floor the position of its commit, in their order; and the position that this comes to."""
    positions: dict[str, int] = {}
    last = events[0].position
    for placed in events:
        if _is_whole(placed.event) or len(positions) == _FLOORS:
            break
        last = placed.position
        if placed.event.type == "floor.committed":
            positions[placed.event.floor_id] = placed.position
    return positions, last


def _entries(codec: Codec, found: Sequence[tuple[int, Floor]]) -> list[IndexEntry]:
    committed = [(position, floor) for position, floor in found if floor.state is FloorState.COMMITTED]
    return [entry for position, floor in committed for entry in _of_floor(codec, position, floor)]


def _of_floor(codec: Codec, position: int, floor: Floor) -> list[IndexEntry]:
    """One for each message with words in its text. Hidden messages are not found."""
    entries: list[IndexEntry] = []
    for page in floor.pages:
        if not page_holds(page.slot, page.partial, page.content.blob, page.digest):
            # Whoever reads it is told so.
            log.error("a damaged floor is not indexed", floor_id=floor.floor_id)
            return []
        messages = codec.messages(page.content.blob)
        for index, message in enumerate(messages):
            found = () if message.hidden else tuple(words(message.text))
            if found:
                key = IndexKey(position, floor.place, len(entries))
                entries.append(IndexEntry(key, floor.session_id, floor.floor_id, page.page_id, index, found))
    return entries


def _size(floors: Sequence[Floor]) -> int:
    return sum(len(page.content.blob) for floor in floors for page in floor.pages)
