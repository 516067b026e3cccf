"""Replicas of a service as real processes that keep their addresses when they are restarted."""

import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack

from tests.support.processes import running


class Replica:
    """One process of a service: `name` is its module, `variable` says where it listens."""

    def __init__(self, name: str, variable: str, environment: Mapping[str, str]) -> None:
        self._name, self._variable = name, variable
        self._environment = dict(environment)
        self._running = AsyncExitStack()
        self.address = "127.0.0.1:0"

    async def start(self) -> None:
        """Returns when it listens, from the second time on where it did before."""
        environment = {**self._environment, self._variable: self.address}
        command = [sys.executable, "-m", self._name]
        program = await self._running.enter_async_context(running(self._name, command, environment))
        self.address = program.address

    async def stop(self) -> None:
        """By SIGTERM, as an orchestrator does; returns when the process has ended."""
        await self._running.aclose()
        self._running = AsyncExitStack()


def replicas(name: str, variable: str, environment: Mapping[str, str], count: int) -> list[Replica]:
    return [Replica(name, variable, environment) for _ in range(count)]
