"""How many calls are answered at once, and whether new ones still are."""

import asyncio
import functools
from typing import Any

from kernel.errors import Exhausted, Unavailable
from kernel.rpc.exchange import Exchange

# Long enough for a burst to pass, short enough for a person who waits.
_RETRY_AFTER_S = 1.0


class Gate:
    """Counts the admitted calls, unary ones and streams apart, so that neither starves the other."""

    def __init__(self, max_calls: int, max_streams: int) -> None:
        self._limits = {False: max_calls, True: max_streams}
        self._active = {False: 0, True: 0}
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False

    @property
    def active(self) -> int:
        """Admitted calls whose answer has not been sent to its end."""
        return sum(self._active.values())

    def admit(self, exchange: Exchange) -> None:
        """Counts the call until grpc is done with it.

        Raises Unavailable once the gate is closed, Exhausted `OVERLOADED` when it is full.
        """
        if self._closed:
            raise Unavailable("UNAVAILABLE", "The server is stopping. Retry with the same request_id.")
        kind = exchange.method.streams
        if self._active[kind] >= self._limits[kind]:
            error = Exhausted("OVERLOADED", "The server has too many calls at once. Retry a little later.")
            error.retry_after = _RETRY_AFTER_S
            raise error
        self._active[kind] += 1
        self._idle.clear()
        # Not at the end of the handler: a drain must wait for the answer's last byte, too.
        # (Any: the stubs declare a class that callbacks would have to inherit from.)
        done: Any = functools.partial(self._leave, kind)
        exchange.context.add_done_callback(done)

    def close(self) -> None:
        """No call is admitted any more."""
        self._closed = True

    async def idle(self) -> None:
        """Returns when no admitted call is left."""
        await self._idle.wait()

    def _leave(self, kind: bool, _context: object) -> None:
        self._active[kind] -= 1
        if not self.active:
            self._idle.set()
