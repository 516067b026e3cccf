"""One world for each engine, unharmed after every test that aims at it."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.bad_inputs.world import World, a_world
from tests.conftest import DatabaseFactory


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def world_url(request: pytest.FixtureRequest, database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory(request.param) as url:
        yield url


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_world(world_url: str) -> AsyncIterator[World]:
    async with a_world(world_url) as world:
        yield world


@pytest_asyncio.fixture(loop_scope="session")
async def world(shared_world: World) -> AsyncIterator[World]:
    """After each test the server is alive, and not one row is another."""
    before = await shared_world.rows()
    yield shared_world
    assert await shared_world.healthy()
    assert await shared_world.rows() == before
    assert shared_world.service.service.generation.hub.running == 0
