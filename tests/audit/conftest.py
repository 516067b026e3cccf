"""A service of its own for each test, on each engine; and both services."""

from collections.abc import AsyncIterator

import pytest

from tests.drafts.conftest import canon_url, draft_databases, draft_url
from tests.drafts.stage import Stage as BothStages
from tests.drafts.stage import on_stage as both_on_stage
from tests.projects.stage import Stage, on_stage

__all__ = ["canon_url", "draft_databases", "draft_url"]


@pytest.fixture
async def stage(migrated_url: str) -> AsyncIterator[Stage]:
    async with on_stage(migrated_url) as stage:
        yield stage


@pytest.fixture
async def both(canon_url: str, draft_url: str) -> AsyncIterator[BothStages]:
    """The conversation service and the draft service."""
    async with both_on_stage(canon_url, draft_url) as stage:
        yield stage
