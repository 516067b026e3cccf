"""The database's clock, which alone judges drafts."""

from typing import Any

from sqlalchemy import ColumnElement, func, literal_column, type_coerce

from kernel.storage.types import Time

# Milliseconds, as SQLite has them, in the microseconds that we store.
_SQLITE = "(CAST(ROUND((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000)"


def database_now(dialect: str) -> ColumnElement[Any]:
    """The time at which the expression is evaluated, not that at which the transaction began: who waited for
    a lock is judged after it."""
    now = literal_column(_SQLITE) if dialect == "sqlite" else func.clock_timestamp()
    return type_coerce(now, Time)
