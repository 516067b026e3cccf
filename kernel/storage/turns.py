"""Whose turn it is to write: waiting here costs no connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """One writer of a session at a time in this process, in the order they came.

    The database's lock decides between processes; without this, all that wait for one busy session
    would hold a connection each, and starve every other. With `everyone`, there is one turn in all:
    SQLite has one writing connection.
    """

    def __init__(self, everyone: bool) -> None:
        self._everyone = everyone
        self._locks: dict[tuple[str, str], asyncio.Lock] = {}
        self._waiting: dict[tuple[str, str], int] = {}

    @asynccontextmanager
    async def of(self, tenant_id: str, session_id: str) -> AsyncIterator[None]:
        """The turn of a session; work that names none waits only on SQLite."""
        if not session_id and not self._everyone:
            yield
            return
        key = ("", "") if self._everyone else (tenant_id, session_id)
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._waiting[key] = self._waiting.get(key, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key], self._locks[key]
