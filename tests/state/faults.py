"""Faults at the driver's seam: the n-th statement of the writing side fails instead of running."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import event, select

from kernel.storage import tables
from kernel.storage.engine import Engines, SqliteThread


@dataclass
class Fault:
    """Fails the statement with the number `at`, counted from 0; a COMMIT is one, too."""

    at: int
    seen: int = 0
    struck: bool = False

    def next(self, *_: Any) -> None:
        self.seen += 1
        if self.seen == self.at + 1:
            self.struck = True
            raise OSError("the line is cut")


@contextmanager
def faulty(engines: Engines, monkeypatch: pytest.MonkeyPatch, at: int) -> Iterator[Fault]:
    """While this lasts, whatever the store writes meets the fault: by SQLAlchemy and on the hot path."""
    fault = Fault(at)
    writer = engines._writer.sync_engine
    real = engines.driver

    @asynccontextmanager
    async def driver() -> AsyncIterator[Any]:
        async with real() as raw:
            yield _Thread(raw, fault) if isinstance(raw, SqliteThread) else _Driver(raw, fault)

    event.listen(writer, "before_cursor_execute", fault.next)
    event.listen(writer, "commit", fault.next)
    with monkeypatch.context() as patched:
        patched.setattr(engines, "driver", driver)
        try:
            yield fault
        finally:
            event.remove(writer, "before_cursor_execute", fault.next)
            event.remove(writer, "commit", fault.next)


class _Driver:
    """asyncpg's connection, as far as the hot path uses it."""

    def __init__(self, real: Any, fault: Fault) -> None:
        self._real, self._fault = real, fault

    async def fetch(self, *statement: Any) -> Any:
        self._fault.next()
        return await self._real.fetch(*statement)


class _Thread(SqliteThread):
    def __init__(self, real: SqliteThread, fault: Fault) -> None:
        super().__init__(real._connection)
        self._fault = fault

    async def run(self, work: Callable[[Any], Any]) -> Any:
        return await super().run(lambda raw: work(_Connection(raw, self._fault)))


class _Connection:
    def __init__(self, real: Any, fault: Fault) -> None:
        self._real, self._fault = real, fault

    def cursor(self) -> Any:
        return _Cursor(self._real.cursor(), self._fault)


class _Cursor:
    """A cursor whose ROLLBACK always runs: the fault is in what it undoes."""

    def __init__(self, real: Any, fault: Fault) -> None:
        object.__setattr__(self, "_real", real)
        object.__setattr__(self, "_fault", fault)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._real, name, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def execute(self, statement: str, *values: Any) -> Any:
        if statement != "ROLLBACK":
            self._fault.next()
        return self._real.execute(statement, *values)

    def executemany(self, *statement: Any) -> Any:
        self._fault.next()
        return self._real.executemany(*statement)


async def everything(engines: Engines) -> dict[str, list[str]]:
    """Every row of every table, leases aside."""
    found = {}
    async with engines.reading() as connection:
        for table in tables.metadata.sorted_tables:
            if table is not tables.process:
                found[table.name] = sorted(
                    repr(tuple(row)) for row in await connection.execute(select(table))
                )
    return found
