"""Stores on both engines. The databases are made once in a run; each test is a tenant of its own."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack

import pytest

from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from tests.conformance.world import World, new_world, opened
from tests.conftest import DatabaseFactory


@pytest.fixture(scope="session")
def _shared(database_factory: DatabaseFactory) -> Iterator[Callable[[str], str]]:
    """The URL of a migrated database for each engine, made when it is first asked for."""
    with ExitStack() as until:
        urls: dict[str, str] = {}

        def of(engine: str) -> str:
            if engine not in urls:
                urls[engine] = until.enter_context(database_factory(engine))
            return urls[engine]

        yield of


@pytest.fixture
def shared_url(engine: str, _shared: Callable[[str], str]) -> str:
    """A database that other tests use too, as other tenants."""
    return _shared(engine)


@pytest.fixture
async def database(shared_url: str) -> AsyncIterator[tuple[Engines, SqlStore]]:
    async with opened(shared_url) as found:
        yield found


@pytest.fixture
def engines(database: tuple[Engines, SqlStore]) -> Engines:
    return database[0]


@pytest.fixture
def store(database: tuple[Engines, SqlStore]) -> SqlStore:
    return database[1]


@pytest.fixture
async def world(store: SqlStore) -> World:
    """A new tenant with a session."""
    return await new_world(store)
