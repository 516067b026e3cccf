"""A database's schema as plain values, read from the database itself, to compare two of them."""

import asyncio
import re
import sqlite3
from typing import Any

import asyncpg

from conversation_service.storage.tables import metadata
from kernel.storage.engine import Engines

Schema = dict[str, Any]

# Alembic's own table is all that a migrated database has besides.
BOOKKEEPING = "alembic_version"

_POSTGRES = {
    "columns": """
        SELECT c.relname AS "table", a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
            pg_get_expr(d.adbin, d.adrelid), coll.collname
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        LEFT JOIN pg_collation coll ON coll.oid = a.attcollation
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
            AND NOT a.attisdropped""",
    "constraints": """
        SELECT conrelid::regclass::text AS "table", conname, contype::text, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'""",
    "indexes": """
        SELECT tablename AS "table", indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'""",
    "others": """
        SELECT relname AS "table", relkind::text FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('r', 'i')
        UNION ALL SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal""",
}


async def postgres_schema(url: str) -> Schema:
    """Columns, constraints and indexes as PostgreSQL spells them, sorted."""
    connection = await asyncpg.connect(url)
    try:
        found = {name: await connection.fetch(query) for name, query in _POSTGRES.items()}
    finally:
        await connection.close()
    return {
        name: sorted(tuple(row) for row in rows if row["table"].strip('"') != BOOKKEEPING)
        for name, rows in found.items()
    }


def sqlite_schema(url: str) -> Schema:
    """The same from SQLite: its pragmas, and each index's own words (for partial ones)."""
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    try:
        tables = [
            name
            for name, kind in connection.execute("SELECT name, type FROM pragma_table_list")
            # What a virtual table keeps its rows in is its own business.
            if kind in ("table", "virtual") and name != BOOKKEEPING and not name.startswith("sqlite_")
        ]
        return {name: _sqlite_table(connection, name) for name in sorted(tables)}
    finally:
        connection.close()


def _sqlite_table(connection: sqlite3.Connection, table: str) -> Schema:
    columns = connection.execute(f"SELECT * FROM pragma_table_xinfo('{table}')").fetchall()
    foreign = connection.execute(f"SELECT * FROM pragma_foreign_key_list('{table}')").fetchall()
    keys: dict[int, list[Any]] = {}
    for number, *key in foreign:
        keys.setdefault(number, []).append(tuple(key))
    indexes = {}
    for _, name, unique, origin, partial in connection.execute(f"SELECT * FROM pragma_index_list('{table}')"):
        names = [row[2] for row in connection.execute(f"SELECT * FROM pragma_index_info('{name}')")]
        (words,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
        shown = "" if name.startswith("sqlite_autoindex") else name
        indexes[shown, tuple(names)] = (unique, origin, partial, " ".join((words or "").split()))
    (words,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    if words.startswith("CREATE VIRTUAL"):
        return {"virtual": re.sub(r"\s+", " ", words).replace("( ", "(")}
    # Pragmas show neither the constraints' names nor checks.
    named = sorted(re.findall(r"CONSTRAINT (\S+)", words))
    return {
        "columns": [tuple(column) for column in columns],
        "foreign keys": sorted(keys.values()),
        "indexes": indexes,
        "names": named,
        "checks": words.count("CHECK"),
    }


async def schema(url: str) -> Schema:
    """The schema behind a URL of either engine."""
    return await postgres_schema(url) if url.startswith("postgresql") else sqlite_schema(url)


async def create_all(url: str) -> None:
    """The schema as `kernel.storage.tables` says it, in an empty database."""
    engines = Engines(url)
    try:
        async with engines.writing() as connection:
            await connection.run_sync(metadata.create_all)
    finally:
        await engines.close()


async def execute(url: str, statement: str) -> None:
    """One statement, on either engine."""
    if url.startswith("postgresql"):
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()
    else:
        await asyncio.to_thread(_execute_sqlite, url.removeprefix("sqlite:///"), statement)


def _execute_sqlite(path: str, statement: str) -> None:
    connection = sqlite3.connect(path)
    try:
        with connection:
            connection.execute(statement)
    finally:
        connection.close()
