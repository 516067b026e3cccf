"""How much is cancelled, and on which event loops."""

import asyncio
import os
from collections.abc import Callable

import pytest
import uvloop

# How many calls the random test cancels on each engine; `make cancel` sets it.
CANCELLATIONS = int(os.environ.get("CANCELLATIONS", "300"))
# At every suspension and on both loops, rather than once at each of our awaits on the service's own.
THOROUGH = CANCELLATIONS >= 10_000


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}
