"""Running a service's main until SIGTERM or SIGINT."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable

import structlog
import uvloop

_log = structlog.get_logger("kernel.rpc")

Main = Callable[[asyncio.Event], Awaitable[None]]


def run_until_signal(main: Main, *, install_uvloop: bool = True) -> None:
    """Runs `main(stop)` to its end; the first SIGTERM or SIGINT sets `stop`.

    `main` waits for `stop` and then ends in its own time. A second signal ends the process at once,
    with 128 + its number as exit code: acknowledged writes are on disk already (R2). Call it from
    the main thread, outside any event loop.
    """
    factory = uvloop.new_event_loop if install_uvloop else None
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_guarded(main))


async def _guarded(main: Main) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        if stop.is_set():
            _log.warning("stopping at once", signal=number.name)
            os._exit(128 + number)
        # First: a closed stderr must not lose the signal.
        stop.set()
        _log.info("stopping; once more to stop at once", signal=number.name)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal, number)
    try:
        await main(stop)
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
