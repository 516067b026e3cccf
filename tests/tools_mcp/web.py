"""MCP over streamable HTTP on loopback, and traps, in the test's own loop."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from mcp.server.mcpserver import MCPServer


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are pytest's."""
        yield


class Web:
    """A server under test.

    Attributes:
        url: Of its MCP endpoint.
        seen: Method and headers of each request, in order.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/mcp"
        self.port = port
        self.seen: list[tuple[str, dict[str, str]]] = []


@asynccontextmanager
async def serving(server: MCPServer, *, port: int = 0, json_response: bool = False) -> AsyncIterator[Web]:
    """`server` on loopback, at the port it had before when it is given one."""
    app = server.streamable_http_app(json_response=json_response)
    with socket.create_server(("127.0.0.1", port)) as listening:
        web = Web(listening.getsockname()[1])

        async def noted(scope, receive, send):  # type: ignore[no-untyped-def]
            if scope["type"] == "http":
                headers = {name.decode(): value.decode() for name, value in scope["headers"]}
                web.seen.append((scope["method"], headers))
            await app(scope, receive, send)

        running = _Server(uvicorn.Config(noted, log_config=None, timeout_graceful_shutdown=0))
        task = asyncio.create_task(running.serve(sockets=[listening]))
        try:
            yield web
        finally:
            running.should_exit = running.force_exit = True
            await task


@asynccontextmanager
async def trap() -> AsyncIterator[tuple[int, list[object]]]:
    """A port on loopback where nobody may knock, and who did."""
    knocked: list[object] = []

    def knock(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        knocked.append(writer.get_extra_info("peername"))
        writer.close()

    async with await asyncio.start_server(knock, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], knocked


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[str]:
    """The URL of something that answers every request with these bytes, whatever it was."""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    async with await asyncio.start_server(reply, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
