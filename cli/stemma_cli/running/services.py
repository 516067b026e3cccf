"""Child processes: what they print first, their ends, and stopping them in good order.

One thread does it all. When a parent is killed, the kernel tells its children so once for each of its
threads, and a service that is told twice stops at once, without finishing what it has begun.
"""

import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stemma_cli.errors import CliError

CHILD = Path(__file__).with_name("child.py")
# Seconds: until a service must listen (it may have to migrate a large database); that a service has to end
# before the next one is told to; that all have.
START_SECONDS = 120.0
NEXT_SECONDS = 2.0
STOP_SECONDS = 9.5


@dataclass(frozen=True, slots=True)
class Said:
    """A line on a service's standard output."""

    name: str
    line: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A service's process is gone; `code` as subprocess has it."""

    name: str
    code: int


@dataclass(frozen=True, slots=True)
class Signalled:
    """Somebody wants us to stop."""


class Stopped(Exception):
    """A signal came while something was waited for."""


class ServiceFailed(CliError):
    """A service ended, or did not start."""


class Services:
    """The running services, in the order in which they were started."""

    def __init__(self) -> None:
        self._events: deque[Said | Ended | Signalled] = deque()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._unread: dict[str, bytes] = {}
        self._selector = selectors.DefaultSelector()

    @contextmanager
    def signals(self) -> Iterator[None]:
        """SIGINT, SIGTERM and SIGHUP are heard by whatever waits here."""
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        ours, wakes = socket.socketpair()
        ours.setblocking(False)
        wakes.setblocking(False)
        self._selector.register(ours, selectors.EVENT_READ, ours)
        wakeup = signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        before = [
            signal.signal(number, lambda _number, _frame: self._events.append(Signalled()))
            for number in numbers
        ]
        try:
            yield
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)
            signal.set_wakeup_fd(wakeup)
            self._selector.unregister(ours)
            ours.close()
            wakes.close()

    def start(self, name: str, environment: Mapping[str, str]) -> str:
        """Runs `python -m NAME`, waits for its `NAME listening on ADDRESS`, and returns the address.

        It has a session of its own, so that Ctrl-C reaches us alone. Its standard error is ours.

        Raises:
            Stopped: A signal came before.
            ServiceFailed: It, or one that was started before, has ended; or it does not listen in time.
        """
        process = subprocess.Popen(
            [sys.executable, str(CHILD), str(os.getpid()), name],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._processes[name] = process
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, name)
        return self._address(name)

    def _next(self, until: float | None = None) -> Said | Ended | Signalled | None:
        """What happens next; None when nothing does before `until`, a time.monotonic()."""
        while not self._events:
            left = None if until is None else max(0.0, until - time.monotonic())
            ready = self._selector.select(left)
            for key, _ in ready:
                if isinstance(key.data, str):
                    self._read(key.data)
                else:
                    key.data.recv(4_096)
            if not ready and left is not None and not self._events:
                return None
        return self._events.popleft()

    def _read(self, name: str) -> None:
        process = self._processes[name]
        assert process.stdout is not None
        piece = os.read(process.stdout.fileno(), 65_536)
        *lines, self._unread[name] = (self._unread.get(name, b"") + piece).split(b"\n")
        self._events.extend(Said(name, line.decode(errors="replace")) for line in lines)
        if not piece:
            # The end of its output is the end of the process.
            self._selector.unregister(process.stdout)
            process.stdout.close()
            self._events.append(Ended(name, process.wait()))

    def _address(self, name: str) -> str:
        until = time.monotonic() + START_SECONDS
        while True:
            match self._next(until):
                case None:
                    raise ServiceFailed(f"{name} does not listen after {START_SECONDS:.0f} s.")
                case Said(line=line) if match := re.fullmatch(rf"{name} listening on (\S+)", line):
                    return match[1]
                case Signalled():
                    raise Stopped
                case Ended(name=ended) if ended == name:
                    raise ServiceFailed(f"{name} did not start; what it said about that is above.")
                case Ended(name=ended, code=code):
                    raise ServiceFailed(f"{ended} ended by itself ({_how(code)}).")

    def wait(self) -> None:
        """Returns at a signal. Raises ServiceFailed when a service ends by itself."""
        while True:
            match self._next():
                case Signalled():
                    return
                case Ended(name=name, code=code):
                    raise ServiceFailed(f"{name} ended by itself ({_how(code)}); the others are stopped too.")

    def stop(self) -> list[str]:
        """Ends all, the last started first, and returns the names of those that had to be killed.

        Each has NEXT_SECONDS before the one that it depends on is told to end too: what streams through both
        then gets its last frame. A signal in the meantime kills what is left.
        """
        until = time.monotonic() + STOP_SECONDS
        started = list(reversed(self._processes.items()))
        try:
            for _, process in started:
                process.terminate()
                self._await_end([process], min(until, time.monotonic() + NEXT_SECONDS))
            self._await_end([process for _, process in started], until)
        except Stopped:
            pass
        left = [name for name, process in started if process.poll() is None]
        for name in left:
            self._processes[name].kill()
            self._processes[name].wait()
        return left

    def _await_end(self, processes: list[subprocess.Popen[bytes]], until: float) -> None:
        """Until all have ended or the time is up. Raises Stopped at a signal."""
        while any(process.poll() is None for process in processes):
            event = self._next(until)
            if event is None:
                return
            if isinstance(event, Signalled):
                raise Stopped


def _how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
