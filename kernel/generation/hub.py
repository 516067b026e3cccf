"""The runs of this process: found by id, kept a while after their end, ended with the server."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from kernel.generation.live import LiveRun

Clock = Callable[[], float]

log = structlog.get_logger(__name__)


class RunHub:
    """Owns the runs' tasks, so that no caller's cancellation reaches them.

    Args:
        clock: Seconds, monotonic.
        keep_finished: How many ended runs stay to be joined.
        keep_seconds: For how long.
    """

    def __init__(
        self, *, clock: Clock = time.monotonic, keep_finished: int = 64, keep_seconds: float = 60.0
    ) -> None:
        self._clock = clock
        self._keep_finished = keep_finished
        self._keep_seconds = keep_seconds
        self._running: dict[str, tuple[LiveRun, asyncio.Task[None]]] = {}
        self._finished: OrderedDict[str, tuple[LiveRun, float]] = OrderedDict()
        self._stopping = False
        self._busy = asyncio.Event()

    @property
    def lives(self) -> list[LiveRun]:
        """The runs that have not ended."""
        return [live for live, _ in self._running.values()]

    async def busy(self) -> None:
        """Until there is a run that has not ended."""
        await self._busy.wait()

    def window(self, base: float) -> float:
        """Seconds in which deltas are joined: `base`, and wider from 200 runs on, to 250 ms at 1,000."""
        return base + max(0, min(self.running, 1_000) - 200) * (max(base, 0.25) - base) / 800

    @property
    def running(self) -> int:
        """How many runs have not ended."""
        return len(self._running)

    @property
    def run_ids(self) -> set[str]:
        """Of the runs that have not ended."""
        return set(self._running)

    @property
    def accepting(self) -> bool:
        """False once `drain` was called: refuse new runs before their floors are opened."""
        return not self._stopping

    def start(self, live: LiveRun, drive: Coroutine[Any, Any, None]) -> LiveRun:
        """Runs `drive`, which publishes to `live`, as a task of its own, and returns at once.

        A drive that ends without a last frame, or raises, loses the run. A hub that stops takes runs
        still, and tells them to stop: their floors are open and must be failed.

        A run of the same id may be here still when it belongs to an earlier epoch: it is about to end.

        Raises:
            RuntimeError: A run with this id is running.
        """
        earlier = self._running.get(live.run_id)
        if earlier is not None and earlier[0].epoch >= live.epoch:
            drive.close()
            raise RuntimeError("A run with this id is running.")
        if self._stopping:
            live.stop()
        task = asyncio.create_task(self._supervise(live, drive), name=f"run {live.run_id}")
        self._running[live.run_id] = (live, task)
        self._busy.set()
        # Not in the task itself: a task that is cancelled before its first step runs none of it.
        task.add_done_callback(lambda _: self._retire(live, drive))
        return live

    def get(self, run_id: str) -> LiveRun | None:
        """A running run, or one that ended not long ago."""
        if run_id in self._running:
            return self._running[run_id][0]
        self._forget_old()
        finished = self._finished.get(run_id)
        return finished[0] if finished is not None else None

    async def drain(self, timeout: float, *, stop_timeout: float = 5.0) -> None:
        """Ends all runs and returns when all are closed; for a server that stops.

        Args:
            timeout: Seconds in which they may end by themselves. Then the rest is told to stop, and
                ends FAILED (CRASHED).
            stop_timeout: Seconds for that. What still runs then is cut and lost: its floor stays
                GENERATING until the next start finds it.
        """
        self._stopping = True
        await self._wait(timeout)
        for live, _ in self._running.values():
            live.stop()
        await self._wait(stop_timeout)
        while self._running:
            for _, task in self._running.values():
                task.cancel()
            await self.wait_idle()

    async def wait_idle(self) -> None:
        """Until every run that is running now has ended."""
        await self._wait(None)

    async def _wait(self, timeout: float | None) -> None:
        tasks = [task for _, task in self._running.values()]
        if tasks:
            # The callback that retires a task was added before the one that wakes us.
            await asyncio.wait(tasks, timeout=timeout)

    async def _supervise(self, live: LiveRun, drive: Coroutine[Any, Any, None]) -> None:
        try:
            await drive
        except Exception as error:
            # No text of the error: it may quote the conversation.
            log.error("run.broken", run_id=live.run_id, error=type(error).__name__)

    def _retire(self, live: LiveRun, drive: Coroutine[Any, Any, None]) -> None:
        drive.close()
        live.lose()
        running = self._running.get(live.run_id)
        if running is not None and running[0] is not live:
            return
        self._running.pop(live.run_id, None)
        if not self._running:
            self._busy.clear()
        self._finished[live.run_id] = (live, self._clock())
        # An earlier epoch of it may stand further up.
        self._finished.move_to_end(live.run_id)
        while len(self._finished) > self._keep_finished:
            self._finished.popitem(last=False)
        self._forget_old()

    def _forget_old(self) -> None:
        oldest_kept = self._clock() - self._keep_seconds
        while self._finished and next(iter(self._finished.values()))[1] < oldest_kept:
            self._finished.popitem(last=False)
