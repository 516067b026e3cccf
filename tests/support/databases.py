"""Databases for single tests, cheap enough for each to have its own.

A PostgreSQL one is `CREATE DATABASE … TEMPLATE …`, a SQLite one a file. The schema is made once per test run,
in a template that is copied.
"""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg

Migrate = Callable[[str], Awaitable[None]]


def apart(work: Callable[[], Awaitable[Any]]) -> Any:
    """Runs a coroutine to its end on a loop of its own in another thread: the test's loop stays untouched."""

    async def run() -> Any:
        return await work()

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(run())).result()


def sqlite_url(path: Path) -> str:
    """The URL of a SQLite file; `path` is absolute."""
    return f"sqlite:///{path}"


def with_database(url: str, database: str) -> str:
    """The same server's URL for another database."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


class PostgresDatabases:
    """Makes and drops databases on one server."""

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url

    def _execute(self, statement: str) -> None:
        async def execute() -> None:
            connection = await asyncpg.connect(self._server_url)
            try:
                await connection.execute(statement)
            finally:
                await connection.close()

        apart(execute)

    @contextmanager
    def fresh(self, template: str | None = None) -> Iterator[str]:
        """The URL of a new database for as long as this lasts: a copy of the database at `template` (a URL
        that nobody is connected to), else without a table."""
        name = f"stemma_test_{uuid.uuid4().hex}"
        source = urlsplit(template).path.removeprefix("/") if template else "template0"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{source}"')
        try:
            yield with_database(self._server_url, name)
        finally:
            # Killed services leave connections behind for a moment; FORCE ends them.
            self._execute(f'DROP DATABASE "{name}" WITH (FORCE)')


class SqliteDatabases:
    """Makes SQLite files in one folder; the folder's owner removes them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def fresh(self, template: str | None = None) -> Iterator[str]:
        """The URL of a file: a copy of the one at `template` (which nobody has open), else not there yet."""
        path = self._folder / f"{uuid.uuid4().hex}.db"
        if template:
            shutil.copyfile(template.removeprefix("sqlite:///"), path)
        yield sqlite_url(path)


@contextmanager
def migrated_template(databases: PostgresDatabases | SqliteDatabases, migrate: Migrate) -> Iterator[str]:
    """The URL of a database with the schema that `migrate(url)` makes, to be copied and never opened."""
    with databases.fresh() as url:
        apart(lambda: migrate(url))
        yield url
