"""Whose turn it is to write: waiting here costs no connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kernel.storage.failures import NoConnection


class _Turn:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.wanted = 0
        self.failed: NoConnection | None = None


class Turns:
    """One writer of a session at a time in this process, in the order they came.

    The database's lock decides between processes; without this, all that wait for one busy session
    would hold a connection each, and starve every other. With `everyone`, there is one turn in all:
    SQLite has one writing connection.
    """

    def __init__(self, everyone: bool) -> None:
        self._everyone = everyone
        self._turns: dict[tuple[str, str], _Turn] = {}

    @asynccontextmanager
    async def of(self, tenant_id: str, session_id: str) -> AsyncIterator[None]:
        """The turn of a session; work that names none waits only on SQLite.

        Raises NoConnection when one before it, while it waited, found no connection: else each of them
        would wait for one in turn, and the last for the sum of it.
        """
        if not session_id and not self._everyone:
            yield
            return
        key = ("", "") if self._everyone else (tenant_id, session_id)
        turn = self._turns.setdefault(key, _Turn())
        turn.wanted += 1
        before = turn.failed
        try:
            async with turn.lock:
                if turn.failed is not None and turn.failed is not before:
                    raise NoConnection(turn.failed.reason, turn.failed.message)
                yield
        except NoConnection as error:
            turn.failed = error
            raise
        finally:
            turn.wanted -= 1
            if not turn.wanted:
                del self._turns[key]
