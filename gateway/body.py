"""Reading a request's body, within limits of type, size and time."""

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request

from gateway.errors import malformed, over_limit, too_slow


async def read_body(request: Request, *, limit: int, timeout: float) -> bytes:
    """The whole body, empty when there is none. Refuses with 415 (not JSON), 413 (more than `limit`
    bytes) and 408 (not complete within `timeout` seconds)."""
    length = request.headers.get("content-length", "0")
    if "transfer-encoding" not in request.headers and length == "0":
        return b""
    _check_type(request)
    if int(length) > limit:  # h11 lets only digits through
        raise _too_large(limit)
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(timeout):
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise _too_large(limit)
                chunks.append(chunk)
    except TimeoutError:
        raise too_slow("body") from None
    return b"".join(chunks)


async def file_pieces(request: Request, *, limit: int, timeout: float, size: int) -> AsyncIterator[bytes]:
    """The body as a file's bytes, while it arrives, in pieces of `size` bytes (the last one smaller).

    Refuses with 415 (multipart, or compressed in transit), 413 (more than `limit` bytes in all) and
    408 (nothing for `timeout` seconds). Raises ClientDisconnect.
    """
    if request.headers.get("content-type", "").strip().lower().startswith("multipart/"):
        raise malformed("The body must be the file itself, not a form.", http=415)
    _check_encoding(request)
    if int(request.headers.get("content-length", "0")) > limit:
        raise _too_large(limit)
    left = limit
    waiting = bytearray()
    stream = request.stream()
    while (piece := await _within(timeout, stream)) is not None:
        left -= len(piece)
        if left < 0:
            raise _too_large(limit)
        waiting += piece
        while len(waiting) >= size:
            yield bytes(waiting[:size])
            del waiting[:size]
    if waiting:
        yield bytes(waiting)


async def _within(timeout: float, stream: AsyncIterator[bytes]) -> bytes | None:
    try:
        async with asyncio.timeout(timeout):
            return await anext(stream, None)
    except TimeoutError:
        raise too_slow("body") from None


def _check_type(request: Request) -> None:
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.strip().lower().replace('"', "")
    if kind.strip().lower() != "application/json" or charset not in {"", "charset=utf-8"}:
        raise malformed("The body must be application/json, in UTF-8.", http=415)
    _check_encoding(request)


def _check_encoding(request: Request) -> None:
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise malformed("The body must not be compressed.", http=415)


def _too_large(limit: int) -> Exception:
    return over_limit(f"The body is larger than {limit} bytes.", 413)
