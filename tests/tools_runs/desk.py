"""A run on a real store, without a service: its toolbox, and whoever answers its calls."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

from kernel.generation.lease import Lease
from kernel.generation.runner import RunLimits
from kernel.prompt.config import Config, Tool
from kernel.state.model import Effects, MemoryKind, MemoryOp, MemoryWrite, Scope, SlotWrite, VariableWrite
from kernel.tools.box import RunTools, tools_of
from kernel.tools.builtin import BUILT_INS
from kernel.tools.calls import decided, done
from kernel.tools.mcp_servers import McpServers
from kernel.tools.model import Approval, Owner, SideEffect
from kernel.tree.message import ToolCall, ToolResult
from kernel.tree.model import Floor, FloorState
from kernel.verbs.effects import identified, stored
from kernel.verbs.env import Env
from kernel.verbs.pages import mark_below
from kernel.verbs.records import RecordedCall, Run
from kernel.verbs.store import WriteTx
from tests.conformance.world import World, new_world, opened

NUMBER = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
BOXED = tuple(Tool(name, owner=Owner.BUILT_IN) for name in BUILT_INS)
CLIENT = Tool("ask", "", NUMBER, SideEffect.NONE, 0, Owner.CLIENT)
# A client's that somebody approves first, and dice that somebody approves.
SEND = Tool("send", "", NUMBER, SideEffect.IRREVERSIBLE, 0, Owner.CLIENT)
ASKING = tuple(replace(tool, approval=Approval.ALWAYS) for tool in BOXED)

BEFORE = Effects(
    (VariableWrite(Scope.PATH, "hp", "9007199254740993"),),
    (
        MemoryWrite(MemoryOp.ADD, "", MemoryKind.FACT, "ann", "Ann is well", 1.0),
        MemoryWrite(MemoryOp.ADD, "", MemoryKind.OPEN_LOOP, "", "Find Bob", 0.1),
    ),
    (SlotWrite("game", "map", "[1.0]"),),
)


def call(name: str, call_id: str = "id", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, json.dumps(arguments))


@dataclass
class Desk:
    """One run of a floor whose parent has a state: `memory_ids` are its items', `pages` the run's."""

    world: World
    env: Env
    parent: Floor
    floor: Floor
    run: Run
    memory_ids: list[str]
    pages: list[str]
    servers: McpServers | None = None
    limits: RunLimits = field(default_factory=RunLimits)

    def box(self, *tools: Tool, config: Config | None = None, **limits: Any) -> RunTools:
        lease = Lease(self.world.tenant, self.run.run_id, self.run.session_id, self.run.owner, self.run.epoch)
        config = config or Config(tools=tools)
        return tools_of(self.env, self.servers, lease, config, replace(self.limits, **limits))

    async def played(self, box: RunTools, *calls: ToolCall, page: str = "") -> list[ToolResult]:
        """Recorded and carried out; none of them waits."""
        acted = await box.act(await box.record(page or self.run.page_id, calls))
        assert acted.waiting == ()
        return list(acted.results)

    async def calls(self) -> list[RecordedCall]:
        return await self.world.read(lambda tx: tx.tool_calls(self.run.run_id))

    async def decide(self, call_id: str, approve: bool, reason: str = "") -> None:
        await self._change(call_id, lambda row: decided(row, approve, "somebody", reason, self.env.clock()))

    async def answer(self, call_id: str, content: str) -> None:
        await self._change(call_id, lambda row: done(row, content, False, self.env.clock()))

    async def next_epoch(self) -> None:
        """Another process has it."""
        self.run = replace(self.run, epoch=self.run.epoch + 1, owner=self.world.new_id())
        await self.world.write(lambda tx: tx.update_run(self.run))

    async def _change(self, call_id: str, change: Any) -> None:
        (row,) = [row for row in await self.calls() if row.call_id == call_id]
        await self.world.write(lambda tx: tx.update_calls([change(row)]))


@asynccontextmanager
async def a_desk(url: str, servers: McpServers | None = None) -> AsyncIterator[Desk]:
    async with opened(url) as (_, store):
        world = await new_world(store)
        before = identified(world.root, BEFORE)
        effects = stored(before, "client")
        parent = await world.child(world.root, effects=effects, mark=mark_below(world.root, effects))
        floor = await world.child(parent, FloorState.GENERATING, output=None)
        run = world.run(floor)

        async def work(tx: WriteTx) -> None:
            await tx.insert_run(run)
            await tx.update_pending(replace(floor, run_id=run.run_id))

        await world.write(work)
        env = Env(store, cast(Any, None), cast(Any, None), world.now, world.new_id)
        ids = [item.memory_id for item in before.memory]
        pages = [run.page_id, world.new_id(), world.new_id()]
        yield Desk(world, env, parent, replace(floor, run_id=run.run_id), run, ids, pages, servers)
