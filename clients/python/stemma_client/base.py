"""What both clients have in common: services as attributes, and streams that go on."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from stemma.conversation.v1 import run_service_pb2
from stemma.draft.v1 import draft_service_pb2

from stemma_client.requests import CONVERSATION, DRAFTS, FeedPlace, Place, RunPlace, with_request_id
from stemma_client.retries import Retries

# Seconds for a call that says nothing else, its retries included; and for a stream.
TIMEOUT, STREAM_TIMEOUT = 30.0, 3_600.0


class Caller(Protocol):
    """How calls are made: each either at once, or awaited."""

    def __init__(self, api_key: str, retries: Retries) -> None: ...

    def unary(self, call: Callable[..., Any], request: Any, timeout: float, address: str) -> Any:
        """The answer; what passes is tried again within `timeout` seconds."""

    def streamed(self, call: Callable[..., Any], requests: Any, timeout: float, address: str) -> Any:
        """The answers as they come, without a second try: whoever knows how to go on does so."""

    def followed(self, service: "Service", place: Place, timeout: float) -> Any:
        """The events of a stream, asked again for the rest of it after a cut."""


class Service:
    """The methods of one service, by their names in the contract."""

    def __init__(
        self, channel: Any, service: ServiceDescriptor, caller: Caller, address: str, timeout: float
    ) -> None:
        for method in service.methods:
            setattr(self, method.name, _method(channel, method, caller, address, timeout))


class Client(ABC):
    """See `stemma_client`."""

    def __init__(
        self,
        address: str,
        *,
        drafts: str = "",
        api_key: str = "",
        credentials: grpc.ChannelCredentials | None = None,
        retries: Retries | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        """`address` and `drafts`, of the draft service, are `host:port`. `credentials` are those of TLS;
        without them the channel is plain. `timeout` is in seconds, for calls that give none."""
        self._caller: Caller = self._new_caller(api_key, retries or Retries())
        self._timeout = timeout
        self._channels = [self._open(address, credentials, CONVERSATION)]
        if drafts:
            self._channels.append(self._open(drafts, credentials, DRAFTS))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"there is no {name!r} here; `drafts` needs drafts=ADDRESS")

    def respond(
        self,
        request: run_service_pb2.RespondRequest | draft_service_pb2.RespondRequest,
        *,
        timeout: float = STREAM_TIMEOUT,
    ) -> Any:
        """Iterates over the frames of the run that the request begins, in a session or a draft, to the last
        one or to where the run waits. After a cut it goes on where it was. `timeout`: seconds for all of it.
        """
        begin = with_request_id(request)
        return self._follow(RunPlace(begin, getattr(begin, "draft_id", "")), timeout)

    def attach(
        self, run_id: str, *, draft_id: str = "", after: str = "", timeout: float = STREAM_TIMEOUT
    ) -> Any:
        """Iterates over the frames of a run after a position, `<epoch>.<seq>`; see `respond`."""
        return self._follow(RunPlace(None, draft_id, run_id, after), timeout)

    def watch(self, project_id: str, *, after: int = 0, patience: float = 300.0) -> Any:
        """Iterates over the events of a project after a position, each once and in order, for ever. Raises
        Unavailable when the service was away for `patience` seconds. An event's position is where to go on.
        """
        return self._follow(FeedPlace(project_id, after), patience)

    def _follow(self, place: Place, timeout: float) -> Any:
        return self._caller.followed(getattr(self, place.service), place, timeout)

    def _open(
        self, address: str, credentials: grpc.ChannelCredentials | None, services: Mapping[str, Any]
    ) -> Any:
        channel = self._new_channel(address, credentials)
        for name, service in services.items():
            setattr(self, name, Service(channel, service, self._caller, address, self._timeout))
        return channel

    @abstractmethod
    def _new_caller(self, api_key: str, retries: Retries) -> Caller: ...

    @abstractmethod
    def _new_channel(self, address: str, credentials: grpc.ChannelCredentials | None) -> Any: ...


def metadata(api_key: str) -> Iterable[tuple[str, str]]:
    return (("authorization", f"Bearer {api_key}"),) if api_key else ()


def _method(
    channel: Any, method: MethodDescriptor, caller: Caller, address: str, timeout: float
) -> Callable[..., Any]:
    sides = [method.client_streaming, method.server_streaming]
    call = getattr(channel, "_".join("stream" if streams else "unary" for streams in sides))(
        f"/{method.containing_service.full_name}/{method.name}",
        request_serializer=message_factory.GetMessageClass(method.input_type).SerializeToString,
        response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
    )
    if method.client_streaming:
        return lambda requests, timeout=STREAM_TIMEOUT: caller.streamed(call, requests, timeout, address)
    if method.server_streaming:
        return lambda request, timeout=STREAM_TIMEOUT: caller.streamed(
            call, with_request_id(request), timeout, address
        )
    return lambda request, timeout=timeout: caller.unary(call, with_request_id(request), timeout, address)
