"""MCP over the standard input and output of a process: a transport for the SDK, bounded in both directions.

The SDK's own reads a line of any length, and waits without end for a server that does not read. Imports the
SDK, which takes a while: import this module lazily.
"""

import asyncio
import re
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

import anyio
import structlog
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, jsonrpc_message_adapter

from kernel.tools.mcp_delivery import TOO_LARGE, delivery
from kernel.tools.mcp_model import McpLimits
from kernel.tools.mcp_process import running
from kernel.tools.mcp_settings import StdioServer

# Of a line that is too long, how much is looked at to learn whose answer it is.
_HEAD = 256
_ANSWER = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*([0-9]{1,18})\s*[,}]')
# Lines that are no messages, before a server is taken for something else.
_MAX_NONSENSE = 100

log = structlog.get_logger(__name__)


@asynccontextmanager
async def stdio_transport(
    server: StdioServer, limits: McpLimits, over: Callable[[], None]
) -> AsyncIterator[tuple["_Messages", "_Requests"]]:
    """The two streams that the SDK's session reads and writes; `over` is called when the server has ended."""
    async with running(
        server.name, server.command, server.env, line_bytes=limits.message_bytes, grace=limits.close
    ) as process:
        yield _Messages(server.name, process, over), _Requests(process, limits.message_bytes, over)


class _Stream:
    """What the SDK wants of both: they end with the process, so closing one does nothing."""

    async def aclose(self) -> None:
        pass

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class _Messages(_Stream):
    """What the server says, a line each. Ends with its output."""

    def __init__(self, name: str, process: Process, over: Callable[[], None]) -> None:
        assert process.stdout is not None
        self._name = name
        self._stdout = process.stdout
        self._over = over
        self._nonsense = 0

    def __aiter__(self) -> Self:
        return self

    async def receive(self) -> SessionMessage | Exception:
        try:
            return await self.__anext__()
        except StopAsyncIteration:
            raise anyio.EndOfStream from None

    async def __anext__(self) -> SessionMessage | Exception:
        while self._nonsense < _MAX_NONSENSE:
            try:
                line = await self._stdout.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                if (answer := await self._too_long(error.consumed)) is not None:
                    return answer
                self._nonsense += 1
                continue
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            try:
                return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
            except ValueError:
                # A server that prints: its own fault, and no reason to log what it prints.
                self._nonsense += bool(line.strip())
        self._over()
        raise StopAsyncIteration

    async def _too_long(self, consumed: int) -> SessionMessage | None:
        """Passes over the line. An error for whom it would have answered, when its beginning says that."""
        head = await self._stdout.readexactly(min(consumed, _HEAD))
        left = consumed - len(head)
        while True:
            await self._stdout.readexactly(left)
            try:
                await self._stdout.readuntil(b"\n")
                break
            except asyncio.LimitOverrunError as error:
                left = error.consumed
        log.warning("mcp.message_too_long", server=self._name)
        match = _ANSWER.match(head)
        if match is None:
            return None
        error_data = ErrorData(code=TOO_LARGE, message="too long")
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=int(match[1]), error=error_data))


class _Requests(_Stream):
    """What is said to the server. Nothing waits here: a server that does not read is given up."""

    def __init__(self, process: Process, max_waiting: int, over: Callable[[], None]) -> None:
        assert process.stdin is not None
        self._stdin = process.stdin
        self._max_waiting = max_waiting
        self._over = over

    async def send(self, item: SessionMessage, /) -> None:
        if self._stdin.is_closing():
            self._over()
            raise anyio.ClosedResourceError
        if (told := delivery.get()) is not None:
            told.sent = True
        self._stdin.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        if self._stdin.transport.get_write_buffer_size() > self._max_waiting:
            self._over()
