"""Connections of the hot statements, without SQLAlchemy: a checkout there costs more than a batch of turns.

Each statement is a transaction of its own, so a connection that comes back has nothing to undo.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

# Errors after which the server hangs up.
_LOST = (asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError)


class DriverPool:
    """At most `most` asyncpg connections, opened when they are needed; belongs to one event loop.

    `options` are those of `asyncpg.connect`; `wait`: seconds until a connection must be there.
    """

    def __init__(self, options: dict[str, Any], most: int, wait: float) -> None:
        self._options = options
        self.most = most
        self._wait = wait
        self._free = asyncio.Semaphore(most)
        self._idle: list[asyncpg.Connection] = []
        self._closed = False
        self.out = 0

    @asynccontextmanager
    async def one(self) -> AsyncIterator[asyncpg.Connection]:
        """A connection for a statement. Raises TimeoutError when none is free, or answers, in time.

        It is kept for the next one, unless the block ended with anything but an answer: whoever was
        cancelled, or met a connection that was cut, leaves nobody a connection to wait for.
        """
        connection = await self._taken()
        sound = False
        try:
            yield connection
            sound = True
        except asyncpg.PostgresError as error:
            sound = not isinstance(error, _LOST)
            raise
        finally:
            self._give_back(connection, sound)

    async def close(self) -> None:
        """Ends the idle ones; the others end as they come back."""
        self._closed = True
        while self._idle:
            await self._idle.pop().close(timeout=1)

    async def _taken(self) -> asyncpg.Connection:
        async with asyncio.timeout(self._wait):
            await self._free.acquire()
            try:
                connection = self._sound() or await asyncpg.connect(**self._options)
            except BaseException:
                self._free.release()
                raise
        self.out += 1
        return connection

    def _sound(self) -> asyncpg.Connection | None:
        """The one that came back last: the rest may be long idle."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return None

    def _give_back(self, connection: asyncpg.Connection, sound: bool) -> None:
        self.out -= 1
        self._free.release()
        if sound and not self._closed and not connection.is_closed():
            self._idle.append(connection)
        else:
            connection.terminate()
