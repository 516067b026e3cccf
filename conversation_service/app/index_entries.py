"""What the next events of a feed bring into the index of words.

A commit brings its floor. An import or a fork brings a whole session, which has one event: its floors are
taken in pieces, and the index remembers the last one. Such a session may have got more floors by then: each
takes its right place in the index when its own event comes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from kernel.errors import DataLoss
from kernel.tree.model import Floor, FloorState
from kernel.tree.words import words
from kernel.verbs.env import Codec, ReadTx
from kernel.verbs.records import Event, PlacedEvent
from kernel.verbs.search_store import Indexed, IndexEntry, IndexKey

log = structlog.get_logger(__name__)

# Of one batch: events that are looked at, floors that are read, and bytes after which it ends.
_EVENTS, _FLOORS, _BYTES = 200, 64, 1024 * 1024


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
    found = await tx.tree(placed.event.session_id, done.place, _FLOORS, bodies=True)
    taken = found[: _fitting(found)]
    entries = _entries(codec, [(placed.position, floor) for floor in taken])
    more = len(taken) < len(found) or len(found) == _FLOORS
    if more:
        return Batch(entries, [], Indexed(done.position, taken[-1].place))
    return Batch(entries, [], Indexed(placed.position))


async def _floors(tx: ReadTx, codec: Codec, events: Sequence[PlacedEvent]) -> Batch:
    """The floors of the commits up to the next whole session."""
    found: list[tuple[int, Floor]] = []
    size, last = 0, events[0].position
    for placed in events:
        if _is_whole(placed.event) or len(found) == _FLOORS or size > _BYTES:
            break
        last = placed.position
        floor = await _floor(tx, placed) if placed.event.type == "floor.committed" else None
        if floor is not None:
            found.append((placed.position, floor))
            size += _size(floor)
    known = await tx.indexed_floors([floor.floor_id for _, floor in found])
    return Batch(_entries(codec, found), known, Indexed(last))


async def _floor(tx: ReadTx, placed: PlacedEvent) -> Floor | None:
    """None when it was erased, or cannot be read: then whoever reads it is told so."""
    try:
        return await tx.floor(placed.event.floor_id)
    except DataLoss:
        log.error("a damaged floor is not indexed", floor_id=placed.event.floor_id)
        return None


def _entries(codec: Codec, found: Sequence[tuple[int, Floor]]) -> list[IndexEntry]:
    committed = [(position, floor) for position, floor in found if floor.state is FloorState.COMMITTED]
    return [entry for position, floor in committed for entry in _of_floor(codec, position, floor)]


def _of_floor(codec: Codec, position: int, floor: Floor) -> list[IndexEntry]:
    """One for each message with words in its text. Hidden messages are not found."""
    entries: list[IndexEntry] = []
    for page in floor.pages:
        try:
            messages = codec.messages(page.content.blob)
        except DataLoss:
            log.error("a damaged page is not indexed", page_id=page.page_id)
            continue
        for index, message in enumerate(messages):
            found = () if message.hidden else tuple(words(message.text))
            if found:
                key = IndexKey(position, floor.place, len(entries))
                entries.append(IndexEntry(key, floor.session_id, floor.floor_id, page.page_id, index, found))
    return entries


def _size(floor: Floor) -> int:
    return sum(len(page.content.blob) for page in floor.pages)


def _fitting(floors: Sequence[Floor]) -> int:
    """How many of the first make a batch."""
    size = 0
    for count, floor in enumerate(floors, 1):
        size += _size(floor)
        if size > _BYTES:
            return count
    return len(floors)
