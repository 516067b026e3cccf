"""Feeds of all tenants at once, for the process itself: how far they have come, and removing what is old."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Table, and_, delete, func, or_, select, update

from kernel.storage import tables as t
from kernel.storage.engine import Engines

# (tenant, project)
FeedKey = tuple[str, str]

# Events that one transaction removes; feeds that one sweep looks at.
_REMOVED, _SWEPT = 1_000, 100


class Feeds:
    """What it gives is for this process only: no caller of an RPC sees it."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def last(self, keys: Collection[FeedKey]) -> Mapping[FeedKey, int]:
        """The newest positions of these feeds, in one statement; a feed without an event is absent."""
        these = or_(*(_is(t.feed, key) for key in keys))
        query = select(t.feed.c.tenant_id, t.feed.c.project_id, t.feed.c.last).where(these)
        async with self._engines.reading() as connection:
            return {(row.tenant_id, row.project_id): row.last for row in await connection.execute(query)}

    async def unindexed(self, limit: int) -> list[FeedKey]:
        """Feeds with events that the index of words does not know yet."""
        query = select(t.feed.c.tenant_id, t.feed.c.project_id)
        query = query.join(t.search_cursor, _same_feed(t.search_cursor), isouter=True)
        query = query.where(t.feed.c.last > func.coalesce(t.search_cursor.c.position, 0)).limit(limit)
        async with self._engines.reading() as connection:
            return [(row.tenant_id, row.project_id) for row in await connection.execute(query)]

    async def remove_before(self, cutoff: datetime) -> int:
        """Removes events that were committed before, a batch of each feed's oldest; -> how many.

        What the index of words has not seen stays. Raises Unavailable.
        """
        oldest = and_(_same_feed(t.event), t.event.c.position == t.feed.c.earliest)
        query = select(t.feed.c.tenant_id, t.feed.c.project_id, t.search_cursor.c.position)
        query = query.join(t.event, oldest).join(t.search_cursor, _same_feed(t.search_cursor))
        query = query.where(t.event.c.commit_time < cutoff, t.search_cursor.c.position >= t.feed.c.earliest)
        async with self._engines.reading() as connection:
            found = (await connection.execute(query.limit(_SWEPT))).all()
        return sum([await self._remove((row[0], row[1]), row[2], cutoff) for row in found])

    async def _remove(self, key: FeedKey, through: int, cutoff: datetime) -> int:
        """The events before the first one that is young enough. Times need not grow with positions."""
        query = select(t.event.c.position, t.event.c.commit_time).where(_is(t.event, key))
        query = query.where(t.event.c.position <= through).order_by(t.event.c.position).limit(_REMOVED)
        async with self._engines.writing() as connection:
            last = 0
            for row in await connection.execute(query):
                if row.commit_time >= cutoff:
                    break
                last = row.position
            gone = and_(_is(t.event, key), t.event.c.position <= last)
            removed = (await connection.execute(delete(t.event).where(gone))).rowcount
            kept = and_(_is(t.feed, key), t.feed.c.earliest <= last)
            await connection.execute(update(t.feed).where(kept).values(earliest=last + 1))
            return int(removed)


def _is(table: Table, key: FeedKey) -> ColumnElement[bool]:
    return and_(table.c.tenant_id == key[0], table.c.project_id == key[1])


def _same_feed(table: Table) -> ColumnElement[bool]:
    return and_(table.c.tenant_id == t.feed.c.tenant_id, table.c.project_id == t.feed.c.project_id)
