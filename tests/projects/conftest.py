"""One service for each engine, for all tests here that look at nothing but what they made; and one of its own
for each test that counts what there is, or reads the default project's feed."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.conftest import DatabaseFactory
from tests.projects.stage import Stage, on_stage


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def stage_url(request: pytest.FixtureRequest, database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory(request.param) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_stage(stage_url: str) -> AsyncIterator[Stage]:
    async with on_stage(stage_url) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(shared_stage: Stage) -> AsyncIterator[Stage]:
    """The service that all share. A run that a test leaves behind is a failed test."""
    yield shared_stage
    assert shared_stage.service.service.generation.hub.running == 0


@pytest_asyncio.fixture(loop_scope="session")
async def own_stage(migrated_url: str) -> AsyncIterator[Stage]:
    """A service of this test's own."""
    async with on_stage(migrated_url) as stage:
        yield stage
