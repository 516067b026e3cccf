"""Bytes on disk, by table with its indexes, on either engine."""

import sqlite3
from collections.abc import Mapping

import asyncpg

from tools.bench.bench import ENGINES, Bench

# What belongs to a turn's request and event, and not to the turn.
APART = {"request", "event", "feed"}
# The index of words, its rows and the tables that SQLite keeps for it.
INDEX = "search_"


async def tables(url: str) -> dict[str, int]:
    """Bytes of every table that has any; a SQLite built without its dbstat table knows none."""
    return await _postgres(url) if url.startswith("postgresql") else _sqlite(url)


async def _postgres(url: str) -> dict[str, int]:
    connection = await asyncpg.connect(url)
    try:
        found = await connection.fetch(
            "SELECT relname, pg_total_relation_size(oid) AS size FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
    finally:
        await connection.close()
    return {row["relname"]: row["size"] for row in found}


def _sqlite(url: str) -> dict[str, int]:
    connection = _open(url)
    try:
        if ("ENABLE_DBSTAT_VTAB",) not in connection.execute("PRAGMA compile_options").fetchall():
            return {}
        found = connection.execute(
            "SELECT m.tbl_name, sum(s.pgsize) FROM dbstat s"
            " JOIN sqlite_master m ON m.name = s.name GROUP BY 1"
        )
        return dict(found.fetchall())
    finally:
        connection.close()


def _open(url: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{url.removeprefix('sqlite:///')}?mode=ro", uri=True)


async def _floors(url: str) -> int:
    """How many turns there are."""
    count = "SELECT count(*) FROM floor WHERE depth > 0"
    if url.startswith("postgresql"):
        connection = await asyncpg.connect(url)
        try:
            return int(await connection.fetchval(count))
        finally:
            await connection.close()
    connection = _open(url)
    try:
        return int(connection.execute(count).fetchone()[0])
    finally:
        connection.close()


def split(found: Mapping[str, int]) -> tuple[int, int]:
    """Bytes of the tree, and of requests and events. The index of words counts in neither."""
    apart = sum(size for name, size in found.items() if name in APART)
    index = sum(size for name, size in found.items() if name.startswith(INDEX))
    return sum(found.values()) - apart - index, apart


def grown(after: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    """What each table has more."""
    return {name: size - before.get(name, 0) for name, size in after.items()}


async def per_turn(bench: Bench, before: Mapping[str, Mapping[str, int]]) -> None:
    """Of databases that hold nothing but turns that were appended over gRPC; `before`: by engine, what the
    tables held with their sessions and no turn."""
    for engine in ENGINES:
        found, turns = await tables(bench.urls[engine]), await _floors(bench.urls[engine])
        if not found:
            continue
        found = grown(found, before[engine])
        tree, apart = split(found)
        bench.add(f"bytes.{engine}", tree / turns)
        bench.add(f"bytes.{engine}.apart", apart / turns)
        each = {name: size / turns for name, size in found.items() if size / turns >= 1}
        named = (f"{name} {size:,.0f}" for name, size in sorted(each.items(), key=lambda item: -item[1]))
        bench.facts[f"Bytes a turn by table, {engine}, {turns:,} turns"] = ", ".join(named)
