"""Both services with access on, once for each engine."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.access.stage import AccessStage, on_access_stage
from tests.conftest import DatabaseFactory
from tests.drafts.conftest import DraftDatabases, draft_databases

__all__ = ["draft_databases"]


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def access_urls(
    request: pytest.FixtureRequest, database_factory: DatabaseFactory, draft_databases: DraftDatabases
) -> Iterator[tuple[str, str]]:
    with database_factory(request.param) as canon, draft_databases(request.param) as drafts:
        yield canon, drafts


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stage(access_urls: tuple[str, str]) -> AsyncIterator[AccessStage]:
    """For tests that leave it as it was, but for what they add."""
    async with on_access_stage(*access_urls) as stage:
        yield stage
