"""Puts the draft service together. `process.py` runs it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

import grpc
from stemma.draft.v1 import draft_service_pb2

from draft_service.app.sweeper import Sweeper
from draft_service.app.world import World
from draft_service.clients.conversation import OPTIONS, Conversation
from draft_service.migrate import SCRIPTS
from draft_service.rpc.drafts import Drafts
from draft_service.rpc.exports import Exports
from draft_service.rpc.floors import Floors
from draft_service.rpc.proposing import Proposing
from draft_service.rpc.runs import Runs
from draft_service.settings import Settings, check_auth, secret_keys
from draft_service.storage.due import DueDrafts
from draft_service.storage.store import DraftStore
from kernel.clock import new_uuid7, utc_now
from kernel.generation.credentials import Credentials
from kernel.generation.hub import RunHub
from kernel.generation.registry import Providers
from kernel.generation.runner import RunLimits
from kernel.rpc.server import Server, serve
from kernel.rpc.tokens import PageTokens
from kernel.runs.beat import beating
from kernel.runs.control import HubRuns
from kernel.runs.serving import generation_of
from kernel.runs.start import Generation
from kernel.runs.tail import RunTail
from kernel.sealing import Seals
from kernel.service_settings import guard, mcp_servers
from kernel.steady import steadily
from kernel.storage.engine import Engines
from kernel.storage.migrate import migrate
from kernel.storage.processes import Processes
from kernel.storage.statistics import Statistics
from kernel.tools.mcp_servers import McpServers
from kernel.verbs.env import Env
from kernel.wire.codec import WireCodec

# Seconds: that runs may take to end by themselves when the service stops; that stopping may take in all.
_RUNS_END, _STOPS_WITHIN = 4.0, 9.0


class DraftServicer(Drafts, Floors, Runs, Exports):
    """DraftService."""

    def __init__(self, world: World, generation: Generation, tail: RunTail, tokens: PageTokens) -> None:
        Drafts.__init__(self, world, generation.providers, tokens)
        Floors.__init__(self, world, tokens)
        Runs.__init__(self, world, generation, tail)
        Exports.__init__(self, world, tokens)


@dataclass(frozen=True, slots=True)
class Service:
    """A running service. `address` is where it listens."""

    address: str
    world: World
    generation: Generation
    server: Server
    store: DraftStore
    sweeper: Sweeper


@asynccontextmanager
async def build(
    settings: Settings,
    *,
    clock: Callable[[], datetime] = utc_now,
    new_id: Callable[[], str] = new_uuid7,
    limits: RunLimits | None = None,
) -> AsyncIterator[Service]:
    """The service, serving; it drains when the block ends.

    Raises BadSettings, CannotListen, or an error of the kernel when the database cannot be used.
    """
    check_auth(settings)
    secrets = secret_keys(settings)
    tokens = PageTokens(secrets)
    providers = Providers(settings.providers, Credentials(guard(settings), Seals(secrets)))
    servers = McpServers(mcp_servers(settings.draft_mcp_servers, "STEMMA_DRAFT_MCP_SERVERS"), guard(settings))
    engines = Engines(settings.database_url, scrub=True)
    engines.hold()
    try:
        await migrate(engines, SCRIPTS)
        store = DraftStore(engines, clock)
        hub, codec = RunHub(), WireCodec()
        env = Env(store, HubRuns(hub, codec), codec, clock, new_id)
        generation = generation_of(
            store.run_log, hub, providers, servers, new_id(), limits or RunLimits(), Proposing(providers)
        )
        tail = RunTail(store.run_log)
        async with grpc.aio.insecure_channel(settings.conversation, options=OPTIONS) as channel:
            conversation = Conversation(channel)
            world = World(env, store, conversation, conversation, settings.ages)
            sweeper = Sweeper(world, DueDrafts(engines))
            async with (
                beating(
                    env,
                    generation,
                    Processes(engines, generation.owner),
                    Statistics(engines),
                    store.run_log,
                ),
                _sweeping(sweeper),
            ):
                server = await _serve(settings, DraftServicer(world, generation, tail, tokens), hub, tail)
                try:
                    yield Service(server.address, world, generation, server, store, sweeper)
                finally:
                    await server.drain(_STOPS_WITHIN)
                    await hub.drain(0)
                    await store.idle()
    finally:
        await providers.aclose()
        await servers.aclose()
        await engines.close()


async def _serve(settings: Settings, servicer: DraftServicer, hub: RunHub, tail: RunTail) -> Server:
    async def before_stop() -> None:
        await tail.close()
        await hub.drain(_RUNS_END)

    service = draft_service_pb2.DESCRIPTOR.services_by_name["DraftService"]
    return await serve({service: servicer}, settings.draft, before_stop=before_stop)


@asynccontextmanager
async def _sweeping(sweeper: Sweeper) -> AsyncIterator[None]:
    task = asyncio.create_task(steadily(sweeper.run))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
