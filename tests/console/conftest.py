"""One browser, one stage and one profile for all tests of a worker; a window of its own for each test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio
from playwright.async_api import BrowserContext

from tests.console.browser import Faults, browser, context
from tests.console.stage import Theatre, Visitor, theatre


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_theatre(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Theatre]:
    async with browser() as started, theatre(tmp_path_factory.mktemp("console"), started) as one:
        yield one


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_context(shared_theatre: Theatre) -> AsyncIterator[BrowserContext]:
    """Shared for its cache: a profile of its own would load a hundred modules again for each test."""
    async with context(shared_theatre.browser, shared_theatre.url) as made:
        yield made


@pytest.fixture
def stage(shared_theatre: Theatre) -> Theatre:
    """The services, and REST beside the browser."""
    return shared_theatre


@asynccontextmanager
async def window(stage: Theatre, made: BrowserContext, faults: Faults) -> AsyncIterator[Visitor]:
    page = await made.new_page()
    faults.watch(page)
    try:
        yield Visitor(stage, made, page, faults)
    finally:
        if page.url != "about:blank":
            await page.evaluate("() => localStorage.clear()")
        await page.close()


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(shared_theatre: Theatre, shared_context: BrowserContext) -> AsyncIterator[Visitor]:
    """A window that fails its test on a console error, a refused request, a dialog, or a request elsewhere,
    unless the test has said before that it expects it."""
    faults = Faults(shared_theatre.url)
    async with window(shared_theatre, shared_context, faults) as one:
        yield one
    faults.judge()


@pytest_asyncio.fixture(loop_scope="session")
async def other(visitor: Visitor) -> AsyncIterator[Visitor]:
    """Another window of the same person."""
    async with window(visitor.theatre, visitor.context, visitor.faults) as one:
        yield one
