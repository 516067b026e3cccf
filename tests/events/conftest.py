"""A service of its own for each test, on each engine."""

from collections.abc import AsyncIterator

import pytest

from tests.projects.stage import Stage, on_stage


@pytest.fixture
async def stage(migrated_url: str) -> AsyncIterator[Stage]:
    async with on_stage(migrated_url) as stage:
        yield stage
