"""Puts the service together. `process.py` runs it."""

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from google.protobuf.descriptor import ServiceDescriptor
from stemma.conversation.v1 import (
    access_service_pb2,
    admin_service_pb2,
    audit_service_pb2,
    context_service_pb2,
    event_service_pb2,
    floor_service_pb2,
    project_service_pb2,
    run_service_pb2,
    session_service_pb2,
    snapshot_service_pb2,
    staged_write_service_pb2,
    state_service_pb2,
)

from conversation_service.app.staged_expiry import Expiry
from conversation_service.door import Door, door
from conversation_service.expiring import expiring
from conversation_service.following import Following, following
from conversation_service.limiting import limits_of
from conversation_service.migrate import SCRIPTS
from conversation_service.rpc.access import Access
from conversation_service.rpc.admin import Admin
from conversation_service.rpc.configs import Projects
from conversation_service.rpc.contexts import Contexts
from conversation_service.rpc.events import Events
from conversation_service.rpc.floor_merges import FloorMerges
from conversation_service.rpc.floor_reads import FloorReads
from conversation_service.rpc.floor_stream import FloorStream
from conversation_service.rpc.floor_writes import FloorWrites
from conversation_service.rpc.keys import Keys
from conversation_service.rpc.paths import Paths
from conversation_service.rpc.permits import Permits
from conversation_service.rpc.runs import Runs
from conversation_service.rpc.search import FloorSearch
from conversation_service.rpc.sessions import Sessions
from conversation_service.rpc.snapshots import Snapshots
from conversation_service.rpc.staged_writes import StagedWrites
from conversation_service.rpc.states import States
from conversation_service.rpc.transfers import Transfers
from conversation_service.settings import Settings, auth_is_on, mcp_servers, secret_keys
from conversation_service.storage.store import ConversationStore
from kernel.clock import new_uuid7, utc_now
from kernel.generation.hub import RunHub
from kernel.generation.registry import Providers
from kernel.generation.runner import RunLimits
from kernel.rpc.quotas import Limits
from kernel.rpc.server import Server, ServerOptions, serve
from kernel.rpc.tokens import PageTokens
from kernel.rpc.workers import PARENT
from kernel.runs.beat import beating
from kernel.runs.control import HubRuns
from kernel.runs.resources import resources
from kernel.runs.start import Generation
from kernel.runs.tail import RunTail
from kernel.storage.audit import Chains
from kernel.storage.feeds import Feeds
from kernel.storage.migrate import migrate
from kernel.storage.processes import Processes
from kernel.storage.resealing import resealing
from kernel.storage.scrubbing import Scrubber, scrubbing
from kernel.storage.staged import Ledgers
from kernel.storage.statistics import Statistics
from kernel.storage.store import SqlStore
from kernel.telemetry.endpoint import metrics_served
from kernel.telemetry.metrics import Metrics
from kernel.verbs.denials import DenialLog
from kernel.verbs.env import Env
from kernel.verbs.sealer import Sealer, sealing
from kernel.wire.audit import Audits
from kernel.wire.byte_cache import ByteCache
from kernel.wire.codec import WireCodec
from kernel.wire.path_cache import PathCache

# Bytes of paths and of contexts that are kept for the next reader.
_PATH_CACHE = 64 * 1024 * 1024
_CONTEXT_CACHE = 32 * 1024 * 1024
# Seconds: that runs may take to end by themselves when the service stops; that stopping may take in all.
_RUNS_END, _STOPS_WITHIN = 4.0, 9.0


class SessionsAndFiles(Sessions, Transfers):
    """SessionService."""

    def __init__(self, env: Env, providers: Providers, tokens: PageTokens) -> None:
        Sessions.__init__(self, env, providers, tokens)
        Transfers.__init__(self, env)


class Floors(FloorWrites, FloorStream, FloorReads, Paths, FloorMerges, FloorSearch):
    """FloorService."""

    def __init__(self, env: Env, tokens: PageTokens, cache: PathCache) -> None:
        FloorWrites.__init__(self, env)
        FloorStream.__init__(self, env)
        FloorReads.__init__(self, env, tokens)
        Paths.__init__(self, env, tokens, cache)
        FloorMerges.__init__(self, env, tokens)
        FloorSearch.__init__(self, env, tokens)


class AccessAndKeys(Access, Keys):
    """AccessService."""

    def __init__(
        self, env: Env, store: ConversationStore, masters: list[bytes], way_in: Door, tokens: PageTokens
    ) -> None:
        Access.__init__(self, env, way_in.authenticator)
        Keys.__init__(self, env, store, masters, way_in.keys, tokens)
        self.keys = way_in.keys


@dataclass(frozen=True, slots=True)
class Service:
    """A running service. `address` is where it listens."""

    address: str
    env: Env
    generation: Generation
    server: Server
    store: SqlStore
    following: Following
    expiry: Expiry
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
    named = mcp_servers(settings.mcp_servers, "STEMMA_MCP_SERVERS")
    figures = Metrics() if settings.conversation_metrics else None
    async with resources(settings, settings.database_url, named, secrets) as opened:
        engines = opened.engines
        await migrate(engines, SCRIPTS)
        store = ConversationStore(engines, clock)
        hub, codec = RunHub(), WireCodec()
        env = Env(store, HubRuns(hub, codec), codec, clock, new_id)
        generation = opened.generation(store.run_log, hub, new_id(), limits, figures)
        way_in = door(settings, engines, clock)
        processes, statistics = Processes(engines, generation.owner), Statistics(engines)
        async with (
            beating(env, generation, processes, statistics, store.run_log),
            following(env, store, Feeds(engines), settings.event_retention) as followers,
            expiring(env, Ledgers(engines)) as expiry,
            resealing(engines, opened.seals),
            scrubbing(engines, store) as scrubber,
            sealing(store, Chains(engines, clock).tenants) as sealer,
            limits_of(settings, store, engines, clock, way_in.on) as allowed,
            metrics_served(settings.conversation_metrics, figures.text if figures else bytes) as metrics,
        ):
            world = _World(env, store, secrets, generation, RunTail(store.run_log), followers, sealer)
            server = await _serve(settings, world, way_in, allowed, figures)
            try:
                yield Service(
                    server.address,
                    env,
                    generation,
                    server,
                    store,
                    followers,
                    expiry,
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
class _World:
    """What the servicers are made of."""

    env: Env
    store: ConversationStore
    secrets: list[bytes]
    generation: Generation
    tail: RunTail
    followers: Following
    sealer: Sealer


async def _serve(
    settings: Settings, world: _World, way_in: Door, limits: Limits, figures: Metrics | None
) -> Server:
    env = world.env

    async def before_stop() -> None:
        world.followers.hub.close()
        await world.tail.close()
        await world.generation.hub.drain(_RUNS_END)

    if figures is not None:
        _watch(figures, world)
    return await serve(
        _services(world, way_in),
        settings.conversation,
        authenticator=way_in.authenticator,
        options=ServerOptions(reuse_port=PARENT in os.environ, credentials=way_in.tls, figures=figures),
        before_stop=before_stop,
        limits=limits,
        policy=Permits(env.store) if way_in.on else None,
        denials=DenialLog(env.store, env.clock, env.new_id) if way_in.on else None,
    )


def _watch(figures: Metrics, world: _World) -> None:
    hub, store = world.generation.hub, world.store
    figures.watch("runs_in_work", "Runs of this process", lambda: hub.running)
    figures.watch("append_batches_total", "Transactions that held appends", lambda: store.batches[0])
    figures.watch("appends_total", "Turns that they held", lambda: store.batches[1])


def _services(world: _World, way_in: Door) -> dict[ServiceDescriptor, object]:
    env, generation, tail = world.env, world.generation, world.tail
    tokens, followers = PageTokens(world.secrets), world.followers
    access = AccessAndKeys(env, world.store, world.secrets, way_in, tokens)
    audits = Audits(world.store, world.sealer, tokens, audit_service_pb2.ListAuditEntriesResponse)
    providers = generation.providers
    found = {
        project_service_pb2: Projects(env, providers, tokens),
        session_service_pb2: SessionsAndFiles(env, providers, tokens),
        floor_service_pb2: Floors(env, tokens, PathCache(_PATH_CACHE)),
        run_service_pb2: Runs(env, generation, tail),
        state_service_pb2: States(env, tokens),
        admin_service_pb2: Admin(env, access.keys),
        context_service_pb2: Contexts(env, providers, ByteCache(_CONTEXT_CACHE)),
        event_service_pb2: Events(env, followers.hub),
        snapshot_service_pb2: Snapshots(env),
        staged_write_service_pb2: StagedWrites(env, providers, tokens),
        access_service_pb2: access,
        audit_service_pb2: audits,
    }
    return {_only(module.DESCRIPTOR.services_by_name): servicer for module, servicer in found.items()}


def _only(services: Mapping[str, ServiceDescriptor]) -> ServiceDescriptor:
    """Each file of the contract declares one service."""
    [service] = services.values()
    return service
