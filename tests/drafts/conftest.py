"""Both services for each engine; shared by the tests here that leave them running as they were."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack

import pytest
import pytest_asyncio

from draft_service.migrate import migrate
from tests.conftest import DatabaseFactory
from tests.drafts.stage import Stage, on_stage
from tests.support.databases import migrated_template

DraftDatabases = Callable[[str], AbstractContextManager[str]]


@pytest.fixture(scope="session")
def draft_databases(_databases: object) -> Iterator[DraftDatabases]:
    """`with draft_databases("sqlite") as url`: a database with the draft service's schema."""
    templates: dict[str, str] = {}
    with ExitStack() as until:

        def make(engine: str) -> AbstractContextManager[str]:
            databases = _databases.of(engine)  # type: ignore[attr-defined]
            if engine not in templates:
                templates[engine] = until.enter_context(migrated_template(databases, migrate))
            return databases.fresh(templates[engine])

        yield make


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def shared_engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def shared_urls(
    shared_engine: str, database_factory: DatabaseFactory, draft_databases: DraftDatabases
) -> Iterator[tuple[str, str]]:
    with database_factory(shared_engine) as canon, draft_databases(shared_engine) as drafts:
        yield canon, drafts


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_stage(shared_urls: tuple[str, str]) -> AsyncIterator[Stage]:
    async with on_stage(*shared_urls) as stage:
        yield stage


@pytest_asyncio.fixture(loop_scope="session")
async def stage(shared_stage: Stage) -> AsyncIterator[Stage]:
    """Both services; a run that a test leaves behind is a failed test."""
    yield shared_stage
    await shared_stage.draft.service.generation.hub.wait_idle()


@pytest.fixture
def canon_url(engine: str, database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory(engine) as url:
        yield url


@pytest.fixture
def draft_url(engine: str, draft_databases: DraftDatabases) -> Iterator[str]:
    with draft_databases(engine) as url:
        yield url


@pytest.fixture
async def own_stage(canon_url: str, draft_url: str) -> AsyncIterator[Stage]:
    """Both services for one test alone, on each engine."""
    async with on_stage(canon_url, draft_url) as stage:
        yield stage
