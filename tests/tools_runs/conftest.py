"""One database for each engine; each test is a tenant of its own."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.conftest import DatabaseFactory
from tests.runs.stage import Stage, on_stage
from tests.tools_runs.desk import Desk, a_desk


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def shared_url(request: pytest.FixtureRequest, database_factory: DatabaseFactory) -> Iterator[str]:
    """For the service."""
    with database_factory(request.param) as url:
        yield url


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def desk_url(request: pytest.FixtureRequest, database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory(request.param) as url:
        yield url


@pytest.fixture
async def desk(desk_url: str) -> AsyncIterator[Desk]:
    async with a_desk(desk_url) as made:
        yield made


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_stage(shared_url: str) -> AsyncIterator[Stage]:
    async with on_stage(shared_url) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(shared_stage: Stage) -> AsyncIterator[Stage]:
    """A service; a run that a test leaves behind is a failed test."""
    yield shared_stage
    await shared_stage.idle()


@pytest.fixture
def sqlite_url(database_factory: DatabaseFactory) -> Iterator[str]:
    """A SQLite database with the schema, for this test alone."""
    with database_factory("sqlite") as url:
        yield url
