"""A process's heart: it keeps its lease and the log of its runs, and ends what dead processes left."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import structlog

from kernel.errors import StemmaError, Unavailable
from kernel.runs.control import Reconciliation, end_overdue, forget_logs, recover
from kernel.runs.start import Generation
from kernel.steady import steadily
from kernel.storage.processes import Processes
from kernel.storage.statistics import Statistics
from kernel.verbs.env import Env
from kernel.verbs.run_store import RunLog

# Seconds between two renewals of this process's lease and looks for runs of dead ones.
_BEAT = 2.0
# How long the log of a run is kept after its end.
LOG_KEPT = timedelta(hours=1)

log = structlog.get_logger(__name__)


@asynccontextmanager
async def beating(
    env: Env,
    generation: Generation,
    processes: Processes,
    statistics: Statistics,
    rows: RunLog,
    log_kept: timedelta = LOG_KEPT,
) -> AsyncIterator[None]:
    """Keeps this process's lease, and ends what dead ones left; first before the block begins."""
    await processes.renew()
    await recover(env, await processes.orphaned_runs())
    runs = Reconciliation(env, generation.hub)

    async def beat() -> None:
        while True:
            await asyncio.sleep(_BEAT)
            try:
                await processes.renew()
                await recover(env, await processes.orphaned_runs())
                await runs.look(await processes.own_runs())
                await end_overdue(env, rows)
                await forget_logs(rows, env.clock() - log_kept)
                await statistics.look()
            except StemmaError as error:
                log.warning("beat failed; it is tried again", reason=error.reason)

    tasks = [asyncio.create_task(steadily(work)) for work in (beat, generation.log.keep)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        with suppress(Unavailable):
            await processes.leave()
