"""The world's time and new names: what services are given, and tests replace."""

from datetime import UTC, datetime

from uuid_utils import uuid7


def utc_now() -> datetime:
    return datetime.now(UTC)


def new_uuid7() -> str:
    return str(uuid7())
