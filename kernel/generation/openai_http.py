"""The HTTP client under the OpenAI client: bounded in memory, deaf to error bodies.

Imports httpx2, which takes a while: import this module lazily.
"""

from collections.abc import AsyncIterator

import httpx2

from kernel.generation.provider import FailureReason, ProviderError, not_valid
from kernel.net.guard import Guard, GuardedTransport

# A blank line ends an event, in any of the three line endings that event streams may use.
_EVENT_ENDS = (b"\n\n", b"\r\n\r\n", b"\r\r")
_LONGEST_END = 4


def bounded_client(
    *, connect_seconds: float, max_bytes: int, max_event_bytes: int, guard: Guard | None
) -> httpx2.AsyncClient:
    """A client whose responses end with a ProviderError when they grow beyond these bounds.

    Goes through `guard`; None is for an address that the operator gave. No redirects (they could lead
    anywhere), no proxies or credentials from the environment. Reading has no timeout here: the caller
    keeps the time.
    """
    # Each answer has a connection of its own: one that is kept may be closed by the server just as it is
    # used again, which would cost a turn to save a handshake.
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    timeout = httpx2.Timeout(None, connect=connect_seconds)
    inner = GuardedTransport(guard) if guard is not None else httpx2.AsyncHTTPTransport(limits=limits)
    transport = _BoundedTransport(inner, max_bytes, max_event_bytes)
    # Compressed answers are refused, so none is asked for.
    headers = {"accept-encoding": "identity"}
    return httpx2.AsyncClient(transport=transport, timeout=timeout, headers=headers, trust_env=False)


class _BoundedTransport(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport, max_bytes: int, max_event_bytes: int) -> None:
        self._inner = inner
        self._max_bytes = max_bytes
        self._max_event_bytes = max_event_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.status_code != httpx2.codes.OK:
            # What an error says is the provider's text: it is neither waited for nor read.
            await response.aclose()
            return httpx2.Response(response.status_code, headers=_kept(response.headers))
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise not_valid("The provider compressed its answer, which it was asked not to do.")
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, self._max_bytes, self._max_event_bytes)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _kept(headers: httpx2.Headers) -> dict[str, str]:
    """What of an error's head is looked at."""
    asked = headers.get("retry-after", "")
    return {"retry-after": asked} if asked.isascii() else {}


class _BoundedStream(httpx2.AsyncByteStream):
    """Counts all bytes, and those since the last end of an event, which the reader has to hold."""

    def __init__(self, inner: httpx2.AsyncByteStream, max_bytes: int, max_event_bytes: int) -> None:
        self._inner = inner
        self._bytes_left = max_bytes
        self._max_event_bytes = max_event_bytes
        self._event_bytes = 0
        self._tail = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._count(piece)
            yield piece

    def _count(self, piece: bytes) -> None:
        self._bytes_left -= len(piece)
        if self._bytes_left < 0:
            raise ProviderError(FailureReason.LIMIT, "The provider sent too many bytes.")
        seen = self._tail + piece
        end = max(seen.rfind(ending) + len(ending) if ending in seen else -1 for ending in _EVENT_ENDS)
        self._event_bytes = self._event_bytes + len(piece) if end < 0 else len(seen) - end
        self._tail = seen[-_LONGEST_END + 1 :]
        if self._event_bytes > self._max_event_bytes:
            raise not_valid("The provider sent an event that is too long.")

    async def aclose(self) -> None:
        await self._inner.aclose()
