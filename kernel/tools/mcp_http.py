"""The HTTP client under the SDK's streamable HTTP: through the guard, and bounded.

The SDK ends everything on a connection when one of its requests fails in the network; here that is an answer
503 to this one. The SDK waits for answers to what needs none, reads answers of any length, and reconnects as
fast as a server wants; here not. Imports httpx2: import this module lazily.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus

import httpx2

from kernel.net.addresses import AddressRefused, target
from kernel.net.guard import AllowedHost, Guard, GuardedTransport
from kernel.tools.mcp_delivery import Delivery, delivery
from kernel.tools.mcp_model import McpLimits
from kernel.tools.mcp_settings import HttpServer

_CONNECT, _WRITE = 10.0, 30.0
# Of silence in an answer. Whoever waits keeps a shorter time; this is for what nobody waits for any more.
_SILENCE = 600.0
# That a server may take over what needs no answer; between two streams for its notifications.
_QUICK, _PAUSE = 5.0, 1.0
_SESSION = "mcp-session-id"


def _guard_of(server: HttpServer, guard: Guard) -> Guard:
    """For a server whose host the operator vouches for, one that lets through this host too."""
    if not server.allow_private:
        return guard
    found = target(server.url)
    return Guard(frozenset({AllowedHost(found.host, found.port)}))


class McpHttp(httpx2.AsyncBaseTransport):
    """Sends the SDK's requests. Network errors and refusals are answers with status 503.

    Attributes:
        client: The client to give to the SDK; closing it closes this.
        trouble: Why the last request was not answered as it should be, fit to be shown; empty when it was.
    """

    def __init__(self, server: HttpServer, guard: Guard, limits: McpLimits, over: Callable[[], None]) -> None:
        self._inner = GuardedTransport(_guard_of(server, guard))
        self._max_bytes = limits.message_bytes
        self._over = over
        self._next_stream = 0.0
        self.trouble = ""
        # Compressed answers are refused, so none is asked for.
        headers = {**server.headers, "accept-encoding": "identity"}
        timeout = httpx2.Timeout(None, connect=_CONNECT, write=_WRITE, read=_SILENCE)
        self.client = httpx2.AsyncClient(transport=self, timeout=timeout, headers=headers, trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        told = delivery.get()
        if request.method == "GET":
            await self._pause()
        elif not _is_call(request):
            return await self._quick(request)
        if told is not None:
            told.sent = True
        response = await self._answer(request, told)
        if response.status_code == HTTPStatus.NOT_FOUND and _SESSION in request.headers:
            # It restarted, or forgot us: what it does not know it has not done.
            self._over()
            if told is not None:
                told.sent = False
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _answer(self, request: httpx2.Request, told: Delivery | None) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
        except AddressRefused as error:
            return self._failed(told, f"The URL of the MCP server {error.message}.", sent=False)
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            return self._failed(told, "The MCP server cannot be reached.", sent=False)
        except httpx2.TransportError:
            return self._failed(told, "The MCP server broke off.")
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            return self._failed(told, "The MCP server compressed its answer, which it was asked not to do.")
        self._note(told, _trouble(response.status_code))
        response.stream = _Bounded(response, self._max_bytes, told)
        return response

    def _failed(self, told: Delivery | None, trouble: str, *, sent: bool = True) -> httpx2.Response:
        self._note(told, trouble)
        if told is not None:
            told.sent = sent
        return httpx2.Response(HTTPStatus.SERVICE_UNAVAILABLE)

    def _note(self, told: Delivery | None, trouble: str) -> None:
        self.trouble = trouble
        if told is not None:
            told.trouble = trouble

    async def _quick(self, request: httpx2.Request) -> httpx2.Response:
        """Notifications, answers and the farewell: the SDK sends nothing else while one of them waits."""
        try:
            async with asyncio.timeout(_QUICK):
                response = await self._inner.handle_async_request(request)
                await response.aclose()
                return httpx2.Response(response.status_code)
        except (AddressRefused, httpx2.TransportError, TimeoutError):
            return httpx2.Response(HTTPStatus.SERVICE_UNAVAILABLE)

    async def _pause(self) -> None:
        now = asyncio.get_running_loop().time()
        wait, self._next_stream = self._next_stream - now, max(now, self._next_stream) + _PAUSE
        if wait > 0:
            await asyncio.sleep(wait)


class _Bounded(httpx2.AsyncByteStream):
    """An answer of so many bytes at most, which ends when nobody waits for it any longer.

    A stream of notifications is as long as it likes: there the SDK bounds each event.
    """

    def __init__(self, response: httpx2.Response, max_bytes: int, told: Delivery | None) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        self._inner = response.stream
        self._is_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        self._left = max_bytes
        self._told = told

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._inner:
                self._count(len(piece))
                yield piece
        except httpx2.TransportError:
            if self._is_events:
                # The SDK resumes the stream where the server can do that.
                raise
            raise httpx2.StreamError("broken off") from None

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _count(self, size: int) -> None:
        if self._told is not None and self._told.over:
            raise self._broken("over")
        if self._is_events and self._told is None:
            return
        self._left -= size
        if self._left < 0:
            if self._told is not None:
                self._told.too_large = True
            raise self._broken("too long")

    def _broken(self, why: str) -> Exception:
        """What the SDK takes for the end of this answer, and of nothing else."""
        return httpx2.SSEError(why) if self._is_events else httpx2.StreamError(why)


def _is_call(request: httpx2.Request) -> bool:
    """Whether it is a JSON-RPC request, whose answer takes as long as the work does."""
    if request.method != "POST":
        return False
    message = json.loads(request.content)
    return "id" in message and "method" in message


def _trouble(status: int) -> str:
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return "The MCP server does not let us in: check its headers in STEMMA_MCP_SERVERS."
    return "The MCP server answered with an error." if status >= HTTPStatus.BAD_REQUEST else ""
