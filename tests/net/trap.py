"""A server on loopback that must not be connected, or that answers as told."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def redirect(location: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


class Trap:
    """Attributes:
    port: Where it listens.
    connects: Connections so far.
    heads: The head of each request so far.
    """

    def __init__(self, answer: bytes) -> None:
        self.port = 0
        self.connects = 0
        self.heads: list[str] = []
        self._answer = answer

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connects += 1
        try:
            self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
            writer.write(self._answer)
            await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def trap(answer: bytes = OK, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Trap]:
    """Listens on 127.0.0.1."""
    waiting = Trap(answer)
    server = await asyncio.start_server(waiting.serve, "127.0.0.1", 0, ssl=tls)
    waiting.port = server.sockets[0].getsockname()[1]
    async with server:
        yield waiting
