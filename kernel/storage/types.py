"""Column types that both engines store well. Values are the same on either side."""

from datetime import UTC, datetime, timedelta
from typing import Any

# Ten times as fast as uuid.UUID, of which it is a kind; a path has thousands of ids.
from asyncpg.pgproto.pgproto import UUID as FastUUID
from sqlalchemy import BigInteger, LargeBinary
from sqlalchemy.dialects.postgresql import TIMESTAMP, UUID
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def id_value(text: str, dialect: str) -> Any:
    """An id as the engine's driver takes it."""
    return FastUUID(text) if dialect == "postgresql" else bytes.fromhex(text.replace("-", ""))


def id_text(value: Any) -> str:
    """And as it gives it."""
    return str(FastUUID(value)) if isinstance(value, bytes) else str(value)


def time_of(value: Any) -> datetime:
    """A time as the engine's driver gives it."""
    if isinstance(value, datetime):
        return value if value.tzinfo is UTC else value.astimezone(UTC)
    return _EPOCH + int(value) * _MICROSECOND


class Id(TypeDecorator[str]):
    """A UUID as lowercase text in Python; `uuid` on Postgres, 16 bytes on SQLite."""

    impl = LargeBinary(16)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(UUID(as_uuid=True))
        return dialect.type_descriptor(LargeBinary(16))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else id_value(value, dialect.name)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else id_text(value)


class Time(TypeDecorator[datetime]):
    """An instant to the microsecond, in UTC; `timestamptz` on Postgres, an integer on SQLite."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(TIMESTAMP(timezone=True))
        return dialect.type_descriptor(BigInteger())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        return (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return None if value is None else time_of(value)
