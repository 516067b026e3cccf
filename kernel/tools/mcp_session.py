"""One session with an MCP server through the official SDK. Importing this takes half a second: do it lazily.

The SDK's contexts open task groups, which only the task that entered them may leave: `serve` is that task,
from the beginning to the end. Calls (`mcp_calls`) are sent from whatever task wants an answer.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

import anyio
import mcp_types as types
import structlog
from anyio.abc import TaskStatus
from mcp import Client, ClientSession, MCPError
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost

from kernel.net.guard import Guard
from kernel.tools.mcp_calls import list_tools
from kernel.tools.mcp_http import McpHttp
from kernel.tools.mcp_model import McpLimits, McpTool, McpUnavailable
from kernel.tools.mcp_settings import McpServer, StdioServer
from kernel.tools.mcp_stdio import stdio_transport

log = structlog.get_logger(__name__)

# The SDK logs what servers send, as often as they send it. What an operator needs to know we say ourselves.
logging.getLogger("mcp").propagate = False
logging.getLogger("mcp").addHandler(logging.NullHandler())


async def serve(
    server: McpServer,
    guard: Guard,
    limits: McpLimits,
    *,
    scope: anyio.CancelScope,
    over: asyncio.Event,
    connected: Callable[[ClientSession, tuple[McpTool, ...]], None],
    changed: Callable[[], None],
) -> None:
    """Connects, tells `connected`, and stays until `over` is set, here when the server has ended.

    `changed` is called when the server says that its tools are others now. `scope` is the caller's, around
    this call: its deadline is that of connecting, and is taken off then.

    Raises: whatever the SDK does, when the server does not start, does not speak MCP, or breaks.
    """

    async def told(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed()

    async with (
        Client(
            _transport(server, guard, limits, over.set),
            read_timeout_seconds=limits.listing,
            client_info=types.Implementation(name="stemma", version=version("stemma")),
            message_handler=told,
            cache=None,
        ) as client,
        anyio.create_task_group() as group,
    ):
        # Before they are listed, or a change in between would be missed. Not every server answers this.
        with anyio.move_on_after(limits.connect / 4):
            await group.start(_watch, client, changed)
        connected(client.session, await list_tools(client.session))
        scope.deadline = math.inf
        await over.wait()
        group.cancel_scope.cancel()


async def _watch(client: Client, changed: Callable[[], None], *, task_status: TaskStatus[None]) -> None:
    """Newer servers say that their tools changed to those who listen; others to everybody."""
    tools = client.server_capabilities.tools
    if tools is not None and tools.list_changed:
        try:
            async with client.listen(tools_list_changed=True) as events:
                task_status.started()
                async for _ in events:
                    changed()
                return
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError):
            # Then lists are current for as long as they always are.
            log.debug("mcp.not_watched")
    with contextlib.suppress(RuntimeError):
        task_status.started()


@asynccontextmanager
async def _transport(
    server: McpServer, guard: Guard, limits: McpLimits, over: Callable[[], None]
) -> AsyncIterator[TransportStreams]:
    """Raises McpUnavailable in place of what broke it, when that can be said."""
    if isinstance(server, StdioServer):
        async with stdio_transport(server, limits, over) as streams:
            yield streams
        return
    http = McpHttp(server, guard, limits, over)
    try:
        async with (
            http.client as client,
            streamable_http_client(
                server.url, http_client=client, max_sse_event_size=limits.message_bytes
            ) as streams,
        ):
            yield streams
    except Exception:
        if http.trouble:
            raise McpUnavailable(http.trouble) from None
        raise
