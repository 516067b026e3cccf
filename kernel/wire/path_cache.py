"""Floors as they are shown on a path, kept as bytes.

A committed floor at (segment, depth) never changes, so what is kept needs no invalidation; it is kept in
chunks of a segment, and the chunks used least lately leave when a budget of bytes is exceeded. Only a
floor's *position* may change, when it gets a sibling: a chunk remembers the session's fork count at
which its positions were read, and they hold for as long as that is the count.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kernel.tree.model import Place
from kernel.tree.places import Chain, Link

_FLOORS = 64
# Beside a floor's own bytes: its position, objects, references.
_OVERHEAD = 500

_Key = tuple[str, str, int, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """A floor and its position, serialised. A position that may have changed since it was read is None."""

    floor_id: str
    floor: bytes
    position: bytes | None


class _Chunk:
    __slots__ = ("bytes", "entries", "forks")

    def __init__(self, forks: int) -> None:
        self.forks = forks
        self.entries: list[Entry | None] = [None] * _FLOORS
        self.bytes = 0

    def at(self, forks: int) -> None:
        """What holds at another fork count: the floors, not their positions."""
        self.entries = [entry and replace(entry, position=None) for entry in self.entries]
        self.forks = forks


class PathCache:
    """Belongs to one process. Every key begins with the tenant and the session."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._bytes = 0
        self._chunks: OrderedDict[_Key, _Chunk] = OrderedDict()
        # Where segments hang, which never changes either; None for the root's.
        self._hangs: OrderedDict[tuple[str, str, int], Place | None] = OrderedDict()

    @property
    def bytes(self) -> int:
        return self._bytes

    def chain(self, tenant_id: str, session_id: str, place: Place, first: int) -> list[Link] | None:
        """The path to `place`, walked up as far as depth `first`; None when part of it is not known."""
        links = []
        while True:
            key = (tenant_id, session_id, place.segment)
            if key not in self._hangs:
                return None
            self._hangs.move_to_end(key)
            hangs = self._hangs[key]
            low = 0 if hangs is None else hangs.depth + 1
            links.append(Link(place.segment, low, place.depth))
            if hangs is None or low <= first:
                return links[::-1]
            place = hangs

    def learn(self, tenant_id: str, session_id: str, chain: Chain) -> None:
        """Keeps where the segments of a whole path hang."""
        above: Link | None = None
        for link in chain:
            hangs = None if above is None else Place(above.segment, above.last)
            self._hangs[tenant_id, session_id, link.segment] = hangs
            above = link
        while len(self._hangs) * _OVERHEAD > self._budget:
            self._hangs.popitem(last=False)

    def get(self, tenant_id: str, session_id: str, forks: int, places: Iterable[Place]) -> list[Entry] | None:
        """The entries at these places, all of them or None."""
        found = []
        last: _Key | None = None
        entries: list[Entry | None] = []
        for place in places:
            key = (tenant_id, session_id, place.segment, place.depth // _FLOORS)
            if key != last:
                chunk = self._chunks.get(key)
                if chunk is None:
                    return None
                self._chunks.move_to_end(key)
                if chunk.forks != forks:
                    chunk.at(forks)
                last, entries = key, chunk.entries
            entry = entries[place.depth % _FLOORS]
            if entry is None:
                return None
            found.append(entry)
        return found

    def put(self, tenant_id: str, session_id: str, forks: int, placed: Iterable[tuple[Place, Entry]]) -> None:
        """Keeps entries, with positions that hold at that fork count."""
        for place, entry in placed:
            key = (tenant_id, session_id, place.segment, place.depth // _FLOORS)
            chunk = self._chunks.get(key)
            if chunk is None:
                chunk = self._chunks[key] = _Chunk(forks)
            elif chunk.forks != forks:
                chunk.at(forks)
            slot = place.depth % _FLOORS
            if chunk.entries[slot] is None:
                size = len(entry.floor) + _OVERHEAD
                chunk.bytes += size
                self._bytes += size
            chunk.entries[slot] = entry
        while self._bytes > self._budget:
            self._drop(next(iter(self._chunks)))

    def _drop(self, key: _Key) -> None:
        chunk = self._chunks.pop(key, None)
        if chunk is not None:
            self._bytes -= chunk.bytes


def places(chain: Sequence[Link], first: int, last: int) -> Iterator[Place]:
    """The places of a path between two depths, by depth."""
    for link in chain:
        for depth in range(max(first, link.first), min(last, link.last) + 1):
            yield Place(link.segment, depth)
