"""The toolbox of one run: its calls are recorded before they act, and each result once."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import structlog

from kernel.generation.lease import Lease, held, write_patiently
from kernel.generation.provider import FailureReason, ProviderError, ToolSpec
from kernel.generation.runner import RunLimits
from kernel.generation.tools import Acted
from kernel.prompt.config import Config
from kernel.strict_json import loads
from kernel.tools import state
from kernel.tools.builtin import ToolFault, roll, time_now
from kernel.tools.calls import acted, advanced, checked, done, recorded, unique_id
from kernel.tools.mcp_model import McpTool, McpUnavailable
from kernel.tools.mcp_servers import McpServers
from kernel.tools.model import Owner, Tools, effective, servers_of
from kernel.tools.proposals import Proposals
from kernel.tools.proposing import PROPOSING
from kernel.tree.message import ToolCall
from kernel.verbs.env import Env, WriteTx
from kernel.verbs.records import CallState, RecordedCall

T = TypeVar("T")

# Of a result of ours or of an MCP server, in UTF-8: a page holds several, and a model reads them all.
MAX_RESULT = 256 * 1024
_PERHAPS = "It may have acted all the same: find out before you call it again."
_NO_TOOLS = Tools({})

log = structlog.get_logger(__name__)


def tools_of(
    env: Env,
    servers: McpServers | None,
    lease: Lease,
    config: Config,
    limits: RunLimits,
    proposals: Proposals | None = None,
) -> "RunTools":
    """The toolbox of a run with that configuration; without `proposals` it proposes nothing."""
    return RunTools(env, servers, lease, config, limits, proposals)


class RunTools:
    """`kernel.generation.tools.Toolbox`. For one epoch of a run; its pages may use it side by side.

    An MCP tool whose server cannot be asked, or does not have it, is left out, and so is one whose parameters
    cannot be checked; the log says so.
    """

    def __init__(
        self,
        env: Env,
        servers: McpServers | None,
        lease: Lease,
        config: Config,
        limits: RunLimits,
        proposals: Proposals | None = None,
    ) -> None:
        self._env = env
        self._proposals = proposals
        self._servers = servers
        self._lease = lease
        self._config = config
        self._limits = limits
        self._tools: Tools | None = None
        self._listing = asyncio.Lock()
        self._recording = asyncio.Lock()
        # Calls that are, or are about to be, ACTING by this process, and have not begun.
        self._ours: set[str] = set()

    async def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in (await self._all()).by_name.values())

    async def record(self, page_id: str, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        tools = (await self._all()).by_name
        found = [(call, *await asyncio.to_thread(checked, tools, call)) for call in calls]
        async with self._recording:
            known = await self._read()
            if len(known) + len(calls) > self._limits.max_calls:
                raise ProviderError(
                    FailureReason.LIMIT, f"A run calls tools at most {self._limits.max_calls} times."
                )
            taken, now = {call.call_id for call in known}, self._env.clock()
            rows: list[RecordedCall] = []
            for number, (call, arguments, fault) in enumerate(found, start=len(known) + 1):
                call_id = unique_id(call.call_id, number, taken)
                taken.add(call_id)
                kept = ToolCall(call_id, call.name, arguments)
                tool = tools.get(call.name)
                rows.append(recorded(self._lease.run_id, page_id, number, kept, tool, fault, now))
            await self._write(lambda tx: self._insert(tx, rows))
        self._ours |= {row.call_id for row in rows if row.state is CallState.ACTING}
        return tuple(ToolCall(row.call_id, row.name, row.arguments) for row in rows)

    async def act(self, calls: Sequence[ToolCall]) -> Acted:
        ids = [call.call_id for call in calls]
        rows = await self._of(ids)
        # Whoever approved it: from here on it is for this process to begin.
        moving = [row.call_id for row in rows if advanced(row, self._ours, self._env.clock()) != row]
        if moving:
            self._ours |= {row.call_id for row in rows if row.state is CallState.APPROVAL} & set(moving)
            await self._write(lambda tx: self._advance(tx, moving))
            rows = await self._of(ids)
        acting = [row for row in rows if row.state is CallState.ACTING]
        if acting:
            self._ours -= {row.call_id for row in acting}
            await self._carry_out(acting)
            rows = await self._of(ids)
        return acted(rows)

    # --- what there is -----------------------------------------------------------------------------

    async def _all(self) -> Tools:
        if not self._config.tools:
            return _NO_TOOLS
        async with self._listing:
            if self._tools is None:
                names = servers_of(self._config.tools)
                offers = await asyncio.gather(*map(self._offers, names))
                listed = dict(zip(names, offers, strict=True))
                proposing = self._proposals is not None
                found = await asyncio.to_thread(effective, self._config.tools, listed, proposing=proposing)
                for name, why in found.left_out:
                    log.warning("tool.left_out", run_id=self._lease.run_id, tool=name, why=why)
                self._tools = found
            return self._tools

    async def _offers(self, server: str) -> list[McpTool] | str:
        if self._servers is None:
            return "This process uses no MCP servers."
        try:
            return await self._servers.tools(server)
        except McpUnavailable as error:
            return error.message

    # --- what acts ---------------------------------------------------------------------------------

    async def _carry_out(self, calls: Sequence[RecordedCall]) -> None:
        """Side by side; each result is durable when it is there. Those that read and write rows follow each
        other."""
        of_state = [call for call in calls if _is_of_rows(call)]
        others = [call for call in calls if not _is_of_rows(call)]
        errors = await asyncio.gather(self._on_state(of_state), *map(self._carry_out_one, others))
        for error in errors:
            if error is not None:
                raise error

    async def _on_state(self, calls: Sequence[RecordedCall]) -> Exception | None:
        """In one transaction with their results: so what one page has written is seen by its next call."""

        async def work(tx: WriteTx) -> None:
            session, _, floor = await held(tx, self._lease)
            parent = await tx.floor(floor.parent_floor_id or "")
            assert parent is not None, "a floor below the root has its parent (foreign key)"
            for call in calls:
                known = await tx.tool_calls(self._lease.run_id)
                scene = state.Scene(session, floor, parent, self._config, known)
                try:
                    content, is_error = await self._from_rows(tx, scene, call), False
                except ToolFault as fault:
                    content, is_error = str(fault), True
                await tx.update_calls([done(call, content, is_error, self._env.clock())])

        return await self._kept(work) if calls else None

    async def _from_rows(self, tx: WriteTx, scene: state.Scene, call: RecordedCall) -> str:
        if call.name not in PROPOSING:
            return await state.result(tx, scene, call)
        if self._proposals is None:
            raise ToolFault("Nothing can be proposed here.")
        return await self._proposals.answer(tx, scene, call, self._lease.tenant_id)

    async def _carry_out_one(self, call: RecordedCall) -> Exception | None:
        content, is_error = await self._outcome(call)

        async def work(tx: WriteTx) -> None:
            await held(tx, self._lease)
            await tx.update_calls([done(call, cut(content), is_error, self._env.clock())])

        return await self._kept(work)

    async def _outcome(self, call: RecordedCall) -> tuple[str, bool]:
        """The result, and whether it is an error. Never raises: whatever a tool does, the model is told."""
        seconds = self._limits.tool_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._called(call)
        except ToolFault as fault:
            return str(fault), True
        except TimeoutError:
            return f"The tool did not answer within {seconds:g} seconds. {_PERHAPS}", True
        except McpUnavailable as error:
            return f"{error.message} {_PERHAPS}" if error.sent else error.message, True
        except Exception as error:
            # No text of the error: it may quote the conversation.
            log.error("tool.failed", run_id=call.run_id, tool=call.name, error=type(error).__name__)
            return f"The tool failed. {_PERHAPS}", True

    async def _called(self, call: RecordedCall) -> tuple[str, bool]:
        if call.owner == Owner.MCP:
            if self._servers is None:
                return "This process uses no MCP servers.", True
            seconds = self._limits.tool_seconds
            answer = await self._servers.call(call.server, call.name, call.arguments, timeout=seconds)
            return answer.content, answer.is_error
        given: Any = loads(call.arguments)
        if call.name == "get_time":
            return time_now(self._env.clock, given.get("zone", "")), False
        assert call.name == "roll_dice", "what is recorded as built in is one of ours"
        return roll(given["dice"]), False

    # --- what is kept ------------------------------------------------------------------------------

    async def _insert(self, tx: WriteTx, rows: Sequence[RecordedCall]) -> None:
        session, _, _ = await held(tx, self._lease)
        # A try whose outcome was not known may have written them.
        known = {call.call_id for call in await tx.tool_calls(self._lease.run_id)}
        await tx.insert_calls(session.session_id, [row for row in rows if row.call_id not in known])

    async def _advance(self, tx: WriteTx, ids: Sequence[str]) -> None:
        await held(tx, self._lease)
        now = self._env.clock()
        rows = [call for call in await tx.tool_calls(self._lease.run_id) if call.call_id in ids]
        await tx.update_calls([advanced(row, self._ours, now) for row in rows])

    async def _read(self) -> list[RecordedCall]:
        async with self._env.store.reading(self._lease.tenant_id) as tx:
            return await tx.tool_calls(self._lease.run_id)

    async def _of(self, ids: Sequence[str]) -> list[RecordedCall]:
        by_id = {call.call_id: call for call in await self._read()}
        return [by_id[call_id] for call_id in ids]

    async def _kept(self, work: Callable[[WriteTx], Awaitable[None]]) -> Exception | None:
        """Writes, and gives back why it could not: what acts beside it shall be kept as well."""
        try:
            await self._write(work)
        except Exception as error:
            return error
        return None

    async def _write(self, work: Callable[[WriteTx], Awaitable[T]]) -> T:
        return await write_patiently(self._env, self._lease, work)


def _is_of_rows(call: RecordedCall) -> bool:
    return state.is_of_state(call) or (call.owner == Owner.BUILT_IN and call.name in PROPOSING)


def cut(content: str) -> str:
    """A result of at most MAX_RESULT bytes; one that is cut says so at its end."""
    raw = content.encode()
    if len(raw) <= MAX_RESULT:
        return content
    return raw[:MAX_RESULT].decode("utf-8", "ignore") + f"\n[Cut here: the result has {len(raw):,} bytes.]"
