"""Every statement that this process runs on a database, at the seams that there are."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from kernel.storage.engine import SqliteThread

_DML = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
# Alembic's own, and the engines' catalogues.
_NOT_OURS = ("alembic_version", "pg_", "sqlite_master")


@contextmanager
def statements(patch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """What was run while the block lasted, by text."""
    found: set[str] = set()

    def heard(text: str) -> None:
        if text.lstrip().upper().startswith(_DML):
            found.add(text)

    def executed(_: Any, __: Any, text: str, *___: Any) -> None:
        heard(text)

    fetch, run = asyncpg.Connection.fetch, SqliteThread.run

    async def fetched(self: Any, query: str, *given: Any, **how: Any) -> Any:
        heard(query)
        return await fetch(self, query, *given, **how)

    async def ran(self: Any, work: Any) -> Any:
        return await run(self, lambda raw: work(_Heard(raw, heard)))

    patch.setattr(asyncpg.Connection, "fetch", fetched)
    patch.setattr(SqliteThread, "run", ran)
    event.listen(Engine, "before_cursor_execute", executed)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", executed)


def ours(found: set[str]) -> list[str]:
    return sorted(text for text in found if not any(name in text for name in _NOT_OURS))


class _Heard:
    """A connection or cursor of sqlite3 that tells what it executes."""

    def __init__(self, inner: Any, heard: Any) -> None:
        self._inner, self._heard = inner, heard

    def cursor(self) -> "_Heard":
        return _Heard(self._inner.cursor(), self._heard)

    def execute(self, text: str, *given: Any) -> Any:
        self._heard(text)
        return self._inner.execute(text, *given)

    def executemany(self, text: str, *given: Any) -> Any:
        self._heard(text)
        return self._inner.executemany(text, *given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
