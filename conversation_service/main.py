"""Puts the service together. `process.py` runs it."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from stemma.conversation.v1 import (
    access_service_pb2,
    admin_service_pb2,
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
from conversation_service.expiring import expiring
from conversation_service.following import Following, following
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
from conversation_service.rpc.paths import Paths
from conversation_service.rpc.runs import Runs
from conversation_service.rpc.search import FloorSearch
from conversation_service.rpc.sessions import Sessions
from conversation_service.rpc.snapshots import Snapshots
from conversation_service.rpc.staged_writes import StagedWrites
from conversation_service.rpc.states import States
from conversation_service.rpc.transfers import Transfers
from conversation_service.settings import Settings, check_auth, guard, mcp_servers, secret_keys
from kernel.clock import new_uuid7, utc_now
from kernel.generation.credentials import Credentials
from kernel.generation.hub import RunHub
from kernel.generation.registry import Providers
from kernel.generation.runner import RunLimits
from kernel.rpc.call import LocalAuthenticator
from kernel.rpc.server import Server, ServerOptions, serve
from kernel.rpc.tokens import PageTokens
from kernel.rpc.workers import PARENT
from kernel.runs.beat import beating
from kernel.runs.control import HubRuns
from kernel.runs.serving import generation_of
from kernel.runs.start import Generation
from kernel.runs.tail import RunTail
from kernel.sealing import Seals
from kernel.storage.engine import Engines
from kernel.storage.feeds import Feeds
from kernel.storage.migrate import migrate
from kernel.storage.processes import Processes
from kernel.storage.staged import Ledgers
from kernel.storage.statistics import Statistics
from kernel.storage.store import SqlStore
from kernel.tools.mcp_servers import McpServers
from kernel.verbs.env import Env
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
    servers = McpServers(mcp_servers(settings.mcp_servers, "STEMMA_MCP_SERVERS"), guard(settings))
    engines = Engines(settings.database_url)
    engines.hold()
    try:
        await migrate(engines, SCRIPTS)
        store = SqlStore(engines, clock)
        hub, codec = RunHub(), WireCodec()
        env = Env(store, HubRuns(hub, codec), codec, clock, new_id)
        generation = generation_of(store.run_log, hub, providers, servers, new_id(), limits or RunLimits())
        tail = RunTail(store.run_log)
        processes, statistics = Processes(engines, generation.owner), Statistics(engines)
        async with (
            beating(env, generation, processes, statistics, store.run_log),
            following(env, store, Feeds(engines), settings.event_retention) as followers,
            expiring(env, Ledgers(engines)) as expiry,
        ):
            server = await _serve(settings, env, generation, tail, tokens, followers)
            try:
                yield Service(server.address, env, generation, server, store, followers, expiry)
            finally:
                await server.drain(_STOPS_WITHIN)
                await hub.drain(0)
                await store.idle()
    finally:
        await providers.aclose()
        await servers.aclose()
        await engines.close()


async def _serve(
    settings: Settings,
    env: Env,
    generation: Generation,
    tail: RunTail,
    tokens: PageTokens,
    followers: Following,
) -> Server:
    providers, authenticator = generation.providers, LocalAuthenticator()
    services = {
        project_service_pb2.DESCRIPTOR.services_by_name["ProjectService"]: Projects(env, providers, tokens),
        session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]: SessionsAndFiles(
            env, providers, tokens
        ),
        floor_service_pb2.DESCRIPTOR.services_by_name["FloorService"]: Floors(
            env, tokens, PathCache(_PATH_CACHE)
        ),
        run_service_pb2.DESCRIPTOR.services_by_name["RunService"]: Runs(env, generation, tail),
        state_service_pb2.DESCRIPTOR.services_by_name["StateService"]: States(env, tokens),
        admin_service_pb2.DESCRIPTOR.services_by_name["AdminService"]: Admin(env),
        context_service_pb2.DESCRIPTOR.services_by_name["ContextService"]: Contexts(
            env, providers, ByteCache(_CONTEXT_CACHE)
        ),
        event_service_pb2.DESCRIPTOR.services_by_name["EventService"]: Events(env, followers.hub),
        snapshot_service_pb2.DESCRIPTOR.services_by_name["SnapshotService"]: Snapshots(env),
        staged_write_service_pb2.DESCRIPTOR.services_by_name["StagedWriteService"]: StagedWrites(
            env, providers, tokens
        ),
        access_service_pb2.DESCRIPTOR.services_by_name["AccessService"]: Access(authenticator),
    }

    async def before_stop() -> None:
        followers.hub.close()
        await tail.close()
        await generation.hub.drain(_RUNS_END)

    return await serve(
        services,
        settings.conversation,
        authenticator=authenticator,
        options=ServerOptions(reuse_port=PARENT in os.environ),
        before_stop=before_stop,
    )
