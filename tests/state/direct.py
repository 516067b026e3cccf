"""The verbs on a store of their own, without a service: nothing else writes meanwhile."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from kernel.state.model import Effects, MemoryKind, MemoryOp, MemoryWrite, Scope, SlotWrite, VariableWrite
from kernel.storage.engine import Engines
from kernel.verbs.append import Turn, append_floor
from kernel.verbs.effects import Given
from kernel.verbs.env import Caller, Env, Target, Write
from tests.conformance.world import World, content, new_world, opened

PATH_ONLY = Effects(
    (VariableWrite(Scope.PATH, "hp", "5"),),
    (MemoryWrite(MemoryOp.ADD, "", MemoryKind.FACT, text="Ann is hurt"),),
    (SlotWrite("game", "map", "[1]"),),
)
WITH_LIVE = Effects(
    (
        *PATH_ONLY.variables,
        VariableWrite(Scope.SESSION, "mood", '"calm"'),
        VariableWrite(Scope.PROJECT, "season", '"autumn"'),
    ),
    PATH_ONLY.memory,
    PATH_ONLY.slots,
)


def given(effects: Effects) -> Given:
    return Given(effects, ("",) * len(effects.memory))


@dataclass
class On:
    """A session of a tenant of its own."""

    engines: Engines
    world: World
    env: Env

    @property
    def target(self) -> Target:
        return Target(self.world.session.session_id)

    def write(self) -> Write:
        return Write(Caller(self.world.tenant, "somebody"), self.world.request())

    async def append(self, effects: Effects, write: Write | None = None) -> Any:
        turn = Turn(content("go on"), content("done"), effects=given(effects))
        return await append_floor(self.env, write or self.write(), self.target, turn)


@asynccontextmanager
async def on_store(url: str) -> AsyncIterator[On]:
    async with opened(url) as (engines, store):
        world = await new_world(store)
        env = Env(store, cast(Any, None), cast(Any, None), world.now, world.new_id)
        yield On(engines, world, env)
