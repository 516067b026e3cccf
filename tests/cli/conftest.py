"""What the tests of the command share: a service to talk to, in this process."""

from collections.abc import AsyncIterator

import pytest

from tests.cli.talks import SCRIPT
from tests.conftest import DatabaseFactory
from tests.support.service import RunningService, running_service


@pytest.fixture
async def service(database_factory: DatabaseFactory) -> AsyncIterator[RunningService]:
    """On SQLite, with the scripted provider; `sent` is what the model was sent."""
    with database_factory("sqlite") as url:
        async with running_service(url, script=SCRIPT) as running:
            yield running
