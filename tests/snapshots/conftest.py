"""A service of its own for each test, on each engine."""

from collections.abc import AsyncIterator

import pytest

from tests.state.stage import Stage, a_stage


@pytest.fixture
async def stage(migrated_url: str) -> AsyncIterator[Stage]:
    async with a_stage(migrated_url) as stage:
        yield stage
