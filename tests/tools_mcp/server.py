"""An MCP server of the official SDK, with tools of all manners; `python server.py [legacy]` for stdio.

`legacy` makes it one of those that greet with `initialize`, as all did before 2026.
"""

import asyncio
import os
import subprocess
import sys
from typing import Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp_types import (
    DiscoverResult,
    EmbeddedResource,
    RequestParams,
    ResourceLink,
    ServerCapabilities,
    TextContent,
    TextResourceContents,
)


def built(*, legacy: bool = False) -> MCPServer:
    server = MCPServer("tests")
    for tool in (add, fail, repeat, pid, environment, begin_child, die, meet, say):
        server.tool()(tool)
    server.tool(structured_output=False)(mixed)

    @server.tool()
    async def grow(context: Context) -> str:
        """Adds a tool, and says so, as old and new servers do."""
        server.add_tool(add, name="grown")
        await context.notify_tools_changed()
        await context.session.send_tool_list_changed()
        return "done"

    if legacy:

        async def discovered(_context: object, _params: RequestParams) -> DiscoverResult:
            return DiscoverResult(supported_versions=["2025-11-25"], capabilities=ServerCapabilities())

        server._lowlevel_server.add_request_handler("server/discover", RequestParams, discovered)
    return server


def add(left: int, right: int) -> str:
    """Adds two numbers."""
    return str(left + right)


def fail() -> str:
    """Fails."""
    raise ValueError("the tool's own words")


def repeat(text: str, times: int) -> TextContent:
    """A long text."""
    return TextContent(type="text", text=text * times)


def pid() -> str:
    """The process of this server."""
    return str(os.getpid())


def environment() -> str:
    """The names and values of this process's variables."""
    return "\n".join(f"{name}={value}" for name, value in os.environ.items())


def begin_child() -> str:
    """Starts a process that lives for ever, and says which."""
    return str(subprocess.Popen([sys.executable, "-S", "-c", "import signal; signal.pause()"]).pid)


def die() -> str:
    """Ends this process at once."""
    os._exit(7)


def say(text: str, times: int) -> str:
    """Says something on standard error."""
    for _ in range(times):
        print(text, file=sys.stderr, flush=True)
    return "said"


async def meet(port: int) -> str:
    """Comes to a port on loopback, says `cancelled` there when told to stop, and returns what it is told."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return (await reader.readline()).decode()
    except asyncio.CancelledError:
        writer.write(b"cancelled\n")
        raise
    finally:
        writer.close()


def mixed() -> list[Any]:
    """All kinds of content."""
    file = TextResourceContents(uri="file:///a.txt", mime_type="text/plain", text="of a file")
    return [
        TextContent(type="text", text="first\0"),
        Image(data=b"\x89PNG" * 25, format="png"),
        ResourceLink(type="resource_link", name="a link", uri="https://example.com/x"),
        EmbeddedResource(type="resource", resource=file),
    ]


async def serve_as_before_2026() -> None:
    inner = built()._lowlevel_server
    async with stdio_server() as (requests, answers):
        await serve_loop(inner, requests, answers, lifespan_state={})


if __name__ == "__main__":
    if "legacy" in sys.argv:
        asyncio.run(serve_as_before_2026())
    else:
        built().run()
