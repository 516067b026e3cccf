"""Erased words leave SQLite's files: the index of words is merged, the log copied and emptied.

On PostgreSQL that is vacuum's: what was deleted stays in the files until then (docs/access.md).
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from kernel.errors import StemmaError
from kernel.steady import steadily
from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore

# Seconds until a log that a reader still needs is tried again. Pages of the index in one step: some ms, for
# which there is no other writer.
_AGAIN, _PAGES = 1.0, 256
_MERGE = "INSERT INTO search_message(search_message, rank) VALUES ('merge', ?)"

log = structlog.get_logger(__name__)


class Scrubber:
    """Begins as if something had just been erased: an earlier process may have been cut off."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._wanted = asyncio.Event()
        self._wanted.set()
        self._clean = asyncio.Event()

    def ask(self) -> None:
        """Something was erased."""
        self._clean.clear()
        self._wanted.set()

    async def clean(self) -> None:
        """Returns when all that was erased before has left the files, as far as that is in our hands."""
        await self._clean.wait()

    async def run(self) -> None:
        """For ever. A database that is away is tried again."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            try:
                done = await self.scrub()
            except StemmaError as error:
                log.warning("erased words are still in the files; it is tried again", reason=error.reason)
                done = False
            if not done:
                self._wanted.set()
                await asyncio.sleep(_AGAIN)
            elif not self._wanted.is_set():
                self._clean.set()

    async def scrub(self) -> bool:
        """False while a reader still needs the log."""
        if self._engines.dialect == "sqlite":
            await self._merge_words()
        return await self._engines.scrubbed()

    async def _merge_words(self) -> None:
        """FTS5 keeps a deleted word until its segment is merged: all are, into one, a few pages at a time."""
        pages = -_PAGES
        while True:
            async with self._engines.driver() as connection:
                if await connection.run(lambda raw, pages=pages: _merged(raw, pages)) < 2:
                    return
            pages = _PAGES


def _merged(connection: sqlite3.Connection, pages: int) -> int:
    """-> how many rows that changed; fewer than 2: there is nothing left to merge"""
    before = connection.total_changes
    connection.execute(_MERGE, (pages,))
    return connection.total_changes - before


@asynccontextmanager
async def scrubbing(engines: Engines, store: SqlStore) -> AsyncIterator[Scrubber]:
    """At work until the block ends."""
    scrubber = Scrubber(engines)
    store.after_erasures.append(scrubber.ask)
    task = asyncio.create_task(steadily(scrubber.run))
    try:
        yield scrubber
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        store.after_erasures.remove(scrubber.ask)
