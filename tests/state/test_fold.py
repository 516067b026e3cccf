"""State by folding the path is the state by the service, on random trees (C2)."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernel.state.fold import apply
from kernel.state.model import (
    EMPTY,
    Effects,
    MemoryKind,
    MemoryOp,
    MemoryWrite,
    Origin,
    Scope,
    SlotWrite,
    State,
    VariableWrite,
)
from kernel.state.text import effects_from
from kernel.tree.model import Floor
from kernel.verbs.append import Turn, append_floor
from kernel.verbs.effects import Given, last_said
from kernel.verbs.env import Caller, Env, Target, Write
from kernel.verbs.heads import move_to
from kernel.verbs.siblings import Regenerate, regenerate_floor
from kernel.verbs.state import path_state
from kernel.verbs.verify import verify_session
from tests.conformance.world import World, content, new_world, opened
from tests.conftest import DatabaseFactory

KEYS = st.sampled_from(["hp", "mood", "__proto__"])
VALUES = st.none() | st.integers(-3, 2**60).map(json.dumps)
VARIABLES = st.builds(VariableWrite, st.just(Scope.PATH), KEYS, VALUES)
SLOTS = st.builds(SlotWrite, st.just("game"), KEYS, VALUES)
# An item that is changed or deprecated is named by its number among the visible ones.
ADD = st.tuples(st.just(MemoryOp.ADD), st.sampled_from(MemoryKind), st.sampled_from(["", "name", "home"]))
MEMORY = ADD | st.tuples(
    st.sampled_from([MemoryOp.UPDATE, MemoryOp.DEPRECATE]), st.integers(0, 5), st.just("")
)
EFFECTS = st.tuples(
    st.lists(VARIABLES, max_size=2), st.lists(MEMORY, max_size=2), st.lists(SLOTS, max_size=1)
)
# (what, which floor, effects): turns above all, so that copies of the state come to lie on paths.
STEPS = st.lists(
    st.tuples(st.sampled_from(["turn"] * 6 + ["move", "regenerate"]), st.integers(0, 10**6), EFFECTS),
    min_size=20,
    max_size=45,
)


@dataclass
class Tree:
    """The service's tree, and the oracle: each floor's effects and parent, nothing else."""

    world: World
    env: Env
    session_id: str
    floors: list[Floor]
    head: Floor
    origins: dict[str, tuple[Effects, Origin]] = field(default_factory=dict)

    def folded(self, floor: Floor) -> State:
        by_id = {one.floor_id: one for one in self.floors}
        path = [floor]
        while path[-1].parent_floor_id:
            path.append(by_id[path[-1].parent_floor_id])
        state = EMPTY
        for one in reversed(path):
            if one.floor_id in self.origins:
                state = apply(state, *self.origins[one.floor_id])
        return state

    def write(self) -> Write:
        return Write(Caller(self.world.tenant, "somebody"), self.world.request())

    def effects(self, drawn: Any, above: Floor) -> Given | None:
        variables, memory, slots = drawn
        visible = [m.memory_id for m in self.folded(above).memory.values() if not m.deprecated]
        writes = []
        for op, what, key in memory:
            if op is MemoryOp.ADD:
                fact_key = key if what is MemoryKind.FACT else ""
                writes.append(MemoryWrite(op, "", what, fact_key, f"text {len(self.floors)}", 0.5, 1.0))
            elif visible:
                memory_id = visible.pop(what % len(visible))
                text = "anew" if op is MemoryOp.UPDATE else ""
                writes.append(MemoryWrite(op, memory_id, text=text))
        found = Effects(tuple(variables), tuple(writes), tuple(slots))
        # A fact that is superseded in the same floor is not there to be changed.
        if any(write.op is MemoryOp.ADD for write in writes):
            found = Effects(found.variables, tuple(w for w in writes if w.op is MemoryOp.ADD), found.slots)
        return Given(found, ("",) * len(found.memory)) if found else None

    async def step(self, what: str, which: int, drawn: Any) -> None:
        target, floor = Target(self.session_id), self.floors[which % len(self.floors)]
        if what == "move":
            await move_to(self.env, self.write(), target, floor.floor_id)
            self.head = floor
            return
        if what == "regenerate" and not floor.is_root:
            (parent,) = [one for one in self.floors if one.floor_id == floor.parent_floor_id]
            ask = Regenerate(floor.floor_id, content("again"), effects=self.effects(drawn, parent))
            done = await regenerate_floor(self.env, self.write(), target, ask)
        else:
            turn = Turn(content("in"), content("out"), effects=self.effects(drawn, self.head))
            done = await append_floor(self.env, self.write(), target, turn)
        self.head = done.floor
        self.floors.append(done.floor)
        if (effects := done.floor.effects) is not None:
            origin = Origin(done.floor.floor_id, last_said(done.floor), effects.source)
            self.origins[done.floor.floor_id] = (effects_from(effects.blob), origin)


@pytest.fixture(scope="module")
def urls(database_factory: DatabaseFactory) -> Iterator[dict[str, str]]:
    with ExitStack() as until:
        yield {name: until.enter_context(database_factory(name)) for name in ("sqlite", "postgres")}


async def run(url: str, steps: list[Any]) -> None:
    async with opened(url) as (_, store):
        world = await new_world(store)
        env = Env(store, cast(Any, None), cast(Any, None), world.now, world.new_id)
        tree = Tree(world, env, world.session.session_id, [world.root], world.root)
        for step in steps:
            await tree.step(*step)
        async with store.reading(world.tenant) as tx:
            for floor in tree.floors:
                assert await path_state(tx, floor) == tree.folded(floor), floor.place
            copies = await tx.state_copies(tree.session_id)
        longest = max(floor.place.depth for floor in tree.floors)
        assert bool(copies) or longest < 40 or len(tree.origins) < 40
        found = await verify_session(env, Caller(world.tenant, "somebody"), tree.session_id)
        assert found.problems == []


@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_folding_the_path_is_what_the_service_says(
    engine: str, urls: dict[str, str], steps: list[Any]
) -> None:
    asyncio.run(run(urls[engine], steps))


def test_a_long_path_keeps_copies(engine: str, urls: dict[str, str]) -> None:
    """The same on a line of turns that all write, with a fork in between."""
    writes = ([VariableWrite(Scope.PATH, "hp", "1")], [(MemoryOp.ADD, MemoryKind.FACT, "name")], [])
    steps = [("turn", 0, writes)] * 20 + [("regenerate", 18, writes)] + [("turn", 0, writes)] * 20
    asyncio.run(run(urls[engine], steps))
