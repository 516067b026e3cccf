"""A small servicer over the generated contract, and a raw client that sends any bytes to it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc import aio
from stemma.conversation.v1 import run_service_pb2, session_service_pb2

from kernel.errors import Unimplemented
from kernel.rpc import checks
from kernel.rpc.call import Authenticator, Call
from kernel.rpc.quotas import Limits
from kernel.rpc.registry import snake_case
from kernel.rpc.server import Server, ServerOptions

SESSIONS = session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]
RUNS = run_service_pb2.DESCRIPTOR.services_by_name["RunService"]
GET = "/stemma.conversation.v1.SessionService/GetSession"
LIST = "/stemma.conversation.v1.SessionService/ListSessions"
CREATE = "/stemma.conversation.v1.SessionService/CreateSession"
IMPORT = "/stemma.conversation.v1.SessionService/ImportSessions"
RESPOND = "/stemma.conversation.v1.RunService/Respond"

SESSION_ID = "0193a1b2-0000-7000-8000-000000000001"


class _Others:
    """Answers UNIMPLEMENTED for the RPCs of a service that these tests have no use for."""

    service: ServiceDescriptor

    def __getattr__(self, name: str) -> Any:
        rpc = {snake_case(rpc.name): rpc for rpc in self.service.methods}.get(name)
        if rpc is None:
            raise AttributeError(name)

        async def refuse(_request: Any, _call: Call) -> Message:
            raise Unimplemented(rpc.name)

        async def refuse_stream(_request: Any, _call: Call) -> AsyncIterator[Message]:
            raise Unimplemented(rpc.name)
            yield

        return refuse_stream if rpc.server_streaming else refuse


class Sessions(_Others):
    """Checks its fields as a real servicer does; `get` may be replaced by a test."""

    service = SESSIONS

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.requests: list[Any] = []
        self.get: Callable[[Any, Call], Awaitable[Message | bytes]] = self._get

    async def create_session(self, request: Any, call: Call) -> Message:
        self._seen(request, call)
        checks.request_id(request.request_id)
        return session_service_pb2.CreateSessionResponse()

    async def get_session(self, request: Any, call: Call) -> Message | bytes:
        self._seen(request, call)
        return await self.get(request, call)

    async def list_sessions(self, request: Any, call: Call) -> Message:
        self._seen(request, call)
        size = checks.page_size(request.page_size)
        response = session_service_pb2.ListSessionsResponse()
        for _ in range(size):
            response.sessions.add()
        return response

    async def import_sessions(self, requests: AsyncIterator[Any], call: Call) -> AsyncIterator[Message]:
        """One result for each message, as it comes; its title says what came."""
        async for request in requests:
            answer = session_service_pb2.ImportSessionsResponse()
            answer.result.title = request.WhichOneof("part") or "nothing"
            yield answer

    async def _get(self, request: Any, call: Call) -> Message:
        response = session_service_pb2.GetSessionResponse()
        response.session.session_id = checks.uuid_field(request.session_id, "session_id")
        return response

    def _seen(self, request: Any, call: Call) -> None:
        self.requests.append(request)
        self.calls.append(call)


class Runs(_Others):
    """Streams what a test says."""

    service = RUNS

    def __init__(self) -> None:
        self.frames: Callable[[Any, Call], AsyncIterator[Message | bytes]] | None = None

    def respond(self, request: Any, call: Call) -> AsyncIterator[Message | bytes]:
        assert self.frames is not None
        return self.frames(request, call)


@dataclass(frozen=True)
class Answer:
    """What a call got: the code, the google.rpc.Status of a failure, and the response's bytes."""

    code: grpc.StatusCode
    text: str = ""
    status: status_pb2.Status | None = None
    trailers: dict[str, Any] = field(default_factory=dict)
    messages: tuple[bytes, ...] = ()

    @property
    def info(self) -> error_details_pb2.ErrorInfo:
        return self._detail(error_details_pb2.ErrorInfo())

    @property
    def retry(self) -> error_details_pb2.RetryInfo:
        return self._detail(error_details_pb2.RetryInfo())

    @property
    def fields(self) -> list[str]:
        violations = self._detail(error_details_pb2.BadRequest()).field_violations
        return [violation.field for violation in violations]

    def _detail(self, wanted: Any) -> Any:
        assert self.status is not None, f"no status details: {self}"
        assert self.status.code == self.code.value[0]
        assert self.status.message == self.text
        for packed in self.status.details:
            if packed.Unpack(wanted):
                return wanted
        raise AssertionError(f"no {type(wanted).__name__} in {self.status}")

    def refused(self, code: grpc.StatusCode, reason: str) -> bool:
        return self.code == code and self.info.reason == reason and self.info.domain == "stemma"


class Client:
    """Sends bytes as they are and tells what came back; never raises for a failure."""

    def __init__(self, channel: aio.Channel) -> None:
        self.channel = channel

    async def unary(self, method: str, request: bytes | Message = b"", **options: Any) -> Answer:
        call = self.channel.unary_unary(method)(_raw(request), **options)
        try:
            response = await call
        except aio.AioRpcError as error:
            return _failure(error)
        return Answer(grpc.StatusCode.OK, trailers=dict(await call.trailing_metadata()), messages=(response,))

    async def stream(self, method: str, request: bytes | Message = b"", **options: Any) -> Answer:
        call = self.channel.unary_stream(method)(_raw(request), **options)
        messages: list[bytes] = []
        try:
            async for response in call:
                messages.append(response)
        except aio.AioRpcError as error:
            return _failure(error, tuple(messages))
        trailers = dict(await call.trailing_metadata())
        return Answer(grpc.StatusCode.OK, trailers=trailers, messages=tuple(messages))


def _raw(request: bytes | Message) -> bytes:
    return request if isinstance(request, bytes) else request.SerializeToString()


def _failure(error: aio.AioRpcError, messages: tuple[bytes, ...] = ()) -> Answer:
    trailers = dict(error.trailing_metadata() or ())
    details = trailers.get("grpc-status-details-bin")
    status = status_pb2.Status.FromString(details) if details is not None else None
    return Answer(error.code(), error.details() or "", status, trailers, messages)


@dataclass
class Running:
    server: Server
    client: Client
    sessions: Sessions
    runs: Runs

    async def still_serves(self) -> bool:
        """What must hold after every bad input."""
        request = session_service_pb2.ListSessionsRequest(page_size=1)
        return (await self.client.unary(LIST, request)).code == grpc.StatusCode.OK

    async def ended(self) -> None:
        """Waits until no call is under way."""
        async with asyncio.timeout(10):
            await self.server._gate.idle()


@asynccontextmanager
async def running(
    options: ServerOptions | None = None,
    *,
    authenticator: Authenticator | None = None,
    before_stop: Callable[[], Awaitable[None]] | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[Running]:
    """A real server on a free port of loopback, with a client."""
    sessions, runs = Sessions(), Runs()
    server = Server(
        {SESSIONS: sessions, RUNS: runs},
        "127.0.0.1:0",
        options=options,
        authenticator=authenticator,
        before_stop=before_stop,
        limits=limits,
    )
    address = await server.start()
    try:
        async with aio.insecure_channel(address, options=_CLIENT_OPTIONS) as channel:
            yield Running(server, Client(channel), sessions, runs)
    finally:
        await server.stop()


# The server's limits are tested, not the client's.
_CLIENT_OPTIONS = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),
)
