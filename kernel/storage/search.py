"""The index of words, and what it needs of feeds and branches. Promises: `kernel.verbs.search_store`.

An entry's words begin with three that no text has: its project, its session and its floor. So the
index itself keeps a search within them, however many others have the same words; and every statement
names the tenant besides.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, literal_column, select, tuple_
from sqlalchemy.dialects.postgresql import TSQUERY

from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.reads import Scoped
from kernel.tree.model import Floor, Place
from kernel.verbs.search_store import Feed, Indexed, IndexEntry, IndexKey, WordQuery

# Of a private area: neither letters nor digits, so never in a word.
PROJECT, SESSION, FLOOR = "\ue000", "\ue001", "\ue002"
_ENTRY = [c for c in t.search_message.c if c.name not in ("tenant_id", "project_id", "words")]
_KEY = ("position", "segment", "depth", "number")


def marked(mark: str, some_id: str) -> str:
    return mark + some_id.replace("-", "")


class SearchReads(Scoped):
    async def feed(self, project_id: str) -> Feed | None:
        query = select(t.feed.c.last, t.feed.c.earliest).where(self.where(t.feed, project_id=project_id))
        row = await self.one(query)
        return row and Feed(row["last"], row["earliest"])

    async def floors(self, floor_ids: Sequence[str]) -> list[Floor]:
        query = select(*rows.FLOOR_COLUMNS).where(self.where(t.floor), t.floor.c.floor_id.in_(floor_ids))
        return [rows.floor(row, check=False) for row in await self.all(query)]

    async def heads(self, session_id: str) -> list[tuple[str, Place]]:
        at = and_(t.floor.c.tenant_id == t.branch.c.tenant_id, t.floor.c.floor_id == t.branch.c.head_floor_id)
        query = select(t.branch.c.name, t.floor.c.segment, t.floor.c.depth).join(t.floor, at)
        query = query.where(self.where(t.branch, session_id=session_id)).order_by(t.branch.c.name)
        return [(row["name"], Place(row["segment"], row["depth"])) for row in await self.all(query)]

    async def indexed(self, project_id: str) -> Indexed | None:
        row = await self.one(
            select(t.search_cursor).where(self.where(t.search_cursor, project_id=project_id))
        )
        if row is None:
            return None
        place = None if row["segment"] is None else Place(row["segment"], row["depth"])
        return Indexed(row["position"], place)

    async def indexed_floors(self, floor_ids: Sequence[str]) -> list[str]:
        if not floor_ids:
            return []
        found = t.search_message.c.floor_id
        some = self.has(*(marked(FLOOR, floor_id) for floor_id in floor_ids), every=False)
        query = select(found).where(self.where(t.search_message), some).distinct()
        return [row["floor_id"] for row in await self.all(query)]

    async def search(self, query: WordQuery, before: IndexKey | None, limit: int) -> list[IndexEntry]:
        table = t.search_message
        scope = {"project_id": query.project_id}
        marks = [marked(PROJECT, query.project_id)]
        if query.session_id:
            scope["session_id"] = query.session_id
            marks = [marked(SESSION, query.session_id)]
        found = select(*_ENTRY).where(self.where(table, **scope), self.has(*marks, *query.words))
        key = [table.c[name] for name in _KEY]
        if before is not None:
            last = (before.position, before.place.segment, before.place.depth, before.number)
            found = found.where(tuple_(*key) < tuple_(*last))
        found = found.order_by(*(column.desc() for column in key)).limit(limit)
        return [_entry(row) for row in await self.all(found)]

    def has(self, *words: str, every: bool = True) -> ColumnElement[bool]:
        """The entries with all of the words, or with any. A word holds nothing that either language
        could take for its own, and stands in quotes all the same."""
        if self._connection.dialect.name == "postgresql":
            text = (" & " if every else " | ").join(f"'{word}'" for word in words)
            return t.search_message.c.words.op("@@", is_comparison=True)(cast(cast(text, Text), TSQUERY))
        text = (" AND " if every else " OR ").join(f'"{word}"' for word in words)
        return literal_column("search_message").op("MATCH", is_comparison=True)(text)


def _entry(row: Any) -> IndexEntry:
    key = IndexKey(row["position"], Place(row["segment"], row["depth"]), row["number"])
    return IndexEntry(key, row["session_id"], row["floor_id"], row["page_id"], row["message"])
