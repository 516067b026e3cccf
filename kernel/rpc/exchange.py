"""One gRPC exchange while it is answered: the only place where grpc's context is touched."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import grpc
from google.protobuf import message
from google.rpc import status_pb2
from grpc import aio

from kernel.errors import Exhausted, Forbidden, Invalid, NotFound, StemmaError
from kernel.rpc import status as statuses
from kernel.rpc.call import Authenticator, Call, Identity, Metadata
from kernel.rpc.policy import Policy

# A unary call, and each message of a stream, either way.
MAX_MESSAGE_BYTES = 4 * 1024 * 1024

# Among the headers of a stream that was accepted before it had anything to say.
ACCEPTED = "x-stemma-accepted"

Response = message.Message | bytes


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC of the contract, with the servicer's method that answers it.

    `handler(request, call)` returns an awaitable of a response, or for a stream an async iterator. When
    the client streams too, it gets an async iterator of requests instead of one.
    """

    name: str
    request_class: type[message.Message]
    streams: bool
    handler: Callable[[Any, Call], Any]
    client_streams: bool = False


class Share(Protocol):
    """What one call holds of the bytes that all calls may hold together."""

    def hold(self, size: int) -> None:
        """Holds `size` bytes in place of what it held. Raises Exhausted `OVERLOADED`."""
        ...


class ClientGone(Exception):
    """Nobody waits for this answer any more."""


class Exchange:
    """The state of one call on its way through the interceptors, which fill it in, in their order."""

    __slots__ = (
        "_accepted",
        "_request",
        "answer_bytes",
        "authenticator",
        "code",
        "context",
        "deadline",
        "denied",
        "granted",
        "identity",
        "method",
        "pace",
        "policy",
        "received",
        "request",
        "request_bytes",
        "request_id",
        "stall_seconds",
    )

    def __init__(self, method: Method, context: aio.ServicerContext[Any, Any]) -> None:
        self.method = method
        self.context = context
        self.request_id = ""
        self.deadline = 0.0
        self.identity = Identity("", "", frozenset())
        # What the caller is where the request goes, beside what it is in its tenant.
        self.granted: frozenset[str] = frozenset()
        self.policy: Policy | None = None
        self.authenticator: Authenticator | None = None
        self.code = grpc.StatusCode.OK
        self._accepted = False
        self._request: message.Message | None = None
        # Told of what the policy refuses, and of which message, before anybody else is.
        self.denied: Callable[[StemmaError, message.Message], Awaitable[None]] | None = None
        self.request_bytes: Share | None = None
        self.answer_bytes: Share | None = None
        self.stall_seconds: float | None = None
        # Awaited before each message that the client streams.
        self.pace: Callable[[], Awaitable[None]] | None = None
        # The newest one.
        self.request: message.Message | None = None
        # Bytes of requests so far.
        self.received = 0

    def metadata(self) -> Metadata:
        return tuple(self.context.invocation_metadata() or ())

    def peer(self) -> Sequence[str]:
        """The names in the client's certificate, which the server's TLS has verified; none without one."""
        found = self.context.auth_context()
        names = [*found.get("x509_subject_alternative_name", ()), *found.get("x509_common_name", ())]
        return [name.decode(errors="replace") for name in names]

    def call(self) -> Call:
        return Call(
            self.identity,
            self.request_id,
            self.method.name,
            self.deadline,
            self.accept,
            self.granted,
            self.permitted,
        )

    async def identify_again(self) -> None:
        """As a stream goes on: raises what the authenticator says of a credential that is no longer good."""
        if self.authenticator is not None:
            method = self.method.name
            self.identity = await self.authenticator.authenticate(self.metadata(), method, self.peer)

    async def permit(self, request: message.Message) -> None:
        """Raises NotFound, Forbidden, Invalid or Unavailable when the caller may not ask for this."""
        if self.policy is not None:
            self.granted = await self._asked(self.policy, request)

    async def permitted(self, request: message.Message) -> None:
        """As `permit`, for one message of a client's stream."""
        if self.policy is not None:
            await self._asked(self.policy, request)

    async def _asked(self, policy: Policy, request: message.Message) -> frozenset[str]:
        try:
            return await policy.permit(self.identity, self.method.name, request)
        except (NotFound, Forbidden) as error:
            if self.denied is not None:
                await self.denied(error, request)
            raise

    async def read(self) -> message.Message:
        """The request, parsed here and not by grpc, which answers garbage with UNKNOWN; the same each time.

        Raises Invalid for no message and for bytes that are not one (broken encoding, bad UTF-8,
        more than 100 levels), Exhausted for more than 4 MiB, and when all calls together hold too much.
        """
        if self._request is None:
            raw = await self.context.read()
            if raw is aio.EOF:
                raise _invalid("The call brought no request message.")
            self._request = self._parse(raw)
        return self._request

    async def requests(self) -> AsyncIterator[message.Message]:
        """The client's messages to their end, each read and parsed when it is asked for."""
        while (raw := await self.context.read()) is not aio.EOF:
            if self.pace is not None:
                await self.pace()
            yield self._parse(raw)

    def _parse(self, raw: bytes) -> message.Message:
        if len(raw) > MAX_MESSAGE_BYTES:
            raise Exhausted("LIMIT", "The request is larger than 4 MiB.")
        self.received += len(raw)
        if self.request_bytes is not None:
            self.request_bytes.hold(len(raw))
        try:
            self.request = self.method.request_class.FromString(raw)
            return self.request
        except message.DecodeError:
            # Its text may quote the request.
            name = self.method.request_class.DESCRIPTOR.full_name
            raise _invalid(f"The request is not a valid {name}.") from None

    async def accept(self) -> None:
        """Sends the headers, with the mark that nothing was refused, unless they were sent. Raises
        ClientGone."""
        if self._accepted:
            return
        self._accepted = True
        try:
            await self.context.send_initial_metadata(((ACCEPTED, "1"),))
        except aio.BaseError:
            raise ClientGone from None

    async def write(self, response: Response) -> None:
        """Sends one message of a stream; returns when it is on its way, so no more than one waits for
        its reader.

        Raises ClientGone, and Exhausted for more than 4 MiB, for a client that does not read for
        `stall_seconds`, and when the answers of all calls hold too much.
        """
        raw = self.encoded(response)
        # The headers go with it.
        self._accepted = True
        try:
            async with asyncio.timeout(self.stall_seconds) as timer:
                await self.context.write(raw)
        except aio.BaseError:
            raise ClientGone from None
        except TimeoutError:
            if not timer.expired():
                raise
            text = f"The client took nothing for {self.stall_seconds:g} s. Call again for the rest."
            raise Exhausted("LIMIT", text) from None

    def encoded(self, response: Response) -> bytes:
        """The bytes of an answer, held until it is sent. Raises Exhausted."""
        raw = encode(response)
        if self.answer_bytes is not None:
            self.answer_bytes.hold(len(raw))
        return raw

    async def abort(self, status: status_pb2.Status) -> None:
        """Answers with an error; never returns. Raises AbortError, which grpc must get, or ClientGone."""
        self.code = statuses.code(status)
        trailers = (
            ("x-request-id", self.request_id),
            (statuses.DETAILS_KEY, status.SerializeToString()),
        )
        try:
            await self.context.abort(self.code, status.message, trailers)
        except aio.AbortError:
            raise
        except aio.BaseError:
            raise ClientGone from None


def encode(response: Response) -> bytes:
    """The response's bytes; bytes pass through. Raises Exhausted for more than 4 MiB."""
    raw = response if isinstance(response, bytes) else response.SerializeToString(deterministic=True)
    if len(raw) > MAX_MESSAGE_BYTES:
        raise Exhausted("LIMIT", "The answer would be larger than 4 MiB. Ask for less at once.")
    return raw


def cancelled_from_outside() -> bool:
    """Whether this task itself was cancelled, rather than something that it awaited."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


Proceed = Callable[[Exchange], Awaitable[bytes]]
Step = Callable[[Exchange, Proceed], Awaitable[bytes]]


def _invalid(text: str) -> Invalid:
    error = Invalid()
    error.message = text
    return error
