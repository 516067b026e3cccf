"""The service, as a process that stands still at a named point: `python -m tests.runs.stopping`, with
STEMMA_TEST_STOP_AT. It prints `stopped` there and does nothing more, so that a test can kill it just then.
Each call of a tool that acts is a line `acted NAME`."""

import asyncio
import os
import signal
from datetime import timedelta
from typing import Any

from conversation_service.process import run
from kernel.runs.sink import StoreSink
from kernel.storage import processes, run_log
from kernel.tools.box import RunTools

VARIABLE = "STEMMA_TEST_STOP_AT"


async def stand_still() -> None:
    """The task that comes here; what it has told others goes on its way."""
    print("stopped", flush=True)
    await asyncio.Event().wait()


def flush() -> None:
    """In the transaction that writes a chunk of the log, and with all else."""

    def insert(*_: Any) -> Any:
        print("stopped", flush=True)
        while True:
            signal.pause()

    _plant(run_log, "insert", insert)


def commit() -> None:
    """When all of a commit is written, and nothing is durable."""
    ended = StoreSink._commit

    async def end(*given: Any) -> Any:
        await ended(*given)
        await stand_still()

    _plant(StoreSink, "_commit", end)


def tool() -> None:
    """When a tool has acted, and its result is not durable."""
    called = RunTools._called

    async def act(*given: Any) -> Any:
        await called(*given)
        await stand_still()

    _plant(RunTools, "_called", act)


def result() -> None:
    """When a tool's result is durable, and the model has not been told."""
    acted = RunTools.act

    async def act(*given: Any) -> Any:
        await acted(*given)
        await stand_still()

    _plant(RunTools, "act", act)


def lease() -> None:
    """Nowhere; but the lease is short, for a test that stops the process by a signal."""
    processes.LEASE = timedelta(seconds=3)


POINTS = {point.__name__: point for point in (flush, commit, tool, result, lease)}


def _plant(where: object, name: str, what: object) -> None:
    setattr(where, name, what)


def main() -> None:
    called = RunTools._called

    async def told(self: RunTools, call: Any) -> Any:
        print("acted", call.name, flush=True)
        return await called(self, call)

    _plant(RunTools, "_called", told)
    POINTS[os.environ[VARIABLE]]()
    run()


if __name__ == "__main__":
    main()
