"""One connection to an MCP server, shared by all runs of this process."""

import asyncio
import importlib
from contextvars import Context
from typing import TYPE_CHECKING, Any

import anyio
import structlog

from kernel.tools.mcp_model import McpLimits, McpResult, McpTool, McpUnavailable
from kernel.tools.mcp_settings import McpServer

if TYPE_CHECKING:
    from mcp import ClientSession

    from kernel.net.guard import Guard

_NOT_STARTED = "The MCP server did not start, or does not speak MCP; this service's log says more."
_LATE = "The MCP server did not start in time."

log = structlog.get_logger(__name__)


def _sdk() -> Any:
    """What speaks MCP. It takes half a second to import: not on the loop. Two threads that import at once
    may each meet a module of the other's half made: so once more."""
    try:
        return importlib.import_module("kernel.tools.mcp_session")
    except (ImportError, AttributeError):
        return importlib.import_module("kernel.tools.mcp_session")


def _kinds(error: BaseException) -> list[str]:
    """What went wrong, group by group; the texts may quote anything."""
    if not isinstance(error, BaseExceptionGroup):
        return [type(error).__name__]
    return [kind for inner in error.exceptions for kind in _kinds(inner)]


class McpConnection:
    """Begins to connect when it is made, in a task of its own, and is never made whole again once it ended.

    Attributes:
        tools: As the server listed them last.
        failure: Why it could not be connected.
        task: Ends when the connection has ended, and its process is gone. Raises nothing.
    """

    def __init__(self, server: McpServer, guard: "Guard", limits: McpLimits) -> None:
        self._server = server
        self._guard = guard
        self._limits = limits
        self._clock = asyncio.get_running_loop().time
        self._scope = anyio.CancelScope()
        self._over = asyncio.Event()
        self._settled = asyncio.Event()
        self._session: ClientSession | None = None
        self._listed = self._ended = float("-inf")
        self._listing: asyncio.Task[McpUnavailable | None] | None = None
        self.tools: tuple[McpTool, ...] = ()
        self.failure: McpUnavailable | None = None
        # Not in the context of the run that happens to come first: others use it too.
        self.task = asyncio.create_task(self._own(), context=Context())

    @property
    def is_alive(self) -> bool:
        """Connecting or connected."""
        return not self._over.is_set()

    @property
    def is_current(self) -> bool:
        """Whether `tools` can be taken as they are."""
        return self._clock() - self._listed < self._limits.fresh

    def close(self) -> None:
        """Begins to end; wait for `task`. Calls under way fail."""
        self._over.set()
        if not self._settled.is_set():
            self._scope.cancel()

    def failed_within(self, seconds: float) -> bool:
        """Whether it could not be connected, so short a time ago."""
        return self.failure is not None and self._clock() - self._ended < seconds

    async def connected(self) -> None:
        """Raises: McpUnavailable when it could not be connected."""
        await self._settled.wait()
        if self.failure is not None:
            raise McpUnavailable(self.failure.message)

    async def refresh(self) -> None:
        """Lists the tools anew, unless they are current; once for all that wait. Raises: McpUnavailable."""
        if self.is_current:
            return
        if self._listing is None:
            self._listing = asyncio.create_task(self._list(), context=Context())
        failure = await asyncio.shield(self._listing)
        if failure is not None:
            raise McpUnavailable(failure.message)

    async def call(self, name: str, arguments: dict[str, object], timeout: float) -> McpResult:
        """See `McpServers.call`; never tries twice. Raises: McpUnavailable."""
        from kernel.tools.mcp_calls import ToolsChanged, call_tool

        assert self._session is not None
        try:
            return await call_tool(self._session, self._limits, name, arguments, timeout)
        except ToolsChanged:
            self._outdated()
            raise

    def _outdated(self) -> None:
        self._listed = float("-inf")

    async def _list(self) -> McpUnavailable | None:
        """Why not, as a value: perhaps nobody waits for it any longer."""
        from mcp import MCPError

        from kernel.tools.mcp_calls import list_tools

        assert self._session is not None
        began = self._clock()
        self._listed = began
        try:
            async with asyncio.timeout(self._limits.listing):
                self.tools = await list_tools(self._session)
        except (MCPError, TimeoutError, ValueError) as error:
            self._outdated()
            log.warning("mcp.not_listed", server=self._server.name, error=type(error).__name__)
            return McpUnavailable("The MCP server did not list its tools.")
        finally:
            self._listing = None
        return None

    async def _own(self) -> None:
        try:
            serve = (await asyncio.to_thread(_sdk)).serve
            with self._scope:
                self._scope.deadline = anyio.current_time() + self._limits.connect
                await serve(
                    self._server,
                    self._guard,
                    self._limits,
                    scope=self._scope,
                    over=self._over,
                    connected=self._connected,
                    changed=self._outdated,
                )
        except Exception as error:
            log.warning("mcp.ended", server=self._server.name, error=", ".join(_kinds(error)))
            if self._session is None:
                self.failure = error if isinstance(error, McpUnavailable) else McpUnavailable(_NOT_STARTED)
        finally:
            self._over.set()
            self._ended = self._clock()
            if self._session is None and self.failure is None:
                self.failure = McpUnavailable(_LATE)
            self._settled.set()

    def _connected(self, session: "ClientSession", tools: tuple[McpTool, ...]) -> None:
        log.info("mcp.connected", server=self._server.name, tools=len(tools))
        self._session, self.tools, self._listed = session, tools, self._clock()
        self._settled.set()
