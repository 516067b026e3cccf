"""PostgreSQL's first statistics, as soon as there is something to count.

A plan that was made while a table was empty stays in a connection until the table is analysed, whatever has
become of the table; the foreign keys' own look-ups are such plans too. Autovacuum analyses new tables once a
minute. By then a busy service has appended a hundred thousand turns, each looked up by the wrong index.
"""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from kernel.storage.engine import Engines
from kernel.storage.tables import metadata

# So few rows are found soon enough by any index.
_ROWS = 200

_NEW = text(
    "SELECT relname FROM pg_stat_user_tables WHERE relid IN (SELECT oid FROM pg_class"
    " WHERE relnamespace = current_schema()::regnamespace) AND relname = ANY(:names)"
    " AND last_analyze IS NULL AND last_autoanalyze IS NULL AND n_live_tup >= :rows"
)


class Statistics:
    """Analyses each table once, when it has rows for the first time. What comes later is autovacuum's."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._left = set(metadata.tables) if engines.dialect == "postgresql" else set()

    async def look(self) -> list[str]:
        """Analyses the tables that are due, and names them. Costs nothing once all have been."""
        if not self._left:
            return []
        async with self._engines.writing() as connection:
            due = await self._due(connection)
            for name in due:
                # A name of ours, and not of anybody's input.
                await connection.execute(text(f'ANALYZE "{name}"'))
        return due

    async def _due(self, connection: AsyncConnection) -> list[str]:
        found = await connection.execute(_NEW, {"names": sorted(self._left), "rows": _ROWS})
        due = sorted(row[0] for row in found)
        self._left -= set(due)
        return due
