"""The gateway's process: settings from the environment, one line when it is ready, 0 at a clean end."""

import asyncio
import signal
import sys
from functools import partial

import structlog
from pydantic import ValidationError

from gateway.app import build
from gateway.server import serve
from gateway.settings import Settings
from kernel.rpc.logs import configure_logs
from kernel.rpc.tls import BadCertificates
from kernel.telemetry.tracing import NoTraces, traces

__all__ = ["build", "main"]


def main() -> None:
    """Runs until SIGTERM or SIGINT. Exits with 2 for settings that it refuses, 1 for an address that
    cannot be had."""
    try:
        settings = Settings()
    except ValidationError as error:
        sys.exit(_refused(error))
    # stdout is for the one line that says where we listen.
    configure_logs(style=settings.log_format, level=settings.log_level)
    try:
        with traces.through("gateway"):
            asyncio.run(_run(settings))
    except (BadCertificates, NoTraces) as error:
        print(f"gateway: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"gateway: cannot listen on {settings.http}: {error.strerror}", file=sys.stderr)
        sys.exit(1)


async def _run(settings: Settings) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await serve(settings, on_ready=partial(_say_ready, settings), stop=stop)


def _say_ready(settings: Settings, url: str) -> None:
    if not settings.access_on:
        structlog.get_logger("gateway").warning(
            "STEMMA_AUTH is off: everybody on this machine is the owner of tenant `local`"
        )
    print(f"gateway listening on {url}", flush=True)


def _refused(error: ValidationError) -> int:
    for one in error.errors(include_url=False, include_input=False):
        name = "".join(f"STEMMA_{part}".upper() for part in one["loc"][:1])
        text = one["msg"].removeprefix("Value error, ")
        print(f"gateway: {name}: {text}" if name else f"gateway: {text}", file=sys.stderr)
    return 2
