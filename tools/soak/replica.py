"""A service that is always there again: whatever ends it, it is started anew, on the same port."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Mapping

from tests.support.processes import ProgramError, Running, running
from tools.soak.databases import is_down

_FOREVER = 7 * 86_400.0
# A machine that is busy with kills starts slowly.
_START_SECONDS = 120.0
_MOST_FAULTS = 5
_NAME = "conversation_service"
# What SQLAlchemy leaves behind when a call is cancelled once more while its connection is being closed for a
# first cancellation: it closes it by force then, and nothing is lost but this task.
_FORCED_CLOSE = re.compile(r"Task was destroyed but it is pending!\n.*_terminate_graceful_close\(\)")


def free_address() -> str:
    """An address of this machine on which nobody listens at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


class Stuck(Exception):
    """The service did not get going again; says why."""


class Replica:
    """One replica of the service. Run `keep` as a task; cancel it to stop the service for good.

    `epoch` is the database's (tools.soak.databases): a service that was starting while that was down may end.
    Every other end that was not asked for stands in `faults`, with what the service printed; `errors` counts
    what it logged as an error.
    """

    def __init__(self, module: str, environment: Mapping[str, str], epoch: Callable[[], int]) -> None:
        self.address = free_address()
        self.kills = 0
        self.starts = 0
        self.faults: list[str] = []
        self.errors: Counter[str] = Counter()
        self._command = [sys.executable, "-m", module]
        self._environment = {**environment, "STEMMA_CONVERSATION": self.address}
        self._epoch = epoch
        self._running: Running | None = None
        self._ending = False
        self._news = asyncio.Condition()

    async def keep(self) -> None:
        """Starts it, waits for its end, and again. Raises Stuck after a few faults; never returns."""
        while True:
            epoch = self._epoch()
            try:
                await self._once()
            except ProgramError as error:
                if self._epoch() == epoch and not is_down(epoch):
                    self.faults.append(str(error))
                    if len(self.faults) == _MOST_FAULTS:
                        raise Stuck(f"the service does not stay up: {error}") from error
                # What kept it from starting will not be gone at once.
                await asyncio.sleep(0.2)

    async def _once(self) -> None:
        """From a start to the end. Raises ProgramError for an end that was not asked for."""
        async with running(_NAME, self._command, self._environment, ready="") as program:
            await program.line(f"^{_NAME} listening on ", _START_SECONDS)
            self.starts += 1
            await self._tell(program)
            try:
                status = await program.wait(_FOREVER)
                if not self._ending:
                    raise program.error(f"ended by itself with {status}")
            finally:
                self._note_errors(program.lines)
                await self._tell(None)

    async def _tell(self, program: Running | None) -> None:
        async with self._news:
            self._running, self._ending = program, False
            self._news.notify_all()

    def _note_errors(self, lines: list[str]) -> None:
        for line in lines:
            if line.startswith("{") and (entry := json.loads(line)).get("level") in ("error", "critical"):
                event, said = str(entry.get("event")), str(entry.get("exception", "")).splitlines()
                if not _FORCED_CLOSE.match(event):
                    self.errors[": ".join([event, *said[-1:]])] += 1

    async def ready(self) -> None:
        """Returns when it serves."""
        async with self._news:
            await self._news.wait_for(lambda: self._running is not None)

    async def end(self, number: int) -> None:
        """Ends it by a signal once it serves, and returns when it has ended; it starts anew by itself."""
        async with self._news:
            await self._news.wait_for(lambda: self._running is not None)
            assert self._running is not None
            self._ending = True
            self._running.send(number)
            await self._news.wait_for(lambda: self._running is None)

    async def kill(self) -> None:
        """As `end` does, by SIGKILL."""
        self.kills += 1
        await self.end(signal.SIGKILL)
