"""The limits below the service: a durable turn in as few statements as the engine takes, on a bare schema.

Four inserts and the move of a head, which is checked, in one transaction; nothing else.
"""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg

from tools.bench.words import turns

_TABLES = """
CREATE TABLE raw_head (session {id} PRIMARY KEY, head {id} NOT NULL, depth int NOT NULL);
CREATE TABLE raw_floor (session {id}, depth int, floor {id} NOT NULL, parent {id} NOT NULL,
    PRIMARY KEY (session, depth));
CREATE TABLE raw_page (floor {id}, slot int, content text NOT NULL, PRIMARY KEY (floor, slot));
CREATE TABLE raw_event (session {id}, depth int, kind text NOT NULL, PRIMARY KEY (session, depth));
"""
_TAIL = """
), new_floor AS (
    INSERT INTO raw_floor SELECT session, depth, floor, parent FROM moved
), new_input AS (
    INSERT INTO raw_page SELECT floor, 1, asked FROM moved
), new_output AS (
    INSERT INTO raw_page SELECT floor, 2, said FROM moved
), new_event AS (
    INSERT INTO raw_event SELECT session, depth, 'floor.committed' FROM moved
)
SELECT count(*) FROM moved"""
_ONE = f"""
WITH moved AS (
    UPDATE raw_head SET head = $2, depth = depth + 1 WHERE session = $1 AND head = $3
    RETURNING session, depth, head AS floor, $3::uuid AS parent, $4::text AS asked, $5::text AS said
{_TAIL}"""
_MANY = f"""
WITH item AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[])
        AS i(session, floor, parent, asked, said)
), moved AS (
    UPDATE raw_head h SET head = i.floor, depth = h.depth + 1 FROM item i
    WHERE h.session = i.session AND h.head = i.parent
    RETURNING h.session, h.depth, i.floor, i.parent, i.asked, i.said
{_TAIL}"""
_TEXTS = 64


class RawPostgres:
    """On a database of its own; `open` first."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._texts = list(islice(turns(), _TEXTS))

    async def open(self) -> None:
        connection = await asyncpg.connect(self._url)
        await connection.execute(_TABLES.format(id="uuid"))
        await connection.close()

    async def singly(self, connections: int, seconds: float) -> float:
        """Turns a second, a statement for each, on so many connections."""
        return await self._rate(connections, 1, seconds, self._one)

    async def batched(self, connections: int, batch: int, seconds: float) -> float:
        """Turns a second, `batch` of them in each statement."""
        return await self._rate(connections, batch, seconds, self._many)

    async def _rate(
        self,
        connections: int,
        sessions: int,
        seconds: float,
        step: Callable[[Any, list[list[str]]], Awaitable[None]],
    ) -> float:
        opened = [await asyncpg.connect(self._url) for _ in range(connections)]
        lanes = [(connection, await _new_heads(connection, sessions)) for connection in opened]
        until = time.perf_counter() + seconds

        async def lane(connection: Any, heads: list[list[str]]) -> int:
            done = 0
            while time.perf_counter() < until:
                await step(connection, heads)
                done += len(heads)
            return done

        started = time.perf_counter()
        counts = await asyncio.gather(*(lane(*one) for one in lanes))
        elapsed = time.perf_counter() - started
        for connection in opened:
            await connection.close()
        return sum(counts) / elapsed

    async def _one(self, connection: Any, heads: list[list[str]]) -> None:
        (head,) = heads
        session, parent = head
        floor = str(uuid4())
        moved = await connection.fetchval(_ONE, session, floor, parent, *self._texts[0])
        assert moved == 1
        head[1] = floor

    async def _many(self, connection: Any, heads: list[list[str]]) -> None:
        floors = [str(uuid4()) for _ in heads]
        asked, said = zip(*(self._texts[n % _TEXTS] for n in range(len(heads))), strict=True)
        sessions, parents = zip(*heads, strict=True)
        moved = await connection.fetchval(_MANY, sessions, floors, parents, asked, said)
        assert moved == len(heads)
        for head, floor in zip(heads, floors, strict=True):
            head[1] = floor


async def _new_heads(connection: Any, count: int) -> list[list[str]]:
    """[session, its head], so many."""
    heads = [[str(uuid4()), str(uuid4())] for _ in range(count)]
    await connection.executemany("INSERT INTO raw_head VALUES ($1, $2, 0)", heads)
    return heads


def direct_sqlite(path: Path, seconds: float) -> float:
    """Turns a second on SQLite, synchronous=FULL, one thread, a commit for each."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.executescript(_TABLES.format(id="blob").replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
    session, head = uuid4().bytes, uuid4().bytes
    connection.execute("INSERT INTO raw_head VALUES (?, ?, 0)", (session, head))
    texts = list(islice(turns(), _TEXTS))
    started = time.perf_counter()
    depth = 0
    while time.perf_counter() - started < seconds:
        depth += 1
        floor = uuid4().bytes
        asked, said = texts[depth % _TEXTS]
        connection.execute("BEGIN IMMEDIATE")
        moved = connection.execute(
            "UPDATE raw_head SET head = ?, depth = depth + 1 WHERE session = ? AND head = ?",
            (floor, session, head),
        )
        assert moved.rowcount == 1
        connection.execute("INSERT INTO raw_floor VALUES (?, ?, ?, ?)", (session, depth, floor, head))
        connection.executemany("INSERT INTO raw_page VALUES (?, ?, ?)", ((floor, 1, asked), (floor, 2, said)))
        connection.execute("INSERT INTO raw_event VALUES (?, ?, 'floor.committed')", (session, depth))
        connection.execute("COMMIT")
        head = floor
    elapsed = time.perf_counter() - started
    connection.close()
    return depth / elapsed
