"""Calls of tools and lists of them, over the SDK's session. Imports the SDK: import this module lazily."""

import asyncio

import mcp_types as types
from mcp import ClientSession, MCPError
from pydantic import TypeAdapter

from kernel.tools.mcp_content import result_of, too_large, tools_of
from kernel.tools.mcp_delivery import TOO_LARGE, Delivery, delivery
from kernel.tools.mcp_model import MAX_TOOLS, McpLimits, McpResult, McpTool, McpUnavailable

_MAX_PAGES = 100
_ANSWER: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
_REFUSED = "The MCP server refused the call: it has no such tool, or takes no such arguments."
_ASKS = "The tool asks for more than its arguments, which is not supported here."


class ToolsChanged(McpUnavailable):
    """The server knows its tools otherwise than it listed them, and did nothing."""

    def __init__(self) -> None:
        super().__init__("The MCP server's tools have changed: try again.")


async def list_tools(session: ClientSession) -> tuple[McpTool, ...]:
    """Every page of them, at most 1,000 tools; none of a server that knows no tools. Raises: MCPError."""
    listed: list[types.Tool] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        try:
            page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND and not listed:
                break
            raise
        listed += page.tools
        cursor = page.next_cursor
        if cursor is None or len(listed) >= MAX_TOOLS:
            break
    return tuple(tools_of(listed[:MAX_TOOLS]))


async def call_tool(
    session: ClientSession, limits: McpLimits, name: str, arguments: dict[str, object], timeout: float
) -> McpResult:
    """Calls once. When it is cancelled, or takes longer than `timeout` seconds, the server is told to stop.

    Raises: McpUnavailable, ToolsChanged.
    """
    told = Delivery()
    before = delivery.set(told)
    try:
        async with asyncio.timeout(timeout):
            answer = await _send(session, name, arguments, timeout)
    except TimeoutError:
        raise McpUnavailable("The MCP server did not answer in time.", sent=told.sent) from None
    except MCPError as error:
        return _judged(error, told, limits)
    except ValueError:
        # Of the SDK's checks of the answer.
        raise McpUnavailable("The MCP server's answer is not one of MCP.", sent=True) from None
    finally:
        told.over = True
        delivery.reset(before)
    if isinstance(answer, types.InputRequiredResult):
        return McpResult(_ASKS, is_error=True)
    return result_of(answer, limits.content_bytes)


async def _send(
    session: ClientSession, name: str, arguments: dict[str, object], timeout: float
) -> types.CallToolResult | types.InputRequiredResult:
    """Not the session's `call_tool`: that lists tools in between, and checks results against the server's own
    schema, whose patterns could keep this process busy for ever."""
    request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=arguments))
    # The caller keeps the time, of sending too; the SDK's shall not be shorter.
    return await session.send_request(request, _ANSWER, request_read_timeout_seconds=2 * timeout)


def _judged(error: MCPError, told: Delivery, limits: McpLimits) -> McpResult:
    """The result that an error of the protocol stands for. Raises: McpUnavailable when it is none."""
    if told.too_large or error.code == TOO_LARGE:
        return too_large(limits.content_bytes)
    if not told.sent or error.code == types.CONNECTION_CLOSED:
        message = told.trouble or "The connection to the MCP server ended."
        raise McpUnavailable(message, sent=told.sent) from None
    if error.code == types.HEADER_MISMATCH:
        raise ToolsChanged from None
    if error.code in (types.INVALID_PARAMS, types.METHOD_NOT_FOUND):
        return McpResult(_REFUSED, is_error=True)
    raise McpUnavailable(told.trouble or "The MCP server answered with an error.", sent=True) from None
