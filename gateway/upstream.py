"""The channels to the services, one for each package of the contract."""

import asyncio
from collections.abc import Iterable, Mapping

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2, health_pb2_grpc

from gateway.services import Method
from kernel.rpc.dial import BALANCED, target

_OPTIONS = (
    # A floor may hold two pages of 3 MiB; the services keep their own limits.
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    # A service that was restarted is found again within two seconds.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.enable_http_proxy", 0),
    BALANCED,
)
_HEALTH_TIMEOUT = 1.0

CONVERSATION, DRAFT = "stemma.conversation.v1", "stemma.draft.v1"

Metadata = tuple[tuple[str, str], ...]


class Upstream:
    """Open only inside `async with`. `addresses`: by package, as dialled."""

    def __init__(
        self,
        addresses: Mapping[str, str],
        *,
        call_timeout: float,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        self._addresses = dict(addresses)
        self._timeout = call_timeout
        # Of TLS; without them the channels are plain.
        self._credentials = credentials
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def __aenter__(self) -> "Upstream":
        for package, address in self._addresses.items():
            self._channels[package] = self._channel(target(address))
        return self

    def _channel(self, address: str) -> grpc.aio.Channel:
        if self._credentials is None:
            return grpc.aio.insecure_channel(address, options=_OPTIONS)
        return grpc.aio.secure_channel(address, self._credentials, options=_OPTIONS)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(channel.close() for channel in self._channels.values()))
        self._channels.clear()

    async def unary(self, method: Method, request: Message, metadata: Metadata) -> Message:
        """One answer within the default deadline. Raises AioRpcError."""
        call = self._channels[method.package].unary_unary(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )
        answer: Message = await call(request, metadata=metadata, timeout=self._timeout)
        return answer

    def stream(
        self, method: Method, request: Message, metadata: Metadata
    ) -> "grpc.aio.UnaryStreamCall[Message, Message]":
        """A call to read until EOF, without a deadline; whoever opens it cancels it at the end."""
        call = self._channels[method.package].unary_stream(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )
        return call(request, metadata=metadata)

    def duplex(self, method: Method, metadata: Metadata) -> "grpc.aio.StreamStreamCall[Message, Message]":
        """A call to write to and to read from, without a deadline; whoever opens it cancels it at the
        end."""
        call = self._channels[method.package].stream_stream(
            method.path,
            request_serializer=method.request.SerializeToString,
            response_deserializer=method.response.FromString,
        )
        return call(metadata=metadata)

    async def not_serving(self) -> dict[str, str]:
        """By package: what the health check says, for those that do not say SERVING within a second."""
        packages = list(self._channels)
        states = await asyncio.gather(*(self._state(package) for package in packages))
        return {package: state for package, state in zip(packages, states, strict=True) if state != "SERVING"}

    async def _state(self, package: str) -> str:
        stub = health_pb2_grpc.HealthStub(self._channels[package])
        try:
            answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=_HEALTH_TIMEOUT)
        except grpc.aio.AioRpcError as error:
            return str(error.code().name)
        return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))


def by_package(packages: Iterable[str], conversation: str, draft: str) -> dict[str, str]:
    """Which address serves which package. ValueError for a package that none serves."""
    known = {CONVERSATION: conversation, DRAFT: draft}
    missing = set(packages) - set(known)
    if missing:
        raise ValueError(f"no service is configured for {', '.join(sorted(missing))}")
    return {package: known[package] for package in known}
