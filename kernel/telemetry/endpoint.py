"""`GET /metrics` on an address of its own: for whoever scrapes, and for nobody else."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

_MAX_HEAD = 16 * 1024
# Seconds for a request to come.
_PATIENCE = 5.0
_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class CannotServeMetrics(RuntimeError):
    """The address is taken, or not this machine's."""


@asynccontextmanager
async def metrics_served(address: str, text: Callable[[], bytes]) -> AsyncIterator[str]:
    """Serves while the block lasts; gives the address as it was bound. "" serves nowhere."""
    if not address:
        yield ""
        return

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                found = head.startswith((b"GET /metrics ", b"GET /metrics?"))
                body = text() if found else b"Only GET /metrics is here.\n"
                writer.write(_head("200 OK" if found else "404 Not Found", len(body)) + body)
                await writer.drain()
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            # Nobody who scrapes; there is nothing to tell them.
            return
        finally:
            writer.close()

    host, _, port = address.rpartition(":")
    try:
        server = await asyncio.start_server(answer, host.strip("[]"), int(port), limit=_MAX_HEAD)
    except (OSError, ValueError, OverflowError) as error:
        raise CannotServeMetrics(f"Metrics cannot be served on {address}: choose another address.") from error
    async with server:
        yield f"{host}:{server.sockets[0].getsockname()[1]}"


def _head(status: str, length: int) -> bytes:
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: {_TYPE}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    ).encode()
