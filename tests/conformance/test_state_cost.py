"""What reading a state costs depends on the distance to its last copy alone: not on depth, not on forks."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from sqlalchemy import insert

from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.tree.model import Floor, Place
from kernel.tree.places import ChildPlace, first_child
from kernel.verbs.folding import Folded
from kernel.verbs.state import path_state
from tests.conformance.costs import Cost, cost
from tests.conformance.state_cases import effects
from tests.conformance.world import World, new_world, opened

SHALLOW, DEEP = 100, 10_000
# Every so manieth floor writes.
APART = 3


@dataclass
class Grown:
    """One path, written in bulk: by how many writes since the last copy, the deepest floor."""

    folded: Folded
    floors: list[Floor] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)
    deepest: dict[int, Floor] = field(default_factory=dict)


def grown(world: World, root: Floor, depth: int, forks: int = 0) -> Grown:
    made = Grown(Folded(root))
    parent = root
    for number in range(1, depth + 1):
        place = first_child(parent.place)
        if number <= forks:
            place = ChildPlace(Place(number, number), 1, opens_segment=True)
        given = effects(f"key {number % 7}", str(number)) if number % APART == 0 else None
        floor = world.floor(parent, place, input=None, effects=given)
        made.folded = made.folded.below(floor).settled(made.copies)
        parent = replace(floor, mark=made.folded.floor.mark)
        made.floors.append(parent)
        made.deepest[parent.mark.debt] = parent
    return made


async def written(engines: Engines, world: World, root: Floor, made: Grown) -> None:
    key = {"tenant_id": world.tenant, "session_id": root.session_id}
    hung = [
        {
            **key,
            "segment": floor.place.segment,
            "parent_segment": floor.parent_segment,
            "parent_depth": floor.place.depth - 1,
        }
        for floor in made.floors
        if floor.place.segment != floor.parent_segment
    ]
    async with engines.writing() as connection:
        if hung:
            await connection.execute(insert(t.segment), hung)
        values = [{"tenant_id": world.tenant, **rows.floor_values(floor)} for floor in made.floors]
        await connection.execute(insert(t.floor), values)
        copies = [{**key, "floor_id": floor_id, "state": text} for floor_id, text in made.copies.items()]
        await connection.execute(insert(t.state_copy), copies)
        if engines.dialect == "postgresql":
            await connection.exec_driver_sql("ANALYZE")


@pytest.fixture
async def world(migrated_url: str) -> AsyncIterator[tuple[Engines, World]]:
    async with opened(migrated_url) as (engines, store):
        yield engines, await new_world(store)


async def test_a_state_costs_the_same_at_any_depth(world: tuple[Engines, World]) -> None:
    """Right below a copy, and as far from one as can be; on a straight path, and where half of the floors
    open segments, as edits do."""
    engines, on = world
    shapes = [(SHALLOW, 0), (SHALLOW, SHALLOW), (DEEP, DEEP // 2)]
    trees = []
    for (_, root, _), (depth, forks) in zip(await on.more_sessions(len(shapes)), shapes, strict=True):
        trees.append(grown(on, root, depth, forks))
        await written(engines, on, root, trees[-1])
    counts: dict[int, Cost] = {}
    for debt in (0, 15):
        found = []
        for made in trees:
            floor = made.deepest[debt]
            found.append(await cost(engines, lambda f=floor: on.read(lambda tx: path_state(tx, f))))
        assert all(one == found[0] for one in found), found
        counts[debt] = found[0]
    if engines.dialect == "postgresql":
        for plan in ("custom_plan", "generic_plan"):
            # A row to find it and one to read it for each of them, and the copy.
            assert counts[0][f"rows, {plan}"] <= 3
            assert counts[15][f"rows, {plan}"] <= 2 * 16 + 1


async def test_what_was_read_is_the_state(world: tuple[Engines, World]) -> None:
    engines, on = world
    ((_, root, _),) = await on.more_sessions(1)
    made = grown(on, root, SHALLOW)
    await written(engines, on, root, made)
    floor: Any = made.floors[-1]
    state = await on.read(lambda tx: path_state(tx, floor))
    last = {f"key {n % 7}": str(n) for n in range(1, SHALLOW + 1) if n % APART == 0}
    assert {key: value.value_json for key, value in state.variables.items()} == last
