"""The MCP servers that runs use: the operator's by name, and those that a project names by URL."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import structlog

from kernel.net.addresses import AddressRefused
from kernel.strict_json import NotJson, loads
from kernel.tools.mcp_connection import McpConnection
from kernel.tools.mcp_model import LIMITS, McpLimits, McpResult, McpTool, McpUnavailable
from kernel.tools.mcp_settings import HttpServer, McpServer

if TYPE_CHECKING:
    from kernel.net.guard import Guard

_UNKNOWN = "No MCP server of this name is configured: see STEMMA_MCP_SERVERS."
_STOPPING = "The service is stopping."
_TOO_MANY = "Too many MCP servers are in use at once: try again later."
# Seconds that all servers together have to end, beside what each has.
_ENDS_WITHIN = 6.0

_T = TypeVar("_T")

log = structlog.get_logger(__name__)


def is_url(server: str) -> bool:
    """Whether a `Tool.server` is a URL; else it is a name."""
    return server.lower().startswith(("http://", "https://"))


@dataclass(slots=True)
class _Known:
    """A server, its connection once it was needed, and how many use it now."""

    server: McpServer
    connection: McpConnection | None = None
    users: int = 0


class McpServers:
    """Connects to a server when it is first needed, once for all runs of this process; again after it died.

    For one event loop. Both calls may be cancelled at any time; nobody else who uses the server notices.
    """

    def __init__(self, servers: Mapping[str, McpServer], guard: "Guard", limits: McpLimits = LIMITS) -> None:
        self._named = {name: _Known(server) for name, server in servers.items()}
        self._by_url: dict[str, _Known] = {}
        self._guard = guard
        self._limits = limits
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def tools(self, server: str) -> list[McpTool]:
        """What a server offers, in its order: at most a minute old, and anew when it said that it changed.

        Args:
            server: A name of the settings, or an http or https URL that the guard of addresses lets through.

        Raises:
            McpUnavailable: There is no such server, or it cannot be asked. Never `sent`.
        """

        async def current(connection: McpConnection) -> list[McpTool]:
            await connection.refresh()
            return list(connection.tools)

        with self._used(server) as known:
            # What it listed is true for its time, whether or not it is still connected.
            if known.connection is not None and known.connection.is_current:
                return list(known.connection.tools)
            return await self._ask(known, current)

    async def call(self, server: str, name: str, arguments_json: str, *, timeout: float) -> McpResult:
        """Calls a tool, at most once: a call that may have reached the server is never repeated.

        Connecting, where need be, has its own time. When the awaiting task is cancelled, or `timeout` seconds
        have passed, the server is told that nobody waits (MCP's `notifications/cancelled`).

        Args:
            arguments_json: A JSON object; empty for none. The server checks it against its schema.

        Returns:
            What the tool answered; or an error result: the tool's own, or ours for a refused call, for
            arguments that are no JSON object, for a result of more than 1 MiB.

        Raises:
            McpUnavailable: As `tools`; or no answer came, and `sent` says whether it may have acted.
        """
        try:
            arguments = loads(arguments_json or "{}")
        except NotJson as error:
            return McpResult(f"The arguments are not valid: the text {error}.", is_error=True)
        if not isinstance(arguments, dict):
            return McpResult("The arguments are not valid: they are no JSON object.", is_error=True)
        with self._used(server) as known:
            return await self._ask(known, lambda connection: connection.call(name, arguments, timeout))

    async def aclose(self) -> None:
        """Ends every connection and process; calls under way fail. Takes at most some seconds."""
        self._closed = True
        for known in (*self._named.values(), *self._by_url.values()):
            if known.connection is not None:
                known.connection.close()
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=_ENDS_WITHIN + 3 * self._limits.close)
        for task in late:
            log.warning("mcp.connection_cancelled")
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _ask(self, known: _Known, use: Callable[[McpConnection], Awaitable[_T]]) -> _T:
        """Once more when the connection turns out to have ended before anything was sent on it."""
        connection = await self._connection(known)
        try:
            return await use(connection)
        except McpUnavailable as error:
            if error.sent or connection.is_alive:
                raise
        return await use(await self._connection(known))

    async def _connection(self, known: _Known) -> McpConnection:
        """A connected one. Raises: McpUnavailable."""
        if self._closed:
            raise McpUnavailable(_STOPPING)
        connection = known.connection
        if connection is None or not connection.is_alive:
            if connection is not None and connection.failed_within(self._limits.again):
                await connection.connected()
            connection = known.connection = McpConnection(known.server, self._guard, self._limits)
            self._tasks.add(connection.task)
            connection.task.add_done_callback(self._tasks.discard)
        await connection.connected()
        return connection

    @contextmanager
    def _used(self, server: str) -> Iterator[_Known]:
        """Raises: McpUnavailable when there can be no such server."""
        known = self._at(server) if is_url(server) else self._named.get(server)
        if known is None:
            raise McpUnavailable(_UNKNOWN)
        known.users += 1
        try:
            yield known
        finally:
            known.users -= 1

    def _at(self, url: str) -> _Known:
        try:
            self._guard.check(url)
        except AddressRefused as error:
            raise McpUnavailable(f"The URL of the MCP server {error.message}.") from None
        known = self._by_url.pop(url, None)
        if known is None:
            self._make_room()
            # The rest of a URL may be a secret.
            known = _Known(HttpServer(urlsplit(url).hostname or "", url))
        # The one used last stands last.
        self._by_url[url] = known
        return known

    def _make_room(self) -> None:
        if len(self._by_url) < self._limits.urls:
            return
        idle = next((url for url, known in self._by_url.items() if not known.users), None)
        if idle is None:
            raise McpUnavailable(_TOO_MANY)
        connection = self._by_url.pop(idle).connection
        if connection is not None:
            connection.close()
