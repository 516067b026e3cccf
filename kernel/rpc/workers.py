"""Several processes of one service on one port, by SO_REUSEPORT: the kernel shares connections out.

The parent only holds the port, starts the workers, starts one again that ended by itself, and stops them.
A connection belongs to the worker that accepted it, so a client should open several.
"""

import asyncio
import ctypes
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import structlog

from kernel.rpc.server import CannotListen

# Tells a worker whose it is.
PARENT = "STEMMA_WORKER_OF"
_PR_SET_PDEATHSIG = 1
# Seconds between two starts of a worker that ends by itself, and that all have to stop.
_AGAIN, _STOPS_WITHIN = 1.0, 15.0

_log = structlog.get_logger("kernel.rpc")


def end_with_parent() -> None:
    """In a worker, first of all: its parent's end is a SIGTERM (on Linux). No effect elsewhere."""
    parent = os.environ.get(PARENT)
    if parent is None:
        return
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit(1)


@contextmanager
def held_port(address: str) -> Iterator[str]:
    """The address with a port that is ours while the block lasts, open to workers. Raises CannotListen."""
    host, _, port = address.rpartition(":")
    bare = host.strip("[]")
    with socket.socket(socket.AF_INET6 if ":" in bare else socket.AF_INET) as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            holder.bind((bare, int(port)))
        except (OSError, ValueError, OverflowError) as error:
            raise CannotListen(f"Cannot listen on {address}: choose another address.") from error
        yield f"{host}:{holder.getsockname()[1]}"


class Workers:
    """`count` processes of `python -m module`, each with `environment`, with what `own` gives the one of that
    number, and told whose it is."""

    def __init__(
        self,
        module: str,
        count: int,
        environment: Mapping[str, str],
        own: Callable[[int], Mapping[str, str]] = lambda number: {},
    ) -> None:
        self._module = module
        self._own = own
        self._count = count
        self._environment = {**environment, PARENT: str(os.getpid())}
        self._running: dict[int, Process] = {}

    @property
    def pids(self) -> list[int]:
        return [process.pid for process in self._running.values()]

    async def run(self, stop: asyncio.Event, ready: asyncio.Event) -> None:
        """Sets `ready` once all serve; returns when all have ended after `stop`.

        Raises CannotListen when one ends before it serves: what it said about that is on stderr.
        """
        serving = [asyncio.Event() for _ in range(self._count)]
        kept = [asyncio.create_task(self._keep(n, stop, serving[n])) for n in range(self._count)]
        told = [asyncio.create_task(stop.wait()), asyncio.create_task(_all(serving, ready))]
        try:
            await asyncio.wait((told[0], *kept), return_when=asyncio.FIRST_COMPLETED)
            stop.set()
            await self._end()
            await asyncio.gather(*kept)
        finally:
            for task in told:
                task.cancel()
            for process in self._running.values():
                process.kill()

    async def _keep(self, number: int, stop: asyncio.Event, serving: asyncio.Event) -> None:
        """One worker, started again for as long as nothing is to stop."""
        while not stop.is_set():
            process = await self._start(number)
            self._running[number] = process
            assert process.stdout is not None
            while line := await process.stdout.readline():
                if b" listening on " in line:
                    serving.set()
            code = await process.wait()
            del self._running[number]
            if stop.is_set():
                return
            if not serving.is_set():
                raise CannotListen(f"A process of {self._module} did not start; it said why.")
            _log.error("a process ended by itself; another is started", code=code)
            await asyncio.sleep(_AGAIN)

    async def _start(self, number: int) -> Process:
        environment = {**self._environment, **self._own(number)}
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", self._module, env=environment, stdout=PIPE
        )

    async def _end(self) -> None:
        running = list(self._running.values())
        for process in running:
            process.terminate()
        try:
            async with asyncio.timeout(_STOPS_WITHIN):
                for process in running:
                    await process.wait()
        except TimeoutError:
            _log.warning("processes were killed: they did not stop", count=len(self._running))
            for process in running:
                if process.returncode is None:
                    process.kill()


async def _all(events: Sequence[asyncio.Event], then: asyncio.Event) -> None:
    for event in events:
        await event.wait()
    then.set()
