"""Reads on the driver's connection, each a snapshot of its own: see `Store.glances`."""

from collections.abc import Sequence
from typing import Any

from kernel.storage.context_rows import ContextRowReads
from kernel.storage.engine import SqliteThread


class SqlGlances(ContextRowReads):
    """On asyncpg's connection, or a SqliteThread."""

    def __init__(self, connection: Any, dialect: str, tenant_id: str) -> None:
        self._connection, self._dialect, self._tenant = connection, dialect, tenant_id

    async def _fetch(self, text: str, arguments: tuple[Any, ...]) -> Sequence[Any]:
        connection = self._connection
        if isinstance(connection, SqliteThread):
            return await connection.run(lambda raw: raw.execute(text, arguments).fetchall())
        found: Sequence[Any] = await connection.fetch(text, *arguments)
        return found
