"""Answers kept as bytes, under everything that they depend on: so nothing here is ever invalid."""

from collections import OrderedDict
from collections.abc import Hashable

# Beside an answer's own bytes: its key, references.
_OVERHEAD = 500


class ByteCache:
    """The answers used least lately leave when `budget` bytes are exceeded. Belongs to one process."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._size = 0
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()

    @property
    def size(self) -> int:
        return self._size

    def get(self, key: Hashable) -> bytes | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: Hashable, answer: bytes) -> None:
        if key not in self._kept:
            self._kept[key] = answer
            self._size += len(answer) + _OVERHEAD
        while self._size > self._budget:
            _, gone = self._kept.popitem(last=False)
            self._size -= len(gone) + _OVERHEAD
