"""One fake service and one gateway for all tests here; tests that need other settings start their own."""

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from tests.gateway.fake_service import FakeService, running_fake
from tests.gateway.harness import serve_gateway


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_fake() -> AsyncIterator[FakeService]:
    async with running_fake() as fake:
        yield fake


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def base_url(shared_fake: FakeService) -> AsyncIterator[str]:
    async with serve_gateway(shared_fake.address) as url:
        yield url


@pytest.fixture
def fake(shared_fake: FakeService) -> FakeService:
    """The service, with nothing recorded and nothing set."""
    shared_fake.reset()
    return shared_fake


@pytest_asyncio.fixture(loop_scope="session")
async def client(base_url: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=base_url, timeout=10, trust_env=False) as one:
        yield one
