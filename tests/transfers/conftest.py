"""A service of its own for each test, on each engine."""

from collections.abc import AsyncIterator

import pytest

from tests.transfers.files import Files, serving


@pytest.fixture
async def files(migrated_url: str) -> AsyncIterator[Files]:
    async with serving(migrated_url) as files:
        yield files
