"""Puts the service together. `process.py` runs it."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog
from stemma.conversation.v1 import (
    admin_service_pb2,
    context_service_pb2,
    event_service_pb2,
    floor_service_pb2,
    project_service_pb2,
    run_service_pb2,
    session_service_pb2,
    state_service_pb2,
)
from uuid_utils import uuid7

from conversation_service.following import Following, following
from conversation_service.migrate import SCRIPTS
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
from conversation_service.rpc.states import States
from conversation_service.rpc.transfers import Transfers
from conversation_service.settings import Settings, check_auth, secret_keys
from conversation_service.steady import steadily
from kernel.errors import StemmaError, Unavailable
from kernel.generation.hub import RunHub
from kernel.generation.registry import Providers
from kernel.generation.runner import RunLimits
from kernel.rpc.server import Server, ServerOptions, serve
from kernel.rpc.tokens import PageTokens
from kernel.rpc.workers import PARENT
from kernel.runs.control import HubRuns, Reconciliation, recover
from kernel.runs.respond import Generation
from kernel.storage.engine import Engines
from kernel.storage.feeds import Feeds
from kernel.storage.migrate import migrate
from kernel.storage.processes import Processes
from kernel.storage.statistics import Statistics
from kernel.storage.store import SqlStore
from kernel.verbs.env import Env
from kernel.wire.byte_cache import ByteCache
from kernel.wire.codec import WireCodec
from kernel.wire.path_cache import PathCache

log = structlog.get_logger(__name__)

# Bytes of paths and of contexts that are kept for the next reader.
_PATH_CACHE = 64 * 1024 * 1024
_CONTEXT_CACHE = 32 * 1024 * 1024
# Seconds: between two renewals of this process's lease and looks for runs of dead ones; that runs
# may take to end by themselves when the service stops; that stopping may take in all.
_BEAT, _RUNS_END, _STOPS_WITHIN = 2.0, 4.0, 9.0


def utc_now() -> datetime:
    return datetime.now(UTC)


def new_uuid7() -> str:
    return str(uuid7())


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
    tokens = PageTokens(secret_keys(settings))
    providers = Providers(settings.providers)
    engines = Engines(settings.database_url)
    engines.hold()
    try:
        await migrate(engines, SCRIPTS)
        store = SqlStore(engines, clock)
        hub, codec = RunHub(), WireCodec()
        env = Env(store, HubRuns(hub, codec), codec, clock, new_id)
        generation = Generation(providers, hub, {}, new_id(), limits or RunLimits())
        async with (
            _beating(env, Processes(engines, generation.owner), hub, Statistics(engines)),
            following(env, store, Feeds(engines), settings.event_retention) as followers,
        ):
            server = await _serve(settings, env, generation, tokens, followers)
            try:
                yield Service(server.address, env, generation, server, store, followers)
            finally:
                await server.drain(_STOPS_WITHIN)
                await hub.drain(0)
                await store.idle()
    finally:
        await providers.aclose()
        await engines.close()


async def _serve(
    settings: Settings, env: Env, generation: Generation, tokens: PageTokens, followers: Following
) -> Server:
    providers = generation.providers
    services = {
        project_service_pb2.DESCRIPTOR.services_by_name["ProjectService"]: Projects(env, providers, tokens),
        session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]: SessionsAndFiles(
            env, providers, tokens
        ),
        floor_service_pb2.DESCRIPTOR.services_by_name["FloorService"]: Floors(
            env, tokens, PathCache(_PATH_CACHE)
        ),
        run_service_pb2.DESCRIPTOR.services_by_name["RunService"]: Runs(env, generation),
        state_service_pb2.DESCRIPTOR.services_by_name["StateService"]: States(env, tokens),
        admin_service_pb2.DESCRIPTOR.services_by_name["AdminService"]: Admin(env),
        context_service_pb2.DESCRIPTOR.services_by_name["ContextService"]: Contexts(
            env, providers, ByteCache(_CONTEXT_CACHE)
        ),
        event_service_pb2.DESCRIPTOR.services_by_name["EventService"]: Events(env, followers.hub),
    }

    async def before_stop() -> None:
        followers.hub.close()
        await generation.hub.drain(_RUNS_END)

    return await serve(
        services,
        settings.conversation,
        options=ServerOptions(reuse_port=PARENT in os.environ),
        before_stop=before_stop,
    )


@asynccontextmanager
async def _beating(
    env: Env, processes: Processes, hub: RunHub, statistics: Statistics
) -> AsyncIterator[None]:
    """Keeps this process's lease, and ends what dead ones left; first before the block begins."""
    await processes.renew()
    await recover(env, await processes.orphaned_runs())
    runs = Reconciliation(env, hub)
    beating = asyncio.create_task(steadily(lambda: _beat(env, processes, runs, statistics)))
    try:
        yield
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
        with suppress(Unavailable):
            await processes.leave()


async def _beat(env: Env, processes: Processes, runs: Reconciliation, statistics: Statistics) -> None:
    while True:
        await asyncio.sleep(_BEAT)
        try:
            await processes.renew()
            await recover(env, await processes.orphaned_runs())
            await runs.look(await processes.own_runs())
            await statistics.look()
        except StemmaError as error:
            log.warning("beat failed; it is tried again", reason=error.reason)
