"""Both services with access on, databases of each test's own, once for each engine."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from tests.access.stage import AccessStage, on_access_stage
from tests.conftest import DatabaseFactory
from tests.drafts.conftest import DraftDatabases, draft_databases
from tests.erasure.stage import Person, person_of

__all__ = ["draft_databases"]


@dataclass
class Scene:
    stage: AccessStage
    person: Person
    urls: dict[str, str]


@pytest.fixture(params=["sqlite", "postgres"])
def urls(
    request: pytest.FixtureRequest, database_factory: DatabaseFactory, draft_databases: DraftDatabases
) -> Iterator[dict[str, str]]:
    with database_factory(request.param) as canon, draft_databases(request.param) as drafts:
        yield {"canon": canon, "drafts": drafts}


@pytest_asyncio.fixture(loop_scope="session")
async def scene(urls: dict[str, str]) -> AsyncIterator[Scene]:
    async with on_access_stage(urls["canon"], urls["drafts"]) as stage:
        yield Scene(stage, await person_of(stage), urls)
