"""Whether a database is as nobody had used it: every connection back in its pool, nothing locked."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Sized
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from kernel.storage.store import SqlStore

_SECONDS = 60.0

# Sessions of others on this database that do not rest, and locks that they hold.
_RESTLESS = """
SELECT a.pid, a.state, a.query FROM pg_stat_activity a
WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
AND (a.state <> 'idle' OR EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid))
"""
_CONNECTIONS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


async def until(condition: Callable[[], Awaitable[str]]) -> None:
    """Returns when nothing is wrong any more; fails with what still is when that takes too long."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _SECONDS
    while wrong := await condition():
        assert loop.time() < end, wrong
        # A turn of the loop, for what ends in the background.
        await asyncio.sleep(0)


class Base:
    """A store's database, watched over a connection of its own. `at` is its URL."""

    def __init__(self, store: SqlStore, at: str, watcher: Any) -> None:
        self._store = store
        self._engines: Any = store._engines
        self._at = at
        self._watcher = watcher

    async def reached(self) -> None:
        """Returns when the store rests: fails when it does not, in time.

        The service's own beat uses a connection now and then; hence the wait.
        """
        await self._store.idle()
        for holder in (self._store._turns, self._store._coalescer):
            kept = {name: value for name, value in vars(holder).items() if isinstance(value, Sized) and value}
            assert not kept, f"{type(holder).__name__} still holds {kept}"
        await until(self._out)
        if self._watcher is None:
            await until(self._locked)
        else:
            await until(self._restless)
            # A connection that was cut off takes its leave by itself.
            await until(self._too_many)

    async def _out(self) -> str:
        out = {side.pool.checkedout() for side in (self._engines._reader, self._engines._writer)}
        out |= {pool.out for pool in self._engines.hot}
        return "" if out == {0} else f"connections are out: {out}"

    async def _locked(self) -> str:
        other = sqlite3.connect(self._at.removeprefix("sqlite:///"), timeout=0, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            return f"nobody else may write: {error}"
        finally:
            other.close()
        return ""

    async def _restless(self) -> str:
        found = await self._watcher.fetch(_RESTLESS)
        return "; ".join(f"{row['pid']} is {row['state']} in {row['query']}" for row in found)

    async def _too_many(self) -> str:
        most = self._engines._writer.pool.size() + sum(pool.most for pool in self._engines.hot)
        there = await self._watcher.fetchval(_CONNECTIONS)
        return "" if there <= most else f"{there} connections, and pools of {most}"


@asynccontextmanager
async def watched(store: SqlStore, url: str) -> AsyncIterator[Base]:
    watcher = None if url.startswith("sqlite") else await asyncpg.connect(url)
    try:
        yield Base(store, url, watcher)
    finally:
        if watcher is not None:
            await watcher.close()
