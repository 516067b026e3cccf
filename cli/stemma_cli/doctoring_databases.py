"""How a database is: reachable, at the newest schema, durable, with a clock near ours."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import asyncpg
from alembic.script import ScriptDirectory

State = Literal["ok", "warn", "fail"]
# Of state, what was said, advice.
Said = tuple[State, str, str]
# Seconds: to connect; that clocks may differ by.
_PATIENCE, _APART = 3.0, 5.0
_DURABLE = {
    "fsync": {"on"},
    "full_page_writes": {"on"},
    "synchronous_commit": {"on", "remote_write", "remote_apply"},
}


async def database(service: str, url: str) -> Said:
    """Of `conversation` or `draft`. Nothing is made or migrated."""
    newest = _newest(service)
    if url.startswith("sqlite:///"):
        return _sqlite(Path(url.removeprefix("sqlite:///")), newest)
    try:
        connection = await asyncpg.connect(url, timeout=_PATIENCE)
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        return "fail", f"cannot be reached ({type(error).__name__})", "Is it running, and is the URL right?"
    try:
        return await _postgres(connection, newest)
    finally:
        await connection.close()


def _newest(service: str) -> str:
    import conversation_service.migrate
    import draft_service.migrate

    scripts = {"conversation": conversation_service.migrate.SCRIPTS, "draft": draft_service.migrate.SCRIPTS}
    return str(ScriptDirectory(str(scripts[service])).get_current_head())


def _sqlite(path: Path, newest: str) -> Said:
    if not path.exists():
        return "ok", f"{path} is made on first start", ""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=_PATIENCE)) as connection:
            [(revision,)] = connection.execute("SELECT version_num FROM alembic_version").fetchall()
            [(mode,)] = connection.execute("PRAGMA journal_mode").fetchall()
    except (sqlite3.Error, ValueError) as error:
        return "fail", f"{path} cannot be read ({type(error).__name__})", "Is it a database of Stemma's?"
    return _judged(f"SQLite {sqlite3.sqlite_version}, {path}, journal {mode}", revision, newest)


async def _postgres(connection: asyncpg.Connection, newest: str) -> Said:
    version = await connection.fetchval("SHOW server_version")
    there = await connection.fetchval("SELECT to_regclass('alembic_version') IS NOT NULL")
    revision = await connection.fetchval("SELECT version_num FROM alembic_version") if there else ""
    settings = {name: await connection.fetchval(f"SHOW {name}") for name in _DURABLE}
    loose = [f"{name} = {value}" for name, value in settings.items() if value not in _DURABLE[name]]
    said = f"PostgreSQL {version.split()[0]}"
    if loose:
        return (
            "fail",
            f"{said}, {', '.join(loose)}",
            "Acknowledged turns would be lost in a crash: set it to on.",
        )
    apart = abs((await connection.fetchval("SELECT clock_timestamp()") - datetime.now(UTC)).total_seconds())
    if apart > _APART:
        return (
            "warn",
            f"{said}, its clock is {apart:.0f} s from ours",
            "Set the clocks: expiry goes by the database's.",
        )
    return _judged(f"{said}, durable", revision, newest)


def _judged(said: str, revision: str, newest: str) -> Said:
    if revision == newest:
        return "ok", f"{said}, schema {revision}", ""
    if revision > newest:
        return "fail", f"{said}, schema {revision} is newer than {newest}", "Start the version that made it."
    return (
        "warn",
        f"{said}, schema {revision or 'none'}, the newest is {newest}",
        "Run stemma migrate, or start the service.",
    )
