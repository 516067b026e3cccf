"""The contract of the store for feeds as a whole, and for the index of words; see `store.py`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kernel.tree.model import Floor, Place


@dataclass(frozen=True, slots=True)
class Feed:
    """A project's feed: its newest position, and the oldest one that is still there (1 at first)."""

    last: int
    earliest: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """How far a project's feed is indexed: through `position`, and of the session that the next event
    brought whole, through the floor at `place`."""

    position: int = 0
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class IndexKey:
    """The order of the index: by the event that brought a message, then by place, then on its floor."""

    position: int
    place: Place
    number: int


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A message of a committed floor, and the words that it is found by."""

    key: IndexKey
    session_id: str
    floor_id: str
    page_id: str
    # On its page.
    message: int
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WordQuery:
    """All of the words, in a project, or in one session of it."""

    project_id: str
    session_id: str
    words: tuple[str, ...]


class SearchReads(Protocol):
    async def feed(self, project_id: str) -> Feed | None: ...

    async def floors(self, floor_ids: Sequence[str]) -> list[Floor]:
        """In any order, as they are stored: their digests are unchecked."""

    async def heads(self, session_id: str) -> list[tuple[str, Place]]:
        """Where the heads of its branches are, by the branches' names."""

    async def indexed(self, project_id: str) -> Indexed | None:
        """None before anything was indexed."""

    async def indexed_floors(self, floor_ids: Sequence[str]) -> list[str]:
        """Those of them with an entry, in any order."""

    async def search(self, query: WordQuery, before: IndexKey | None, limit: int) -> list[IndexEntry]:
        """From below `before`, the greatest keys first; without their words."""


class SearchWrites(Protocol):
    async def lock_index(self, project_id: str) -> bool:
        """Whether this transaction may write the project's index now: false when another does. Until
        its end no session of the project is erased."""

    async def insert_entries(self, project_id: str, entries: Sequence[IndexEntry]) -> None:
        """Of sessions that still exist; the others are passed over."""

    async def lock_entries(self, project_id: str) -> None:
        """Waits until nobody indexes the project, and lets nobody do so in this transaction."""

    async def remove_entries(self, floor_ids: Sequence[str], page_ids: Sequence[str] | None = None) -> int:
        """Those of some floors; at least one; or of these pages on them alone. -> how many there were"""

    async def set_indexed(self, project_id: str, indexed: Indexed) -> None: ...
