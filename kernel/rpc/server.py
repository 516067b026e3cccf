"""The grpc.aio server that both services run: limits, health, reflection, and a graceful end."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

import grpc
import structlog
from google.protobuf.descriptor import ServiceDescriptor
from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from kernel.rpc.admission import Gate
from kernel.rpc.call import Authenticator, LocalAuthenticator
from kernel.rpc.denials import Denials, keeping, writes_of
from kernel.rpc.exchange import MAX_MESSAGE_BYTES
from kernel.rpc.interceptors import interceptors
from kernel.rpc.policy import Policy
from kernel.rpc.quotas import Limits
from kernel.rpc.registry import BadServicer, Router, methods
from kernel.telemetry.metrics import Figures

_log = structlog.get_logger("kernel.rpc")

# Seconds for connections to close in peace once all calls are answered. Not the whole grace:
# clients that watch the health never hang up.
_GOODBYE = 0.5
# Above our own limit, so that what is a little too large gets an answer with its reason. What is larger
# still is refused by grpc's core, without one.
MAX_RECEIVED_BYTES = MAX_MESSAGE_BYTES + 1024 * 1024


class CannotListen(RuntimeError):
    """The address is taken, not this machine's, or not allowed."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """What a server allows. Times in seconds."""

    # Unary calls in work at once. One process answers about 1,500 a second, so that the last of them
    # waits for a fifth of a second; see docs/overload.md.
    max_calls: int = 256
    max_streams: int = 1_000
    # Held by all requests in work, and again by all answers that wait for their readers.
    max_bytes: int = 128 * 1024 * 1024
    # How long a stream's client may take nothing: at 4 MiB a message, 280 kbit/s is enough.
    stall: float = 120.0
    # For clients that give no deadline.
    unary_deadline: float = 30.0
    stream_deadline: float = 3_600.0
    # How long a connection may take to say that it is HTTP/2, and how long it may have no call; then
    # it is closed, which gRPC's clients take for nothing: they connect again with their next call.
    handshake: float = 20.0
    idle: float = 300.0
    max_connections: int = 12_000
    # Several processes on one port.
    reuse_port: bool = False
    # Of TLS; without them the server is plain.
    credentials: grpc.ServerCredentials | None = None
    # Told of every call; None costs nothing.
    figures: Figures | None = None


class Server:
    """Serves `services` (descriptor → servicer) on `host:port`; port 0 picks one.

    Create it inside the running event loop. Raises registry.BadServicer when an RPC has no handler,
    or `policy`, where one is given, no rule for it.
    `before_stop` is awaited while draining, after new calls are refused: what streams live on (the
    runs) ends there, so that they get their last frames.
    """

    def __init__(
        self,
        services: Mapping[ServiceDescriptor, object],
        address: str,
        *,
        options: ServerOptions | None = None,
        authenticator: Authenticator | None = None,
        before_stop: Callable[[], Awaitable[None]] | None = None,
        limits: Limits | None = None,
        denials: Denials | None = None,
        policy: Policy | None = None,
    ) -> None:
        options = options or ServerOptions()
        self._names = [service.full_name for service in services]
        self._wanted = address
        self._address = ""
        self._before_stop = before_stop
        self._credentials = options.credentials
        self._gate = Gate(options.max_calls, options.max_streams, options.max_bytes)
        self._draining: asyncio.Task[None] | None = None
        if options.figures is not None:
            self._watched_by(options.figures)
        steps = interceptors(
            gate=self._gate,
            authenticator=authenticator or LocalAuthenticator(),
            unary_deadline=options.unary_deadline,
            stream_deadline=options.stream_deadline,
            stall_seconds=options.stall,
            policy=policy,
            figures=options.figures,
            limits=(limits or Limits()).steps(self._gate),
            denials=[] if denials is None else [keeping(denials, writes_of(services))],
        )
        served = [method for service, servicer in services.items() for method in methods(service, servicer)]
        without = [method.name for method in served if policy is not None and not policy.knows(method.name)]
        if without:
            raise BadServicer(f"nobody says who may call {', '.join(without)}")
        self._server = aio.server(options=_channel_options(options))
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = [*self._names, health.SERVICE_NAME, reflection.SERVICE_NAME]
        reflection.enable_server_reflection(names, self._server)
        # Last: it answers for every name that nobody else knows.
        self._server.add_generic_rpc_handlers((Router(served, steps, self._gate),))

    def _watched_by(self, figures: Figures) -> None:
        gate = self._gate
        figures.watch("calls_in_work", "Calls and streams being answered", lambda: gate.active)
        figures.watch("overloads", "Calls refused unread, as too much at once", lambda: gate.refusals)

    @property
    def address(self) -> str:
        """`host:port` as it was bound; after start."""
        return self._address

    @property
    def active(self) -> int:
        """Calls and streams being answered now."""
        return self._gate.active

    async def start(self) -> str:
        """Binds and serves; gives the address with the port that was chosen. Raises CannotListen."""
        host, separator, _port = self._wanted.rpartition(":")
        if not separator or not host:
            raise CannotListen(f"{self._wanted!r} is not an address of the form host:port.")
        try:
            if self._credentials is None:
                port = self._server.add_insecure_port(self._wanted)
            else:
                port = self._server.add_secure_port(self._wanted, self._credentials)
        except RuntimeError as error:
            raise CannotListen(
                f"Cannot listen on {self._wanted}: it is in use, not an address of this machine, or "
                "not allowed. Choose another address, or port 0 for any free port."
            ) from error
        await self._server.start()
        for name in self._names:
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._address = f"{host}:{port}"
        return self._address

    async def drain(self, grace: float) -> None:
        """Ends gracefully, within `grace` seconds; a repeated call joins the first.

        Health turns NOT_SERVING and new calls are UNAVAILABLE at once; then `before_stop`, then the
        calls that are under way. What is left when the time is up is cut off.
        """
        if self._draining is None:
            self._draining = asyncio.create_task(self._drain(grace))
        await asyncio.shield(self._draining)

    async def stop(self) -> None:
        """Ends at once: calls under way are cut off."""
        self._gate.close()
        await self._server.stop(None)

    async def wait(self) -> None:
        """Returns when the server has ended; raises what ended it, if that was a fault."""
        await self._server.wait_for_termination()

    async def _drain(self, grace: float) -> None:
        self._gate.close()
        await self._health.enter_graceful_shutdown()
        last: float | None = None
        try:
            async with asyncio.timeout(grace):
                if self._before_stop is not None:
                    await self._before_stop()
                await self._gate.idle()
            last = _GOODBYE
        except TimeoutError:
            _log.warning("calls were cut off at the end of the grace period", calls=self._gate.active)
        finally:
            await self._server.stop(last)


async def serve(
    services: Mapping[ServiceDescriptor, object],
    address: str,
    *,
    options: ServerOptions | None = None,
    authenticator: Authenticator | None = None,
    before_stop: Callable[[], Awaitable[None]] | None = None,
    limits: Limits | None = None,
    denials: Denials | None = None,
    policy: Policy | None = None,
) -> Server:
    """A started Server; see there."""
    server = Server(
        services,
        address,
        options=options,
        authenticator=authenticator,
        before_stop=before_stop,
        limits=limits,
        denials=denials,
        policy=policy,
    )
    await server.start()
    return server


def _channel_options(options: ServerOptions) -> Sequence[tuple[str, int]]:
    return (
        ("grpc.max_receive_message_length", MAX_RECEIVED_BYTES),
        ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
        # Identity and gzip (bits 0 and 2); a request in deflate is UNIMPLEMENTED.
        ("grpc.compression_enabled_algorithms_bitset", 0b101),
        # Soft and hard limit of a call's metadata.
        ("grpc.max_metadata_size", 8 * 1024),
        ("grpc.absolute_max_metadata_size", 16 * 1024),
        # Per connection. Above what is admitted, so that a client is told OVERLOADED, not left waiting.
        ("grpc.max_concurrent_streams", 2 * (options.max_calls + options.max_streams)),
        # Calls that no code of ours has seen yet. From the first number on gRPC drops some by itself, as
        # CANCELLED, and from the second all: they are above any burst that refusing can catch up with.
        ("grpc.server.max_pending_requests", 20_000),
        ("grpc.server.max_pending_requests_hard_limit", 40_000),
        ("grpc.so_reuseport", int(options.reuse_port)),
        ("grpc.server_handshake_timeout_ms", round(options.handshake * 1000)),
        ("grpc.max_connection_idle_ms", round(options.idle * 1000)),
        ("grpc.max_allowed_incoming_connections", options.max_connections),
        # Notice peers that vanished; tolerate pings every 10 s, drop those who send more.
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
        ("grpc.http2.max_ping_strikes", 2),
    )
