"""Floors as they are shown on a path, kept as bytes.

A committed floor at (segment, depth) never changes, so what is kept needs no invalidation; it is kept in
chunks of a segment, and the chunks used least lately leave when a budget of bytes is exceeded. Only a
floor's *position* may change, when it gets a sibling: a chunk remembers the session's fork count at which
its positions were read, and they hold for as long as that is the count.
"""

from collections import OrderedDict
from collections.abc import Iterator

from kernel.tree.model import Place
from kernel.tree.places import Chain, Link
from kernel.wire.path_chunks import FLOORS, Chunk, Piece

# Beside a floor's own bytes: its id, its positions, references.
_OVERHEAD = 400

_Key = tuple[str, str, int, int]


class PathCache:
    """Belongs to one process. Every key begins with the tenant and the session."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._bytes = 0
        self._chunks: OrderedDict[_Key, Chunk] = OrderedDict()
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

    def find(self, tenant_id: str, session_id: str, links: Chain) -> Iterator[Piece | Link]:
        """What is kept of the floors at those places, and where none is: both in their order."""
        for link in links:
            for number in range(link.first // FLOORS, link.last // FLOORS + 1):
                key = (tenant_id, session_id, link.segment, number)
                low, high = max(link.first, number * FLOORS), min(link.last, (number + 1) * FLOORS - 1)
                chunk = self._chunks.get(key)
                if chunk is None or chunk.first > high or chunk.last < low:
                    yield Link(link.segment, low, high)
                    continue
                self._chunks.move_to_end(key)
                if chunk.first > low:
                    yield Link(link.segment, low, chunk.first - 1)
                yield Piece(
                    chunk, max(low, chunk.first) - chunk.first, min(high, chunk.last) + 1 - chunk.first
                )
                if chunk.last < high:
                    yield Link(link.segment, chunk.last + 1, high)

    def put(self, tenant_id: str, session_id: str, chunk: Chunk) -> None:
        """Keeps a chunk, with the floors beside it that were kept; others of its place are forgotten."""
        key = (tenant_id, session_id, chunk.segment, chunk.first // FLOORS)
        kept = self._chunks.pop(key, None)
        if kept is not None:
            self._bytes -= _size(kept)
            chunk = chunk.with_those_of(kept) if chunk.beside(kept) else chunk
        self._chunks[key] = chunk
        self._bytes += _size(chunk)
        while self._bytes > self._budget:
            _, gone = self._chunks.popitem(last=False)
            self._bytes -= _size(gone)


def _size(chunk: Chunk) -> int:
    return len(chunk.floors.data) + len(chunk.ids) * _OVERHEAD
