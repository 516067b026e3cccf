"""A TCP proxy whose connections a test can cut: a network that fails between two programs that live on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class Proxy:
    """Forwards everything to `target`."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._writers: set[asyncio.StreamWriter] = set()
        self.address = ""

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, onward = await asyncio.open_connection(*self._target)
        self._writers |= {writer, onward}
        with suppress(OSError):
            await asyncio.gather(self._forward(reader, onward), self._forward(there, writer))

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
        writer.close()

    def cut(self) -> None:
        """Resets every connection; new ones are taken."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()


@asynccontextmanager
async def proxied(target: str, kind: type[Proxy] = Proxy) -> AsyncIterator[Proxy]:
    proxy = kind(target)
    server = await asyncio.start_server(proxy.connected, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    proxy.address = f"{host}:{port}"
    try:
        yield proxy
    finally:
        server.close()
        proxy.cut()
        await server.wait_closed()
