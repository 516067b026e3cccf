"""On each engine: a service for each test, and one for all tests that look only at the sessions they made."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.conftest import DatabaseFactory
from tests.transfers.files import Files, serving


@pytest.fixture
async def files(migrated_url: str) -> AsyncIterator[Files]:
    async with serving(migrated_url) as files:
        yield files


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def shared_url(request: pytest.FixtureRequest, database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory(request.param) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_files(shared_url: str) -> AsyncIterator[Files]:
    async with serving(shared_url) as files:
        yield files
