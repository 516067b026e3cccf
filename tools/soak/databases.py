"""The databases of a soak: a file, or a PostgreSQL of our own that can be killed."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from tests.support.databases import sqlite_url
from tests.support.own_postgres import OwnPostgres
from tests.support.postgres import SETTINGS, own_folder

# As in production: the tests' server does without.
_DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}


def is_down(epoch: int) -> bool:
    """Whether a database is down in this epoch: see `Database.epoch`."""
    return epoch % 2 == 1


class Database:
    """A database for as long as a soak lasts. `epoch` is even while it is up, and one more with every end and
    every beginning; `kills` counts the crashes."""

    def __init__(self, url: str, server: OwnPostgres | None = None) -> None:
        self.url = url
        self.epoch = 0
        self.kills = 0
        self._server = server

    async def checkpoint(self) -> None:
        """What was committed so far survives whatever happens to PostgreSQL, whatever its settings are."""
        if self._server is not None:
            connection = await asyncpg.connect(self.url)
            await connection.execute("CHECKPOINT")
            await connection.close()

    async def crash(self, away: float) -> None:
        """Kills every process of the server, starts it again after `away` seconds, and returns when it has
        recovered. A file has no process of its own: nothing but PostgreSQL can be crashed."""
        assert self._server is not None, "SQLite is killed with its service"
        self.epoch += 1
        self.kills += 1
        self._server.kill()
        await asyncio.sleep(away)
        await self._server.start()
        self.epoch += 1


@asynccontextmanager
async def sqlite() -> AsyncIterator[Database]:
    """An empty file in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="stemma-soak-") as folder:
        yield Database(sqlite_url(Path(folder) / "soak.db"))


@asynccontextmanager
async def postgres(settings: Mapping[str, str]) -> AsyncIterator[Database]:
    """An empty database on a server of its own, durable but for what `settings` say."""
    with own_folder() as folder:
        server = OwnPostgres(folder, {**SETTINGS, **_DURABLE, **settings})
        try:
            await server.start()
            yield Database(server.url, server)
        finally:
            server.stop()
