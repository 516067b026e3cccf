"""What the tests of the command share: a service to talk to, in this process."""

import sys
from collections.abc import AsyncIterator, Iterator

import pytest
import structlog

from tests.cli.talks import SCRIPT
from tests.conftest import DatabaseFactory
from tests.support.service import RunningService, running_service


@pytest.fixture(autouse=True)
def _logs_apart() -> Iterator[None]:
    """A command that runs in this process has its own standard output: the service does not log to it."""
    structlog.configure(logger_factory=structlog.WriteLoggerFactory(sys.stdout))
    yield
    structlog.reset_defaults()


@pytest.fixture
async def service(database_factory: DatabaseFactory) -> AsyncIterator[RunningService]:
    """On SQLite, with the scripted provider; `sent` is what the model was sent."""
    with database_factory("sqlite") as url:
        async with running_service(url, script=SCRIPT) as running:
            yield running
