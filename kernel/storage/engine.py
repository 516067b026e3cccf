"""Everything in which the two engines differ.

SQLite: one file, one process, held by a lock file. One connection writes and checkpoints, the
others only read, so the WAL-reset fault of SQLite before 3.51.3 has no second writer to meet.
PostgreSQL: reads are REPEATABLE READ snapshots; writes are READ COMMITTED and lock what they judge.
"""

import fcntl
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TextIO, TypeVar

from sqlalchemy import event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from kernel.errors import FailedPrecondition
from kernel.storage.driver_pool import DriverPool
from kernel.storage.failures import translated

T = TypeVar("T")

_SQLITE_READERS = 4
_POSTGRES_CONNECTIONS = 8
# And those of the hot statements: batches of appends under way at once; looks at a session.
HOT_WRITERS, _HOT_READERS = 2, 4
# How long a call waits for a connection before it is told UNAVAILABLE, in seconds.
_POOL_WAIT = 1.5
# And for a server that takes a connection and says nothing.
_CONNECT_WAIT = 1.8


# Every statement has a key to go by. Before its first ANALYZE PostgreSQL does not know how large a table
# is, and may read it whole for each of a batch; and no statement here is worth compiling.
_PLANNER = {"enable_seqscan": "off", "jit": "off"}
# The hot statements are the same for ever, and planned once: a plan takes as long as a batch of few turns.
_HOT_PLANNER = {**_PLANNER, "plan_cache_mode": "force_generic_plan"}
# Of a URL's options, what SQLAlchemy keeps for itself.
_NOT_THE_DRIVERS = ("async_creator_fn", "prepared_statement_cache_size", "prepared_statement_name_func")


def database_url(url: str) -> URL:
    """`postgresql://…`, `sqlite:///file.db` or a bare file name, with the async driver named."""
    parsed = make_url(url if "://" in url else f"sqlite:///{url}")
    kind = parsed.get_backend_name()
    if kind == "postgresql":
        return parsed.set(drivername="postgresql+asyncpg")
    # In memory, the writing and the reading side would each have a database of their own.
    if kind == "sqlite" and parsed.database and ":memory:" not in parsed.database:
        return parsed.set(drivername="sqlite+aiosqlite")
    raise FailedPrecondition("INVALID", "A database URL is postgresql://… or sqlite:///path/to/file.db.")


class Engines:
    """The reading and the writing side of one database. With `scrub`, what is deleted from a SQLite file is
    overwritten there; see `scrubbed`."""

    def __init__(self, url: str, *, scrub: bool = False) -> None:
        self._url = database_url(url)
        self.dialect = self._url.get_backend_name()
        self._lock: TextIO | None = None
        # PostgreSQL's connections of the hot statements; SQLite has none of their own.
        self.hot: tuple[DriverPool, ...] = ()
        if self.dialect == "sqlite":
            self._writer = _sqlite_engine(self._url, writer=True, scrub=scrub)
            self._reader = _sqlite_engine(self._url, writer=False)
        else:
            self._writer = self._reader = create_async_engine(
                self._url,
                pool_size=_POSTGRES_CONNECTIONS,
                max_overflow=0,
                pool_timeout=_POOL_WAIT,
                hide_parameters=True,
                connect_args={"timeout": _CONNECT_WAIT, "server_settings": _PLANNER},
            )
            self._hot_writers = DriverPool(self._driver_options(), HOT_WRITERS, _CONNECT_WAIT)
            self._hot_readers = DriverPool(self._driver_options(), _HOT_READERS, _CONNECT_WAIT)
            self.hot = (self._hot_writers, self._hot_readers)

    def _driver_options(self) -> dict[str, Any]:
        _, options = self._writer.dialect.create_connect_args(self._url)
        ours = {"timeout": _CONNECT_WAIT, "server_settings": _HOT_PLANNER}
        return {name: value for name, value in options.items() if name not in _NOT_THE_DRIVERS} | ours

    def hold(self) -> None:
        """Takes the SQLite file for this process; FAILED_PRECONDITION when another has it."""
        if self.dialect != "sqlite":
            return
        assert self._url.database is not None
        path = Path(self._url.database)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = open(f"{path}.lock", "a")  # noqa: SIM115 (held until close)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            self._lock = None
            raise FailedPrecondition(
                "INVALID", f"Another process uses {path.name}: stop it first, or use PostgreSQL for several."
            ) from None

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        with translated():
            async with self._reader.connect() as connection:
                if self.dialect == "postgresql":
                    await connection.execution_options(
                        isolation_level="REPEATABLE READ", postgresql_readonly=True
                    )
                async with connection.begin():
                    yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Commits at the end of the block, rolls back when it raises."""
        with translated():
            async with self._writer.begin() as connection:
                yield connection

    @asynccontextmanager
    async def driver(self, *, writes: bool = True) -> AsyncIterator[Any]:
        """A side's connection for one hot statement: asyncpg's, kept for such alone, or a SqliteThread."""
        with translated():
            if self.dialect == "postgresql":
                async with (self._hot_writers if writes else self._hot_readers).one() as connection:
                    yield connection
                return
            async with (self._writer if writes else self._reader).connect() as checked_out:
                yield SqliteThread((await checked_out.get_raw_connection()).driver_connection)

    async def scrubbed(self) -> bool:
        """Copies SQLite's log into the file and empties it, so that what was deleted is in neither. False
        while a reader still needs the log. PostgreSQL has its own ways: vacuum, and its log's recycling."""
        if self.dialect != "sqlite":
            return True

        def truncate(connection: sqlite3.Connection) -> bool:
            busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            return busy == 0

        async with self.driver() as connection:
            return bool(await connection.run(truncate))

    async def close(self) -> None:
        await self._reader.dispose()
        await self._writer.dispose()
        for pool in self.hot:
            await pool.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None


class SqliteThread:
    """Runs whole functions on the thread of an aiosqlite connection: one hop, however many statements."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        # aiosqlite has no public call for this; its own methods are built on it.
        result: T = await self._connection._execute(work, self._connection._conn)
        return result


def _sqlite_engine(url: URL, writer: bool, scrub: bool = False) -> AsyncEngine:
    engine = create_async_engine(
        url,
        pool_size=1 if writer else _SQLITE_READERS,
        max_overflow=0,
        pool_timeout=30 if writer else _POOL_WAIT,
        pool_reset_on_return="rollback",
        hide_parameters=True,
    )

    pragmas = [*(_PRAGMAS_WRITER if writer else _PRAGMAS_READER), *(["secure_delete=ON"] if scrub else [])]

    @event.listens_for(engine.sync_engine, "connect")
    def configure(connection: Any, _: Any) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writer else "BEGIN")

    return engine


_PRAGMAS_WRITER = ["journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=5000"]
_PRAGMAS_READER = ["query_only=ON", "wal_autocheckpoint=0", "busy_timeout=5000"]
