"""The databases that other tests stand on: real, on both engines, one for each test, and gone afterwards."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from tests.support.databases import PostgresDatabases, SqliteDatabases, migrated_template
from tests.support.postgres import NoPostgresError, postgres_server

ROOT = Path(__file__).resolve().parents[2]


async def _migrate(url: str) -> None:
    """Stands for the service's: one table."""
    if url.startswith("sqlite:"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.execute("CREATE TABLE turn (n INTEGER)")
        connection.close()
        return
    postgres = await asyncpg.connect(url)
    try:
        await postgres.execute("CREATE TABLE turn (n INTEGER)")
    finally:
        await postgres.close()


async def _names(server: str) -> set[str]:
    connection = await asyncpg.connect(server)
    try:
        return {row["datname"] for row in await connection.fetch("SELECT datname FROM pg_database")}
    finally:
        await connection.close()


def test_engine_url_names_an_empty_database_of_its_engine(engine: str, engine_url: str) -> None:
    assert urlsplit(engine_url).scheme == {"sqlite": "sqlite", "postgres": "postgresql"}[engine]
    if engine == "sqlite":
        path = Path(engine_url.removeprefix("sqlite:///"))
        assert path.is_absolute()
        assert path.parent.is_dir()
        assert not path.exists()


async def test_a_copy_of_the_template_has_its_schema_and_its_own_rows(postgres_url: str) -> None:
    databases = PostgresDatabases(postgres_url)
    with (
        migrated_template(databases, _migrate) as template,
        databases.fresh(template) as one,
        databases.fresh(template) as other,
    ):
        connection = await asyncpg.connect(one)
        await connection.execute("INSERT INTO turn VALUES (1)")
        await connection.close()
        connection = await asyncpg.connect(other)
        assert await connection.fetchval("SELECT count(*) FROM turn") == 0
        await connection.close()
        made = {urlsplit(url).path[1:] for url in (template, one, other)}
        assert made <= await _names(postgres_url)
    assert not made & await _names(postgres_url)


def test_a_sqlite_copy_has_the_schema_and_its_own_rows(tmp_path: Path) -> None:
    databases = SqliteDatabases(tmp_path)
    with (
        migrated_template(databases, _migrate) as template,
        databases.fresh(template) as one,
        databases.fresh(template) as other,
    ):
        with sqlite3.connect(one.removeprefix("sqlite:///")) as connection:
            connection.execute("INSERT INTO turn VALUES (1)")
        connection.close()
        with sqlite3.connect(other.removeprefix("sqlite:///")) as connection:
            assert connection.execute("SELECT count(*) FROM turn").fetchone() == (0,)
        connection.close()


def test_a_named_server_that_does_not_answer_is_a_failure_not_another_server() -> None:
    with (
        pytest.raises(NoPostgresError, match="does not answer"),
        postgres_server("postgresql://nobody@127.0.0.1:1/postgres"),
    ):
        raise AssertionError("unreachable")


OWNER = """
import os, sys
from tests.support.postgres import postgres_server
with postgres_server(None) as url:
    print(url, flush=True)
    sys.stdin.readline()
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A temporary folder that the server's user can reach (pytest's are closed to others)."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


async def _gone(url: str) -> None:
    """Returns once nothing listens at `url`."""
    while True:
        try:
            connection = await asyncpg.connect(url)
        except OSError:
            return
        except asyncpg.PostgresError:  # it is shutting down
            await asyncio.sleep(0.01)
        else:
            await connection.close()


async def test_our_server_ends_with_its_owner_even_when_that_is_killed(open_folder: Path) -> None:
    owner = await asyncio.create_subprocess_exec(
        *[sys.executable, "-c", OWNER],
        stdin=PIPE,
        stdout=PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(open_folder)},
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    url = (await owner.stdout.readline()).decode().strip()
    connection = await asyncpg.connect(url)
    asleep = asyncio.create_task(connection.fetchval("SELECT pg_sleep(60)"))
    owner.stdin.write(b"\n")
    assert await owner.wait() == -signal.SIGKILL
    # The server ends what it was doing, and nobody listens any more.
    with pytest.raises((asyncpg.PostgresConnectionError, asyncpg.InterfaceError, OSError)):
        await asyncio.wait_for(asleep, 30)
    connection.terminate()
    async with asyncio.timeout(30):
        await _gone(url)
