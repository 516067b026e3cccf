"""Reads of the tree, each against walking up parents, on trees with forks, failed and pending floors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import pytest

from kernel.storage.store import SqlStore
from kernel.tree.model import Floor, FloorOutline, FloorState, PageContent, PageOutline, Place
from kernel.tree.places import on_path
from kernel.tree.positions import Sibling
from kernel.verbs.store import WriteTx
from tests.conformance.world import World, new_world, next_place

FLOORS = 60


@dataclass
class Grown:
    """A written tree as parents say it, the root first, each floor after its parent."""

    world: World
    floors: list[Floor]

    @property
    def session_id(self) -> str:
        return self.world.session.session_id

    @property
    def committed(self) -> list[Floor]:
        return [floor for floor in self.floors if floor.state is FloorState.COMMITTED]

    def path(self, floor: Floor) -> list[Floor]:
        above = [other for other in self.floors if other.floor_id == floor.parent_floor_id]
        return [*self.path(above[0]), floor] if above else [floor]

    def children(self, floor: Floor) -> list[Floor]:
        found = [other for other in self.floors if other.parent_floor_id == floor.floor_id]
        return sorted(found, key=lambda other: other.ordinal)

    def committed_children(self, floor: Floor) -> list[Floor]:
        return [other for other in self.children(floor) if other.state is FloorState.COMMITTED]

    def last_leaf(self, floor: Floor) -> Floor:
        children = self.committed_children(floor)
        return self.last_leaf(children[-1]) if children else floor


async def grown(world: World, seed: int) -> Grown:
    """In one write: most floors near the newest one, one in five failed, and an open one."""
    random, tree = Random(seed), Grown(world, [world.root])

    async def work(tx: WriteTx) -> None:
        for number in range(FLOORS):
            committed = tree.committed
            parent = random.choice(committed[-3:] if random.random() < 0.7 else committed)
            state = FloorState.FAILED if random.random() < 0.2 else FloorState.COMMITTED
            if number == FLOORS - 1:
                state = FloorState.OPEN
            side = random.choice([{}, {"input": None}, {"output": None}, {"input": parent.input}])
            if side == {"input": None} and parent.is_root:
                side = {}
            place = await next_place(tx, parent)
            floor = world.floor(parent, place, state, **side)
            await tx.insert_floor(floor, place.opens_segment)
            tree.floors.append(floor)

    await world.write(work)
    return tree


@pytest.fixture(params=[1, 2])
async def tree(request: pytest.FixtureRequest, store: SqlStore) -> Grown:
    return await grown(await new_world(store), request.param)


def sibling(floor: Floor) -> Sibling:
    input_page = floor.input.page_id if floor.input else None
    return Sibling(floor.floor_id, floor.ordinal, input_page, floor.output is not None)


def outlined(floor: Floor) -> FloorOutline:
    pages = [PageOutline(page.page_id, page.content.facts, len(page.content.blob)) for page in floor.pages]
    return FloorOutline(floor.floor_id, floor.place.depth, tuple(pages))


def without_bodies(floor: Floor) -> Floor:
    empty = PageContent(b"", ())
    sides = {
        name: page and replace(page, content=empty)
        for name, page in (("input", floor.input), ("output", floor.output))
    }
    return replace(floor, **sides)


async def test_a_floor_comes_back_as_it_was_written(tree: Grown) -> None:
    async with tree.world.store.reading(tree.world.tenant) as tx:
        for floor in tree.floors:
            assert await tx.floor(floor.floor_id) == floor


async def test_the_chain_holds_exactly_the_path(tree: Grown) -> None:
    async with tree.world.store.reading(tree.world.tenant) as tx:
        for end in tree.floors:
            chain = await tx.chain(tree.session_id, end.place)
            held = {floor.floor_id for floor in tree.floors if on_path(chain, floor.place)}
            assert held == {floor.floor_id for floor in tree.path(end)}
            # From the root's on, each link where the one before it ends.
            assert chain[0].first == 0
            assert [link.first for link in chain[1:]] == [link.last + 1 for link in chain[:-1]]
            assert (chain[-1].segment, chain[-1].last) == (end.place.segment, end.place.depth)


def ranges(path: Sequence[Floor], random: Random) -> list[tuple[int, int]]:
    depth = len(path) - 1
    some = [tuple(sorted((random.randint(0, depth), random.randint(0, depth)))) for _ in range(2)]
    return [(0, depth), (1, depth), (depth, depth), (depth + 1, depth + 9), *some]


async def test_a_path_is_the_floors_by_depth_between_two_depths(tree: Grown) -> None:
    random = Random(7)
    async with tree.world.store.reading(tree.world.tenant) as tx:
        for end in random.sample(tree.committed, 12):
            path = tree.path(end)
            for first, last in ranges(path, random):
                expected = path[first : last + 1]
                assert await tx.path(tree.session_id, end.place, first, last) == expected
                outline = await tx.path_outline(tree.session_id, end.place, first, last)
                assert outline == [outlined(floor) for floor in expected]


async def test_siblings_of_a_path_are_all_committed_children_of_its_parents(tree: Grown) -> None:
    random = Random(8)
    async with tree.world.store.reading(tree.world.tenant) as tx:
        for end in random.sample(tree.committed, 12):
            path = tree.path(end)
            for first, last in ranges(path, random):
                found = await tx.path_siblings(tree.session_id, end.place, first, last)
                expected = {
                    (parent.floor_id, sibling(child))
                    for parent in path[max(0, first - 1) : last]
                    for child in tree.committed_children(parent)
                }
                assert len(found) == len(set(found)), "each sibling once"
                assert set(found) == expected


async def test_children_are_the_committed_ones_by_ordinal(tree: Grown) -> None:
    async with tree.world.store.reading(tree.world.tenant) as tx:
        for parent in tree.committed:
            expected = tree.committed_children(parent)
            assert await tx.children(tree.session_id, parent.place, -1, 100) == expected
            assert await tx.child_outlines(tree.session_id, parent.place) == [
                (sibling(child), child.place, sum(len(page.content.blob) for page in child.pages))
                for child in expected
            ]
            assert await tx.child_count(tree.session_id, parent.place) == len(tree.children(parent))


async def test_children_come_in_pages(tree: Grown) -> None:
    parent = max(tree.committed, key=lambda floor: len(tree.committed_children(floor)))
    expected = tree.committed_children(parent)
    assert len(expected) > 2
    async with tree.world.store.reading(tree.world.tenant) as tx:
        seen: list[Floor] = []
        while found := await tx.children(tree.session_id, parent.place, seen[-1].ordinal if seen else -1, 2):
            assert len(found) <= 2
            seen += found
    assert seen == expected


async def test_the_tree_is_every_floor_by_place_without_bodies(tree: Grown) -> None:
    expected = sorted(tree.floors, key=lambda floor: (floor.place.segment, floor.place.depth))
    async with tree.world.store.reading(tree.world.tenant) as tx:
        found = await tx.tree(tree.session_id, None, 1_000)
        assert found == [without_bodies(floor) for floor in expected]
        seen: list[Floor] = []
        while page := await tx.tree(tree.session_id, seen[-1].place if seen else None, 7):
            assert len(page) <= 7
            seen += page
    assert seen == found
    before: set[str | None] = {None}
    for floor in found:
        assert floor.parent_floor_id in before, "a parent comes before its children"
        before.add(floor.floor_id)


async def test_the_last_leaf_is_down_by_the_highest_committed_ordinal(tree: Grown) -> None:
    async with tree.world.store.reading(tree.world.tenant) as tx:
        for floor in tree.committed:
            assert await tx.last_leaf(tree.session_id, floor.place) == tree.last_leaf(floor)


async def test_the_next_segment_is_one_that_nobody_has(tree: Grown) -> None:
    used = {floor.place.segment for floor in tree.floors}
    assert await tree.world.read(lambda tx: tx.next_segment(tree.session_id)) == max(used) + 1


async def test_a_failed_floor_keeps_its_place(world: World) -> None:
    failed = await world.child(world.root, FloorState.FAILED)
    after = await world.child(world.root)
    assert (failed.place, after.place) == (Place(0, 1), Place(1, 1))
    assert (failed.ordinal, after.ordinal) == (0, 1)
    below = await world.child(after)
    async with world.store.reading(world.tenant) as tx:
        session_id = world.session.session_id
        assert await tx.path(session_id, below.place, 0, 9) == [world.root, after, below]
        assert await tx.last_leaf(session_id, world.root.place) == below
