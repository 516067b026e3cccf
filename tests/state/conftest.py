"""One service for each engine, and in it a project and a session of its own for each test."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.conftest import DatabaseFactory
from tests.state.stage import Stage, a_stage, stage_in


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def stage_url(request: pytest.FixtureRequest, database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory(request.param) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_stage(stage_url: str) -> AsyncIterator[Stage]:
    async with a_stage(stage_url) as made:
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def stage(shared_stage: Stage) -> Stage:
    return await stage_in(shared_stage)
