"""One service for each engine, for all tests here that leave it running as it was."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.conftest import DatabaseFactory
from tests.runs.stage import Stage, on_stage


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def shared_url(request: pytest.FixtureRequest, database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory(request.param) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_stage(shared_url: str) -> AsyncIterator[Stage]:
    async with on_stage(shared_url) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(shared_stage: Stage) -> AsyncIterator[Stage]:
    """The service; a run that a test leaves behind is a failed test."""
    yield shared_stage
    await shared_stage.idle()


@pytest_asyncio.fixture(loop_scope="session")
async def session(stage: Stage) -> str:
    """A new session's id."""
    return await stage.client.new_session()


@pytest.fixture
def sqlite_url(database_factory: DatabaseFactory) -> Iterator[str]:
    """A SQLite database with the schema, for this test alone."""
    with database_factory("sqlite") as url:
        yield url


@pytest.fixture
def postgres_database_url(database_factory: DatabaseFactory) -> Iterator[str]:
    """A PostgreSQL database with the schema, for this test alone."""
    with database_factory("postgres") as url:
        yield url
