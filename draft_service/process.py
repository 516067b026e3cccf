"""`python -m draft_service`: from its settings to its exit code."""

import asyncio
import sys

import structlog
from pydantic import ValidationError

from draft_service.main import build
from draft_service.settings import BadSettings, Settings, auth_is_on, explained
from kernel.errors import StemmaError
from kernel.rpc.logs import configure_logs
from kernel.rpc.server import CannotListen
from kernel.rpc.signals import run_until_signal
from kernel.rpc.tls import BadCertificates
from kernel.storage.failures import Refused
from kernel.telemetry.endpoint import CannotServeMetrics
from kernel.telemetry.tracing import NoTraces, traces

log = structlog.get_logger(__name__)


def run() -> None:
    """Serves until a signal. Exits with 0 after a drain, with a sentence when it cannot start."""
    try:
        settings = Settings()
    except ValidationError as error:
        sys.exit(f"draft_service: {explained(error)}")
    configure_logs(style=settings.log_format, level=settings.log_level)

    async def main(stop: asyncio.Event) -> None:
        async with build(settings) as service:
            print(f"draft_service listening on {service.address}", flush=True)
            if not auth_is_on(settings) and not settings.auth:
                log.warning("STEMMA_AUTH is off: everybody on this machine is the owner of tenant `local`")
            await stop.wait()

    try:
        with traces.through("draft"):
            run_until_signal(main)
    except (BadSettings, BadCertificates, CannotListen, CannotServeMetrics, NoTraces, StemmaError) as error:
        sys.exit(f"draft_service: {error}")
    except Refused as error:
        sys.exit(
            f"draft_service: the database refuses ({error}): check user, password and name in"
            " STEMMA_DRAFT_DATABASE_URL."
        )
