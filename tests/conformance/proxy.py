"""A TCP proxy before a database, so that tests can take the database away and give it back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    """Forwards each connection to `host:port` while it is up."""

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self._server: asyncio.Server | None = None
        self._port = 0
        self._links: set[asyncio.Task[None]] = set()
        self._mute = False

    @property
    def url(self) -> str:
        """The database's URL by way of the proxy."""
        user, _, _ = self._url.netloc.rpartition("@")
        return urlunsplit(self._url._replace(netloc=f"{user}@127.0.0.1:{self._port}"))

    async def mute(self) -> None:
        """Cuts every connection; new ones are taken, and nothing is ever said on them."""
        await self.down()
        await self.up()
        self._mute = True

    async def up(self) -> None:
        """Listens, at the same port each time."""
        self._mute = False
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        """Cuts every connection; new ones are refused."""
        if self._server is not None:
            self._server.close()
        self._server = None
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = asyncio.ensure_future(self._forward(reader, writer))
        self._links.add(link)
        link.add_done_callback(self._links.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._mute:
            try:
                await asyncio.Event().wait()
            finally:
                writer.transport.abort()
        to_reader, to_writer = await asyncio.open_connection(self._url.hostname, self._url.port)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(reader, to_writer))
                group.create_task(_copy(to_reader, writer))
        finally:
            for end in (writer, to_writer):
                end.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[Proxy]:
    """A proxy that is up."""
    proxy = Proxy(url)
    await proxy.up()
    try:
        yield proxy
    finally:
        await proxy.down()
