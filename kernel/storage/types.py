"""Column types that both engines store well. Values are the same on either side."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, LargeBinary
from sqlalchemy.dialects.postgresql import TIMESTAMP, UUID
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Id(TypeDecorator[str]):
    """A UUID as lowercase text in Python; `uuid` on Postgres, 16 bytes on SQLite."""

    impl = LargeBinary(16)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(UUID(as_uuid=True))
        return dialect.type_descriptor(LargeBinary(16))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        return uuid.UUID(value) if dialect.name == "postgresql" else bytes.fromhex(value.replace("-", ""))

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        if value is None:
            return None
        if not isinstance(value, bytes):
            return str(value)
        # Several times as fast as by uuid.UUID, and a path has thousands of ids.
        digits = value.hex()
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


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
        if value is None:
            return None
        if isinstance(value, datetime):
            return value if value.tzinfo is UTC else value.astimezone(UTC)
        return _EPOCH + int(value) * _MICROSECOND
