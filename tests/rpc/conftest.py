"""A running server for each test that asks for `rpc`."""

from collections.abc import AsyncIterator

import pytest

from tests.rpc.plumbing import Running, running


@pytest.fixture
async def rpc() -> AsyncIterator[Running]:
    async with running() as started:
        yield started
