"""What some of these tests need of one engine only."""

from collections.abc import Iterator

import pytest

from tests.conftest import DatabaseFactory


@pytest.fixture
def postgres_database(database_factory: DatabaseFactory) -> Iterator[str]:
    """A PostgreSQL database with the schema: what several processes can share."""
    with database_factory("postgres") as url:
        yield url
