"""A process's heart: it keeps its lease, and ends what dead processes left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from kernel.errors import StemmaError, Unavailable
from kernel.generation.hub import RunHub
from kernel.runs.control import Reconciliation, recover
from kernel.steady import steadily
from kernel.storage.processes import Processes
from kernel.storage.statistics import Statistics
from kernel.verbs.env import Env

# Seconds between two renewals of this process's lease and looks for runs of dead ones.
_BEAT = 2.0

log = structlog.get_logger(__name__)


@asynccontextmanager
async def beating(env: Env, processes: Processes, hub: RunHub, statistics: Statistics) -> AsyncIterator[None]:
    """Keeps this process's lease, and ends what dead ones left; first before the block begins."""
    await processes.renew()
    await recover(env, await processes.orphaned_runs())
    runs = Reconciliation(env, hub)
    task = asyncio.create_task(steadily(lambda: _beat(env, processes, runs, statistics)))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        with suppress(Unavailable):
            await processes.leave()


async def _beat(env: Env, processes: Processes, runs: Reconciliation, statistics: Statistics) -> None:
    while True:
        await asyncio.sleep(_BEAT)
        try:
            await processes.renew()
            await recover(env, await processes.orphaned_runs())
            await runs.look(await processes.own_runs())
            await statistics.look()
        except StemmaError as error:
            log.warning("beat failed; it is tried again", reason=error.reason)
