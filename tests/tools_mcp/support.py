"""Servers of the tests over stdio, and where a call that takes long meets its test."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kernel.net.guard import Guard
from kernel.tools.mcp_model import McpLimits, McpResult, McpUnavailable
from kernel.tools.mcp_servers import McpServers
from kernel.tools.mcp_settings import McpServer, StdioServer

PROGRAM = Path(__file__).with_name("server.py")
PATIENCE = 30.0


def stdio(*arguments: str, name: str = "tests") -> StdioServer:
    return StdioServer(name, (sys.executable, str(PROGRAM), *arguments), {"GIVEN": "by the operator"})


@asynccontextmanager
async def using(*servers: McpServer, limits: McpLimits | None = None) -> AsyncIterator[McpServers]:
    """The servers, closed afterwards in good time."""
    used = McpServers({server.name: server for server in servers}, Guard(), limits or McpLimits())
    try:
        yield used
    finally:
        async with asyncio.timeout(PATIENCE):
            await used.aclose()


async def called(servers: McpServers, name: str, server: str = "tests", **arguments: object) -> McpResult:
    return await servers.call(server, name, json.dumps(arguments), timeout=PATIENCE)


async def refused(
    servers: McpServers, name: str, server: str = "tests", **arguments: object
) -> McpUnavailable:
    """Why the call got no answer."""
    try:
        result = await called(servers, name, server, **arguments)
    except McpUnavailable as error:
        return error
    raise AssertionError(result)


class Meetings:
    """Where calls of the tool `meet` come to.

    Attributes:
        port: To be given to the tool.
    """

    def __init__(self) -> None:
        self.port = 0
        self._writers: list[asyncio.StreamWriter] = []
        self._arrived: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()

    async def next(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The next call that is under way: what it says, and what it is told."""
        async with asyncio.timeout(PATIENCE):
            return await self._arrived.get()

    async def arrive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        self._arrived.put_nowait((reader, writer))

    def close(self) -> None:
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def meetings() -> AsyncIterator[Meetings]:
    place = Meetings()
    async with await asyncio.start_server(place.arrive, "127.0.0.1", 0) as server:
        place.port = server.sockets[0].getsockname()[1]
        try:
            yield place
        finally:
            place.close()


def exit_of(pid: int) -> asyncio.Future[None]:
    """Done when process `pid`, which need not be a child of ours, has ended."""
    descriptor = os.pidfd_open(pid)
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def seen() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        ended.set_result(None)

    loop.add_reader(descriptor, seen)
    return ended
