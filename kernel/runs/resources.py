"""What a service opens at its start and closes at its end, the same for both."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kernel.generation.credentials import Credentials
from kernel.generation.hub import RunHub
from kernel.generation.registry import Providers
from kernel.generation.runner import RunLimits
from kernel.runs.counting import NOBODY
from kernel.runs.serving import generation_of
from kernel.runs.start import Generation
from kernel.sealing import Seals
from kernel.service_settings import ServiceSettings, guard
from kernel.storage.engine import Engines
from kernel.telemetry.metrics import Figures
from kernel.tools.mcp_servers import McpServers
from kernel.tools.mcp_settings import McpServer
from kernel.tools.proposals import Proposals
from kernel.verbs.run_store import RunLog


@dataclass(frozen=True, slots=True)
class Resources:
    engines: Engines
    providers: Providers
    servers: McpServers
    seals: Seals

    def generation(
        self,
        rows: RunLog,
        hub: RunHub,
        owner: str,
        limits: RunLimits | None,
        figures: Figures | None,
        proposals: Proposals | None = None,
    ) -> Generation:
        """See `generation_of`."""
        limits, told = limits or RunLimits(), figures or NOBODY
        return generation_of(rows, hub, self.providers, self.servers, owner, limits, proposals, told)


@asynccontextmanager
async def resources(
    settings: ServiceSettings, database_url: str, servers: Mapping[str, McpServer], secrets: Sequence[bytes]
) -> AsyncIterator[Resources]:
    """Until the block ends. A database that is this process's alone is held. Raises BadSettings, and what the
    database's engine raises."""
    seals = Seals(secrets)
    providers = Providers(settings.providers, Credentials(guard(settings), seals))
    opened = McpServers(dict(servers), guard(settings))
    engines = Engines(database_url, scrub=True)
    engines.hold()
    try:
        yield Resources(engines, providers, opened, seals)
    finally:
        await providers.aclose()
        await opened.aclose()
        await engines.close()
