"""What a service needs to have runs: put together once for both services."""

from kernel.generation.hub import RunHub
from kernel.generation.lease import Lease
from kernel.generation.registry import Providers
from kernel.generation.runner import RunLimits
from kernel.prompt.config import Config
from kernel.runs.counting import NOBODY
from kernel.runs.log import ChunkLog
from kernel.runs.start import Generation
from kernel.telemetry.metrics import Figures
from kernel.tools.box import RunTools, tools_of
from kernel.tools.effects import effects_of
from kernel.tools.mcp_servers import McpServers
from kernel.tools.proposals import Proposals
from kernel.tools.views import standing_calls
from kernel.verbs.env import Env
from kernel.verbs.run_store import RunLog


def generation_of(
    rows: RunLog,
    hub: RunHub,
    providers: Providers,
    servers: McpServers,
    owner: str,
    limits: RunLimits,
    proposals: Proposals | None = None,
    figures: Figures = NOBODY,
) -> Generation:
    """Runs of this process, named `owner`, with tools; models can propose where `proposals` are kept, and
    `figures` are told what runs do."""

    def tools(env: Env, lease: Lease, config: Config, limits: RunLimits) -> RunTools:
        return tools_of(env, servers, lease, config, limits, proposals)

    log = ChunkLog(rows, hub, owner)
    return Generation(providers, hub, log, owner, limits, tools, effects_of, standing_calls, figures)
