"""The bare path statement, on Stemma's own tables: the least that a first read of a path can cost."""

import sqlite3
import time
from typing import Any
from uuid import UUID

import asyncpg

_COLUMNS = (
    "f.depth, f.floor_id, f.input_page_id, f.input_blob, f.input_digest, f.input_time,"
    " f.output_page_id, f.output_blob, f.output_digest, f.output_time, f.digest, f.commit_time"
)
_CHAIN = """
WITH RECURSIVE chain AS (
    SELECT s.segment, s.parent_segment, s.parent_depth, b.depth AS high
    FROM branch b
    JOIN floor h ON h.tenant_id = b.tenant_id AND h.floor_id = b.head_floor_id
    JOIN segment s ON s.tenant_id = b.tenant_id AND s.session_id = b.session_id AND s.segment = h.segment
    WHERE b.tenant_id = 'local' AND b.session_id = {id} AND b.name = 'main'
    UNION ALL
    SELECT s.segment, s.parent_segment, s.parent_depth, c.parent_depth
    FROM chain c JOIN segment s
        ON s.tenant_id = 'local' AND s.session_id = {id} AND s.segment = c.parent_segment
)"""
_RANGE = """ f.tenant_id = 'local' AND f.session_id = {id} AND f.segment = c.segment
    AND f.depth BETWEEN coalesce(c.parent_depth, -1) + 1 AND c.high"""
# By key whatever the planner believes of new tables.
_POSTGRES = f"""{_CHAIN} SELECT f.* FROM chain c CROSS JOIN LATERAL (
    SELECT {_COLUMNS} FROM floor f WHERE {_RANGE} OFFSET 0) f ORDER BY f.depth""".format(id="$1")
_SQLITE = f"{_CHAIN} SELECT {_COLUMNS} FROM chain c CROSS JOIN floor f WHERE {_RANGE} ORDER BY f.depth"


class PostgresPath:
    def __init__(self, connection: Any, statement: Any) -> None:
        self._connection, self._statement = connection, statement

    async def milliseconds(self, session_id: str, length: int) -> float:
        """Until all rows of main's path are in Python. There must be `length` turns."""
        begin = time.perf_counter()
        found = await self._statement.fetch(session_id)
        taken = (time.perf_counter() - begin) * 1e3
        assert len(found) == length + 1
        return taken

    async def close(self) -> None:
        await self._connection.close()


class SqlitePath:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def milliseconds(self, session_id: str, length: int) -> float:
        """As PostgresPath's."""
        key = UUID(session_id).bytes
        begin = time.perf_counter()
        found = self._connection.execute(_SQLITE.format(id="?1"), (key,)).fetchall()
        taken = (time.perf_counter() - begin) * 1e3
        assert len(found) == length + 1
        return taken

    async def close(self) -> None:
        self._connection.close()


async def raw_path(url: str) -> PostgresPath | SqlitePath:
    """A connection of its own, with the statement prepared. Close it."""
    if url.startswith("postgresql"):
        connection = await asyncpg.connect(url)
        return PostgresPath(connection, await connection.prepare(_POSTGRES))
    return SqlitePath(sqlite3.connect(f"file:{url.removeprefix('sqlite:///')}?mode=ro", uri=True))
