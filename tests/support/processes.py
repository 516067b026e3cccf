"""Stemma's programs as real processes, for tests of start, stop and crash.

    async with gateway({"STEMMA_CONVERSATION": service.address, "STEMMA_HTTP": "127.0.0.1:0"}) as running:
        ... running.address ...

A program is started with exactly the given STEMMA_ variables (start it on port 0), is ready when it prints
`… listening on ADDRESS`, and is stopped by SIGTERM at the end of the context; one that does not stop within
STOP_SECONDS fails the test. Every failure shows what the program printed.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

LAUNCHER = Path(__file__).with_name("die_with_parent.py")
START_SECONDS = 30.0
STOP_SECONDS = 10.0
LISTENING = re.compile(r"^(\S+) listening on (\S+)$")


class ProgramError(AssertionError):
    """A program did not do what the test needs; the message ends with all that it printed."""


class Running:
    """One program. `lines` holds what it has printed so far, standard error included."""

    def __init__(self, name: str, process: Process) -> None:
        self.name = name
        self.lines: list[str] = []
        self._process = process
        self._silent = False
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        """The process id, valid after its end too."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit status, -N for signal N, None while it runs."""
        return self._process.returncode

    @property
    def address(self) -> str:
        """Where it listens: `host:port`, or `http://host:port` for what serves HTTP."""
        return self.addresses[self.name]

    @property
    def addresses(self) -> dict[str, str]:
        """Every `NAME listening on ADDRESS` that was printed: `stemma up` prints several."""
        found = filter(None, map(LISTENING.match, self.lines))
        return {match[1]: match[2] for match in found}

    async def _read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            async with self._news:
                self.lines.append(line.decode(errors="replace").rstrip("\n"))
                self._news.notify_all()
        async with self._news:
            self._silent = True
            self._news.notify_all()

    def error(self, what: str) -> ProgramError:
        """The error to raise, with everything that the program printed."""
        return ProgramError(f"{self.name} {what}; it printed:\n" + "\n".join(self.lines or ["(nothing)"]))

    async def line(self, pattern: str, timeout: float = START_SECONDS) -> re.Match[str]:
        """The first printed line that `pattern` is found in, waiting for it.

        Raises ProgramError when the program ends or `timeout` seconds pass before.
        """
        expression = re.compile(pattern)

        def found() -> re.Match[str] | None:
            return next(filter(None, map(expression.search, self.lines)), None)

        try:
            async with asyncio.timeout(timeout), self._news:
                await self._news.wait_for(lambda: found() or self._silent)
        except TimeoutError:
            raise self.error(f"did not print {pattern!r} within {timeout} s") from None
        match = found()
        if match is None:
            raise self.error(f"ended with {await self.wait()} before it printed {pattern!r}")
        return match

    def send(self, number: int) -> None:
        """Sends a signal, if the program still runs."""
        if self.returncode is None:
            self._process.send_signal(number)

    async def wait(self, timeout: float = STOP_SECONDS) -> int:
        """Its exit status, once it and all that it started have ended.

        Raises ProgramError when `timeout` seconds pass before.
        """
        try:
            async with asyncio.timeout(timeout):
                status = await self._process.wait()
        except TimeoutError:
            raise self.error(f"still runs after {timeout} s") from None
        try:
            await asyncio.wait_for(asyncio.shield(self._reading), STOP_SECONDS)
        except TimeoutError:
            raise self.error("has ended, but something that it started holds its output open") from None
        return status

    async def stop(self, number: int = signal.SIGTERM, timeout: float = STOP_SECONDS) -> int:
        """Sends a signal and waits for the end: its exit status."""
        self.send(number)
        return await self.wait(timeout)

    async def kill(self) -> None:
        """Ends it at once, as a crash would."""
        await self.stop(signal.SIGKILL)


@asynccontextmanager
async def running(
    name: str, command: Sequence[str], environment: Mapping[str, str], *, ready: str | None = None
) -> AsyncIterator[Running]:
    """A program for as long as the context lasts, ready at entry and gone afterwards.

    `name` is what it calls itself in `NAME listening on …`; `ready`, a pattern to wait for instead; an empty
    one waits for nothing. Raises ProgramError when it does not become ready, or does not stop.
    """
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("STEMMA_")}
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, str(LAUNCHER), str(os.getpid()), *command],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        env={**inherited, "PYTHONUNBUFFERED": "1", **environment},
        limit=2**20,
    )
    program = Running(name, process)
    try:
        if ready != "":
            await program.line(ready or rf"^{re.escape(name)} listening on ")
        yield program
        await program.stop()
    finally:
        if program.returncode is None:
            await program.kill()
        else:
            await program.wait()


def conversation_service(environment: Mapping[str, str]) -> AbstractAsyncContextManager[Running]:
    """`python -m conversation_service`; `address` is where its gRPC listens."""
    return running("conversation_service", [sys.executable, "-m", "conversation_service"], environment)


def gateway(environment: Mapping[str, str]) -> AbstractAsyncContextManager[Running]:
    """`python -m gateway`; `address` is its base URL."""
    return running("gateway", [sys.executable, "-m", "gateway"], environment)


def stemma_up(environment: Mapping[str, str]) -> AbstractAsyncContextManager[Running]:
    """`stemma up`, ready when its gateway is; `addresses` holds both services'."""
    command = [sys.executable, "-c", "from stemma_cli.main import app; app()", "up"]
    return running("gateway", command, environment)
