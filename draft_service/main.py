"""Puts the draft service together. `process.py` runs it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from google.protobuf.descriptor import ServiceDescriptor
from stemma.draft.v1 import admin_service_pb2, audit_service_pb2, draft_service_pb2

from draft_service.app.sweeper import Sweeper
from draft_service.app.world import World
from draft_service.clients.conversation import Conversation
from draft_service.door import Door, channel, door, own_metadata
from draft_service.limiting import limits_of
from draft_service.migrate import SCRIPTS
from draft_service.rpc.admin import Admin
from draft_service.rpc.drafts import Drafts
from draft_service.rpc.exports import Exports
from draft_service.rpc.floors import Floors
from draft_service.rpc.permits import Permits
from draft_service.rpc.proposing import Proposing
from draft_service.rpc.runs import Runs
from draft_service.settings import Settings, auth_is_on, secret_keys
from draft_service.storage.due import DueDrafts
from draft_service.storage.store import DraftStore
from kernel.clock import new_uuid7, utc_now
from kernel.generation.hub import RunHub
from kernel.generation.runner import RunLimits
from kernel.rpc.quotas import Limits
from kernel.rpc.server import Server, ServerOptions, serve
from kernel.rpc.tokens import PageTokens
from kernel.runs.beat import beating
from kernel.runs.control import HubRuns
from kernel.runs.resources import resources
from kernel.runs.start import Generation
from kernel.runs.tail import RunTail
from kernel.service_settings import mcp_servers
from kernel.steady import steadily
from kernel.storage.audit import Chains
from kernel.storage.migrate import migrate
from kernel.storage.processes import Processes
from kernel.storage.resealing import resealing
from kernel.storage.scrubbing import Scrubber, scrubbing
from kernel.storage.statistics import Statistics
from kernel.telemetry.endpoint import metrics_served
from kernel.telemetry.metrics import Metrics
from kernel.verbs.denials import DenialLog
from kernel.verbs.env import Env
from kernel.verbs.sealer import Sealer, sealing
from kernel.wire.audit import Audits
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
    scrubber: Scrubber
    sealer: Sealer
    limits: Limits
    # Where the figures are; "" for nowhere.
    metrics: str = ""


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
    auth_is_on(settings)
    secrets = secret_keys(settings)
    named = mcp_servers(settings.draft_mcp_servers, "STEMMA_DRAFT_MCP_SERVERS")
    figures = Metrics() if settings.draft_metrics else None
    async with (
        resources(settings, settings.database_url, named, secrets) as opened,
        channel(settings) as to_conversation,
    ):
        engines = opened.engines
        await migrate(engines, SCRIPTS)
        store = DraftStore(engines, clock)
        hub, codec = RunHub(), WireCodec()
        env = Env(store, HubRuns(hub, codec), codec, clock, new_id)
        proposing = Proposing(opened.providers)
        generation = opened.generation(store.run_log, hub, new_id(), limits, figures, proposing)
        way_in = door(settings, to_conversation)
        conversation = Conversation(to_conversation, own_metadata(settings))
        world = World(env, store, conversation, conversation, settings.ages, way_in.introspection)
        sweeper = Sweeper(world, DueDrafts(engines))
        processes, statistics = Processes(engines, generation.owner), Statistics(engines)
        async with (
            beating(env, generation, processes, statistics, store.run_log),
            _sweeping(sweeper),
            resealing(engines, opened.seals),
            scrubbing(engines, store) as scrubber,
            sealing(store, Chains(engines, clock).tenants) as sealer,
            limits_of(settings, store, engines, clock, way_in.on) as allowed,
            metrics_served(settings.draft_metrics, figures.text if figures else bytes) as metrics,
        ):
            served = _Served(world, generation, RunTail(store.run_log), sealer, PageTokens(secrets))
            server = await _serve(settings, served, way_in, allowed, figures)
            try:
                yield Service(
                    server.address,
                    world,
                    generation,
                    server,
                    store,
                    sweeper,
                    scrubber,
                    sealer,
                    allowed,
                    metrics,
                )
            finally:
                await server.drain(_STOPS_WITHIN)
                await hub.drain(0)
                await store.idle()


@dataclass(frozen=True, slots=True)
class _Served:
    """What the servicers are made of."""

    world: World
    generation: Generation
    tail: RunTail
    sealer: Sealer
    tokens: PageTokens


def _services(served: _Served) -> dict[ServiceDescriptor, object]:
    world, tokens = served.world, served.tokens
    drafts = DraftServicer(world, served.generation, served.tail, tokens)
    audits = Audits(world.store, served.sealer, tokens, audit_service_pb2.ListAuditEntriesResponse)
    return {
        draft_service_pb2.DESCRIPTOR.services_by_name["DraftService"]: drafts,
        audit_service_pb2.DESCRIPTOR.services_by_name["AuditService"]: audits,
        admin_service_pb2.DESCRIPTOR.services_by_name["AdminService"]: Admin(world.env),
    }


async def _serve(
    settings: Settings, served: _Served, way_in: Door, limits: Limits, figures: Metrics | None
) -> Server:
    env, hub = served.world.env, served.generation.hub

    async def before_stop() -> None:
        await served.tail.close()
        await hub.drain(_RUNS_END)

    if figures is not None:
        figures.watch("runs_in_work", "Runs of this process", lambda: hub.running)
    return await serve(
        _services(served),
        settings.draft,
        authenticator=way_in.authenticator,
        options=ServerOptions(credentials=way_in.tls, figures=figures),
        before_stop=before_stop,
        limits=limits,
        policy=Permits(served.world.store, way_in.introspection) if way_in.on else None,
        denials=DenialLog(env.store, env.clock, env.new_id) if way_in.on else None,
    )


@asynccontextmanager
async def _sweeping(sweeper: Sweeper) -> AsyncIterator[None]:
    task = asyncio.create_task(steadily(sweeper.run))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
