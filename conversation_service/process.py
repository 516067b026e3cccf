"""`python -m conversation_service`: from its settings to its exit code."""

import asyncio
import gc
import os
import sys
from collections.abc import Callable

import structlog
from pydantic import ValidationError

from conversation_service.main import build
from conversation_service.memory import keep_freed_memory
from conversation_service.settings import (
    BadSettings,
    Settings,
    auth_is_on,
    check_processes,
    explained,
    secret_keys,
)
from kernel.errors import StemmaError
from kernel.rpc.logs import configure_logs
from kernel.rpc.server import CannotListen
from kernel.rpc.signals import run_until_signal
from kernel.rpc.tls import BadCertificates
from kernel.rpc.workers import Workers, end_with_parent, held_port
from kernel.storage.failures import Refused
from kernel.telemetry.endpoint import CannotServeMetrics
from kernel.telemetry.tracing import NoTraces, traces

log = structlog.get_logger(__name__)


def run() -> None:
    """Serves until a signal. Exits with 0 after a drain, with a sentence when it cannot start."""
    end_with_parent()
    try:
        settings = Settings()
    except ValidationError as error:
        sys.exit(f"conversation_service: {explained(error)}")
    configure_logs(style=settings.log_format, level=settings.log_level)

    async def main(stop: asyncio.Event) -> None:
        if settings.processes > 1:
            await _several(settings, stop)
        else:
            await _one(settings, stop)

    try:
        with traces.through("conversation"):
            run_until_signal(main)
    except (BadSettings, BadCertificates, CannotListen, CannotServeMetrics, NoTraces, StemmaError) as error:
        sys.exit(f"conversation_service: {error}")
    except Refused as error:
        sys.exit(
            f"conversation_service: the database refuses ({error}): check user, password and name in"
            " STEMMA_CONVERSATION_DATABASE_URL."
        )


async def _one(settings: Settings, stop: asyncio.Event) -> None:
    keep_freed_memory()
    async with build(settings) as service:
        _collect_rarely()
        _said(settings, service.address)
        await stop.wait()


def _collect_rarely() -> None:
    """What is here now stays: the collector need not walk it again and again. And each call makes
    hundreds of objects that go by themselves, so that it is asked less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


async def _several(settings: Settings, stop: asyncio.Event) -> None:
    auth_is_on(settings)
    check_processes(settings)
    secret_keys(settings)
    with held_port(settings.conversation) as address:
        environment = {**os.environ, "STEMMA_PROCESSES": "1", "STEMMA_CONVERSATION": address}
        workers = Workers("conversation_service", settings.processes, environment, _own(settings))
        ready = asyncio.Event()
        running = asyncio.create_task(workers.run(stop, ready))
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED)
        if ready.is_set():
            _said(settings, address)
        waiting.cancel()
        await running


def _own(settings: Settings) -> Callable[[int], dict[str, str]]:
    """A port of its own for the figures of each process, from the named one on."""

    def environment(number: int) -> dict[str, str]:
        host, _, port = settings.conversation_metrics.rpartition(":")
        if not port.isdigit() or port == "0":
            return {}
        return {"STEMMA_CONVERSATION_METRICS": f"{host}:{int(port) + number}"}

    return environment


def _said(settings: Settings, address: str) -> None:
    print(f"conversation_service listening on {address}", flush=True)
    if not auth_is_on(settings) and not settings.auth:
        log.warning("STEMMA_AUTH is off: everybody on this machine is the owner of tenant `local`")
