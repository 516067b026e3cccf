"""How many calls are answered at once, how many bytes they may hold, and whether new ones still are."""

import asyncio
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog

from kernel.errors import Exhausted, Unavailable
from kernel.rpc.exchange import Exchange

# Long enough for a burst to pass, short enough for a person who waits.
RETRY_AFTER_S = 1.0
# Calls whose caller is looked up, in times of those that are worked on: they hold next to nothing.
_ASIDE = 16
# Seconds between two lines that say that calls are refused: one for each would cost more than they do.
_TELL_EVERY_S = 1.0

_log = structlog.get_logger("kernel.rpc")


def overloaded() -> Exhausted:
    """OVERLOADED, with RetryInfo."""
    error = Exhausted("OVERLOADED", "The server has too much to do at once. Retry a little later.")
    error.retry_after = RETRY_AFTER_S
    return error


class Budget:
    """Bytes that all calls hold together. What is small is never counted, so that a few large calls,
    or readers that do not read, cannot keep the small ones out."""

    SMALL = 64 * 1024

    def __init__(self, most: int) -> None:
        self._most = most
        self.held = 0

    def share(self) -> "Share":
        return Share(self)

    def change(self, by: int) -> None:
        """Raises Exhausted `OVERLOADED`, and holds what it held, when that is too much."""
        if by > 0 and self.held + by > self._most:
            raise overloaded()
        self.held += by


class Share:
    """What one call holds of a budget."""

    __slots__ = ("_budget", "_held")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._held = 0

    def hold(self, size: int) -> None:
        """Holds `size` bytes in place of what it held. Raises Exhausted `OVERLOADED`."""
        counted = size if size > Budget.SMALL else 0
        if counted != self._held:
            self._budget.change(counted - self._held)
            self._held = counted


class Gate:
    """Counts the admitted calls, unary ones and streams apart, so that neither starves the other.

    `max_bytes` bounds what the requests that are being worked on hold, and once more what answers
    that were not read yet hold.
    """

    def __init__(self, max_calls: int, max_streams: int, max_bytes: int) -> None:
        self._limits = {False: max_calls, True: max_streams}
        self._working = {False: 0, True: 0}
        self._aside = {False: 0, True: 0}
        self._requests = Budget(max_bytes)
        self._answers = Budget(max_bytes)
        self._active = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False
        self._refused = 0
        # In all.
        self.refusals = 0
        self._tell_at = 0.0

    @property
    def active(self) -> int:
        """Admitted calls whose answer has not been sent to its end."""
        return self._active

    def most(self, streams: bool) -> int:
        """How many calls, or streams, are worked on at once."""
        return self._limits[streams]

    def nearly_full(self, streams: bool) -> bool:
        """Whether three quarters of them are."""
        return 4 * self._working[streams] >= 3 * self._limits[streams]

    def full(self, streams: bool) -> bool:
        """Whether one more call of that kind would be too much; said in the log, once a second.

        Answers False once the gate is closed: what is not admitted then has another reason.
        """
        if self._closed or self._working[streams] < self._limits[streams]:
            return False
        self._refused += 1
        self.refusals += 1
        now = asyncio.get_running_loop().time()
        if now >= self._tell_at:
            _log.warning("overloaded", refused=self._refused, calls=self._working[streams], streams=streams)
            self._refused, self._tell_at = 0, now + _TELL_EVERY_S
        return True

    @contextmanager
    def admitted(self, exchange: Exchange) -> Iterator[None]:
        """Counts the call's work until the block ends, and the call until grpc is done with it.

        Raises Unavailable once the gate is closed, Exhausted `OVERLOADED` when it is full.
        """
        if self._closed:
            raise Unavailable("UNAVAILABLE", "The server is stopping. Retry with the same request_id.")
        kind = exchange.method.streams
        if self.full(kind):
            raise overloaded()
        self._working[kind] += 1
        self._active += 1
        self._idle.clear()
        request, answer = self._requests.share(), self._answers.share()
        exchange.request_bytes, exchange.answer_bytes = request, answer
        # Not at the end of the handler: a drain must wait for the answer's last byte, too, and until
        # then its bytes are held. (Any: the stubs declare a class that callbacks would inherit from.)
        done: Any = functools.partial(self._done, answer)
        exchange.context.add_done_callback(done)
        try:
            yield
        finally:
            # A client that does not read its answer keeps no other from being worked for.
            self._working[kind] -= 1
            request.hold(0)

    @contextmanager
    def aside(self, streams: bool) -> Iterator[None]:
        """An admitted call whose caller is looked up is not one that is worked on: else who calls the most
        would keep the others out, by calls that cannot be counted as its own yet.

        Raises Exhausted `OVERLOADED` when far too many are looked up.
        """
        if self._aside[streams] >= _ASIDE * self._limits[streams]:
            raise overloaded()
        self._aside[streams] += 1
        self._working[streams] -= 1
        try:
            yield
        finally:
            self._aside[streams] -= 1
            self._working[streams] += 1

    def close(self) -> None:
        """No call is admitted any more."""
        self._closed = True

    async def idle(self) -> None:
        """Returns when no admitted call is left."""
        await self._idle.wait()

    def _done(self, answer: Share, _context: object) -> None:
        answer.hold(0)
        self._active -= 1
        if not self._active:
            self._idle.set()
