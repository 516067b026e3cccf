"""The one seam where driver exceptions stop.

They are told apart by constraint name and error class, never by message text, except on SQLite,
whose driver names a broken constraint only by its columns.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
from sqlalchemy import exc

from kernel.errors import Unavailable


class Conflict(Exception):
    """A unique key was taken by a concurrent writer: running the work again will see its row."""


class Retry(Exception):
    """The engine asks for another try: deadlock, serialisation."""


class Refused(Exception):
    """The database refused a statement: a fault of ours. The text names the constraint, or the kind of
    error; the driver's own words quote what was stored, and stay here."""


_RETRY_STATES = {"40001", "40P01"}
_AWAY_STATES = {"08", "53", "57", "25006"}


class NoConnection(Unavailable):
    """There was no connection in time: none was free, or the server did not answer."""


_AWAY = ("UNAVAILABLE", "The database cannot be reached. Retry with the same request_id.")


def unavailable() -> Unavailable:
    return Unavailable(*_AWAY)


def _translate(error: BaseException) -> Exception | None:
    if isinstance(error, exc.TimeoutError | TimeoutError):
        return NoConnection(*_AWAY)
    # InternalClientError: the server went away in the middle of an answer, and the connection is unusable.
    if isinstance(error, OSError | asyncpg.InterfaceError | asyncpg.InternalClientError):
        return unavailable()
    original = _driver_error(error)
    if isinstance(original, asyncpg.UniqueViolationError):
        return Conflict(original.constraint_name or "")
    if isinstance(original, asyncpg.PostgresError):
        state = getattr(original, "sqlstate", "") or ""
        if state in _RETRY_STATES:
            return Retry(state)
        if state in _AWAY_STATES or state[:2] in _AWAY_STATES:
            return unavailable()
    if isinstance(original, sqlite3.IntegrityError) and "UNIQUE" in str(original):
        return Conflict("sqlite")
    if isinstance(original, sqlite3.OperationalError):
        return unavailable()
    if isinstance(error, exc.DBAPIError) and (
        error.connection_invalidated or isinstance(error, exc.InterfaceError)
    ):
        return unavailable()
    return None


def _driver_error(error: BaseException) -> BaseException | None:
    """What the driver raised: as it is on hot paths, inside SQLAlchemy's error on the others."""
    if not isinstance(error, exc.DBAPIError):
        return error
    return error.orig.__cause__ if error.orig is not None and error.orig.__cause__ else error.orig


@contextmanager
def translated() -> Iterator[None]:
    """Turns what a driver raises into Conflict, Retry, Refused or an error of the kernel."""
    try:
        yield
    except Exception as error:
        known = _translate(error)
        if known is not None:
            raise known from error
        original = _driver_error(error)
        if not isinstance(original, exc.SQLAlchemyError | asyncpg.PostgresError | sqlite3.Error):
            raise
        name = getattr(original, "constraint_name", None) or type(original).__name__
        raise Refused(name).with_traceback(error.__traceback__) from None
