"""Floors of a path and their positions as an answer has them, joined, so that a long path is a few pieces.

Everything here goes by depth; a chunk holds floors of one segment, at most FLOORS of them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

FLOORS = 64


class Joined:
    """Fields of an answer, one after the other."""

    __slots__ = ("_ends", "data")

    def __init__(self, fields: Sequence[bytes]) -> None:
        self.data = b"".join(fields)
        self._ends = [0, *accumulate(map(len, fields))]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def cut(self, low: int, high: int, *, backwards: bool = False) -> bytes:
        """Those from `low` to before `high`, maybe the last one first."""
        if backwards:
            return b"".join(self.fields(low, high)[::-1])
        if low == 0 and high == len(self):
            return self.data
        return self.data[self._ends[low] : self._ends[high]]

    def fields(self, low: int, high: int) -> list[bytes]:
        ends = self._ends
        return [self.data[ends[at] : ends[at + 1]] for at in range(low, high)]

    def size(self, low: int, high: int) -> int:
        """In bytes."""
        return self._ends[high] - self._ends[low]

    def fitting(self, low: int, high: int, room: int, *, backwards: bool) -> int:
        """How many of those, from the one end or the other, have at most `room` bytes together."""
        ends = self._ends
        if backwards:
            return high - bisect_left(ends, ends[high] - room, low, high + 1)
        return bisect_right(ends, ends[low] + room, low, high + 1) - 1 - low


class Chunk:
    """Floors that follow one another in one segment, from depth `first` on. `alone` are their positions as
    long as no floor of the session has a second child; `positions` hold at the fork count `forks`."""

    __slots__ = ("alone", "first", "floors", "forks", "ids", "positions", "segment")

    def __init__(self, segment: int, first: int, ids: Sequence[str], floors: Joined, alone: Joined) -> None:
        self.segment, self.first = segment, first
        self.ids, self.floors, self.alone = ids, floors, alone
        self.positions: Joined | None = None
        self.forks = -1

    @property
    def last(self) -> int:
        return self.first + len(self.ids) - 1

    def beside(self, other: "Chunk") -> bool:
        """Whether the other one's floors are next to these, or among them."""
        return self.first <= other.last + 1 and other.first <= self.last + 1

    def with_those_of(self, other: "Chunk") -> "Chunk":
        """These floors and those of one beside them."""
        if other.first <= self.first and other.last >= self.last:
            return other
        above = max(0, self.first - other.first)
        below = min(len(other.ids), max(0, self.last + 1 - other.first))
        ranges = (0, min(above, len(other.ids))), (below, len(other.ids))

        def joined(own: Joined, others: Joined) -> Joined:
            before, after = (others.fields(*one) for one in ranges)
            return Joined([*before, *own.fields(0, len(own)), *after])

        before, after = (other.ids[slice(*one)] for one in ranges)
        return Chunk(
            self.segment,
            min(self.first, other.first),
            [*before, *self.ids, *after],
            joined(self.floors, other.floors),
            joined(self.alone, other.alone),
        )


@dataclass(frozen=True, slots=True)
class Floors:
    """Floors that follow one another on a path, as they were written: a field of an answer for each, and one
    for its position as long as it is alone."""

    segment: int
    first: int
    ids: Sequence[str]
    floors: Sequence[bytes]
    alone: Sequence[bytes]

    def chunks(self) -> Iterator[Chunk]:
        low, end = self.first, self.first + len(self.ids)
        while low < end:
            high = min(end, (low // FLOORS + 1) * FLOORS)
            cut = slice(low - self.first, high - self.first)
            yield Chunk(self.segment, low, self.ids[cut], Joined(self.floors[cut]), Joined(self.alone[cut]))
            low = high


@dataclass(frozen=True, slots=True)
class Piece:
    """Floors `low` to before `high` of a chunk, by their places in it."""

    chunk: Chunk
    low: int
    high: int

    @property
    def first(self) -> int:
        return self.chunk.first + self.low

    @property
    def last(self) -> int:
        return self.chunk.first + self.high - 1

    def knows(self, forks: int) -> bool:
        """Whether its positions at that fork count are kept."""
        return self.chunk.forks == forks

    def positions(self, forks: int, at_forks: Mapping[str, bytes]) -> Joined:
        """Of the chunk, right for this piece of it, at that fork count. Where they are not kept they are
        made, from the positions of those floors that have siblings, by floor id; and kept for all of it."""
        chunk = self.chunk
        if chunk.positions is not None and chunk.forks == forks:
            return chunk.positions
        alone = chunk.alone.fields(0, len(chunk.alone))
        made = Joined([at_forks.get(*both) for both in zip(chunk.ids, alone, strict=True)])
        if self.high - self.low == len(chunk.ids):
            chunk.positions, chunk.forks = made, forks
        return made


@dataclass(frozen=True, slots=True)
class Positioned:
    """A piece, and the positions of its chunk that are right for it."""

    piece: Piece
    positions: Joined

    def __len__(self) -> int:
        return self.piece.high - self.piece.low

    @property
    def size(self) -> int:
        """Of the floors, in bytes."""
        return self.piece.chunk.floors.size(self.piece.low, self.piece.high)

    def fitting(self, room: int, *, backwards: bool) -> int:
        """As `Joined.fitting`, of the floors."""
        floors = self.piece.chunk.floors
        return floors.fitting(self.piece.low, self.piece.high, room, backwards=backwards)

    def cut(self, count: int, *, backwards: bool) -> tuple[bytes, bytes]:
        """So many from the one end or the other, in that order: floors, positions."""
        low = self.piece.high - count if backwards else self.piece.low
        ends = low, low + count
        floors = self.piece.chunk.floors
        return floors.cut(*ends, backwards=backwards), self.positions.cut(*ends, backwards=backwards)
