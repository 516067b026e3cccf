"""Paths as rows that become bytes: the same as by values, on trees with forks and floors of all kinds."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from sqlalchemy import update

from kernel.errors import DataLoss
from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.tree.digest import page_digest
from kernel.tree.model import Floor, FloorState, Page, Position, Slot, Usage
from kernel.tree.places import Chain, Link, clipped
from kernel.tree.positions import Sibling
from kernel.verbs.answers import Shown, last_message
from kernel.verbs.path_store import MAX_BODY, PathSource, bodies
from kernel.verbs.store import WriteTx
from kernel.wire.floor_bytes import delimited, floor_bytes, position_bytes
from kernel.wire.path_bytes import LeftOut, PathWriter, above
from kernel.wire.path_cache import PathCache
from kernel.wire.path_chunks import Positioned
from kernel.wire.path_reader import PathFields, PathReader
from tests.conformance.state_cases import effects
from tests.conformance.test_tree_reads import Grown, grown
from tests.conformance.world import World, content, new_world, next_place

TAG = b"\x0a"


def partial(page: Page) -> Page:
    return replace(page, partial=True, digest=page_digest(page.slot, True, page.content.blob))


def holding(page: Page, *texts: str) -> Page:
    held = content(*texts)
    return replace(
        page, content=held, tokens=held.tokens, digest=page_digest(page.slot, page.partial, held.blob)
    )


def special(world: World, floor: Floor, number: int) -> Floor:
    """A committed floor that has what plain ones have not: each of it on another one."""
    assert floor.input is not None
    assert floor.output is not None
    run = world.new_id()
    kinds: list[dict[str, Any]] = [
        {},
        {"usage": Usage(7, 2**40, True), "run_id": run},
        {"usage": Usage(0, 0)},
        {"run_id": run, "output": replace(floor.output, floor_id=world.new_id())},
        {"output": partial(floor.output)},
        {"input": replace(floor.input, floor_id=world.new_id())},
        {"effects": effects("key", '"value"')},
        {"input": None, "output": None, "effects": effects("only", "1")},
        {"input": None},
        {"output": None},
        {"principal": "dürer", "input": replace(floor.input, source="von Süden")},
        {"commit_time": world.now(), "path_tokens": 2**45},
        {"principal": ""},
        {"input": holding(floor.input, "one"), "output": holding(floor.output, "o" * 127)},
        {"input": holding(floor.input, "o" * 128), "output": holding(floor.output, "o" * 16_380)},
        {"input": holding(floor.input, "o" * 16_381), "output": holding(floor.output, "o" * 40_000)},
        {"input": holding(floor.input, "one"), "output": holding(floor.output, "two", "words")},
    ]
    return replace(floor, **kinds[number % len(kinds)])


async def line(world: World, count: int) -> list[Floor]:
    floors = [world.root]

    async def work(tx: WriteTx) -> None:
        for number in range(count):
            place = await next_place(tx, floors[-1])
            floor = special(world, world.floor(floors[-1], place, FloorState.COMMITTED), number)
            await tx.insert_floor(floor, place.opens_segment)
            floors.append(floor)

    await world.write(work)
    return floors


def shown(floors: Sequence[Floor], previous: str) -> list[bytes]:
    found = []
    for floor in floors:
        found.append(delimited(TAG, floor_bytes(Shown(floor, previous))))
        previous = last_message(floor) or previous
    return found


async def written(source: PathSource, session_id: str, links: Sequence[Link], most: int) -> list[bytes]:
    """Of all floors at the links but the first, which only says what is above."""
    rows = await source.path_rows(session_id, links, most)
    over = above(rows)
    assert over is not None
    writer = PathWriter(TAG, session_id, rows, *over)
    return [writer.floor(row) for row in rows.rows[1:]]


async def test_every_kind_of_floor_has_the_bytes_of_its_value(store: SqlStore) -> None:
    world = await new_world(store)
    floors = await line(world, 32)
    session_id, last = world.session.session_id, len(floors) - 1
    async with store.reading(world.tenant) as tx, store.glances(world.tenant) as glances:
        stored = await tx.path(session_id, floors[-1].place, 0, last)
        for source in (tx, glances):
            found = await written(source, session_id, [Link(0, 0, last)], MAX_BODY)
            assert found == shown(stored[1:], "")


async def test_paths_through_forks_have_the_bytes_of_their_values(store: SqlStore) -> None:
    tree = await grown(await new_world(store), 3)
    random = Random(9)
    async with store.reading(tree.world.tenant) as tx, store.glances(tree.world.tenant) as glances:
        for end in random.sample(tree.committed[1:], 12):
            path = tree.path(end)
            chain = await glances.chain(tree.session_id, end.place)
            assert chain == await tx.chain(tree.session_id, end.place)
            first = random.randrange(len(path) - 1)
            before = next((found for one in path[first::-1] if (found := last_message(one))), "")
            if path[first].pages or first == 0:
                links = clipped(chain, first, len(path) - 1)
                assert await written(glances, tree.session_id, links, MAX_BODY) == shown(
                    path[first + 1 :], before
                )


async def test_siblings_are_told_at_forks_alone(store: SqlStore) -> None:
    tree = await grown(await new_world(store), 4)
    async with store.glances(tree.world.tenant) as glances:
        for end in tree.committed:
            chain = await glances.chain(tree.session_id, end.place)
            found = await glances.siblings_at_forks(tree.session_id, chain)
            expected = {
                (floor.floor_id, child.floor_id)
                for floor in tree.path(end)
                if len(tree.children(floor)) > 1
                for child in tree.committed_children(floor)
            }
            assert {(parent, one.floor_id) for parent, one in found} == expected
            assert len(found) == len(expected)
            assert all(one == of_floor(tree, one.floor_id) for _, one in found)


def of_floor(tree: Grown, floor_id: str) -> Sibling:
    (floor,) = [one for one in tree.floors if one.floor_id == floor_id]
    return Sibling(
        floor_id, floor.ordinal, floor.input.page_id if floor.input else None, floor.output is not None
    )


async def test_bodies_that_are_too_large_stay_where_they_are(store: SqlStore) -> None:
    world = await new_world(store)
    (floor,) = await world.line(world.root, 1)
    assert floor.input is not None
    session_id, size = floor.session_id, len(floor.input.content.blob)
    async with store.glances(world.tenant) as glances:
        with pytest.raises(LeftOut):
            await written(glances, session_id, [Link(0, 0, 1)], size - 1)
        rows = await glances.context_rows(session_id, [Link(0, 0, 1)], 0)
        assert bodies(rows) == {}
        assert [row[4] for row in rows.rows] == [None, size], "sizes are told all the same"


async def test_what_a_context_starts_from(store: SqlStore) -> None:
    world = await new_world(store)
    floors = await line(world, 24)
    session_id, end = world.session.session_id, floors[-1]
    async with store.reading(world.tenant) as tx, store.glances(world.tenant) as glances:
        for source in (tx, glances):
            basis = await source.basis(session_id, "", end.floor_id)
            assert basis is not None
            assert basis.tip == await tx.tip(session_id, "", end.floor_id)
            assert basis.session == await tx.session(session_id)
            assert basis.project == await tx.project(basis.session.project_id)
            stored = await tx.floor(end.floor_id)
            assert stored is not None
            assert (basis.end.place, basis.end.mark, basis.end.path_tokens) == (
                stored.place,
                stored.mark,
                stored.path_tokens,
            )
            assert await source.basis(session_id, "", world.new_id()) is None
            expected = {page.page_id: page.content.blob for floor in floors for page in floor.pages}
            assert await source.path_bodies(session_id, end.place, 0, 99) == expected
            outlines = await tx.path_outline(session_id, end.place, 0, 99)
            rows = await source.context_rows(session_id, [Link(0, 0, 99)], 0)
            assert [(rows.text(row[1]), row[0]) for row in rows.rows] == [
                (outline.floor_id, outline.depth) for outline in outlines
            ]


class Interrupted:
    """Glances between which somebody writes."""

    def __init__(self, source: PathSource, write: Callable[[], Awaitable[object]]) -> None:
        self._source, self._write = source, write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    async def siblings_at_forks(self, session_id: str, links: Chain) -> list[tuple[str, Sibling]]:
        await self._write()
        return await self._source.siblings_at_forks(session_id, links)


async def test_a_sibling_that_comes_between_two_glances(store: SqlStore) -> None:
    """Positions of after it would stand beside a path of before it: so a transaction is asked."""
    world = await new_world(store)
    first, second = await world.line(world.root, 2)
    await world.child(world.root)
    session_id = world.session.session_id
    async with store.glances(world.tenant) as glances:
        tip = await glances.tip(session_id, "", second.floor_id)
        assert tip is not None

        async def pages(source: Any) -> list[Positioned] | None:
            reader = PathReader(PathCache(10**6), PathFields(TAG, b"\x12"))
            return await reader.glanced(source, world.tenant, session_id, tip, 1, 2)

        undisturbed = await pages(glances)
        assert undisturbed is not None
        (found,) = undisturbed
        siblings = [Position(first.floor_id, 1, 2, 1, 1), Position(second.floor_id, 1, 1, 1, 1)]
        assert found.cut(2, backwards=False)[1] == b"".join(
            delimited(b"\x12", position_bytes(one)) for one in siblings
        )
        assert await pages(Interrupted(glances, lambda: world.child(world.root))) is None
    async with store.reading(world.tenant) as tx:
        now = await tx.tip(session_id, "", second.floor_id)
        assert now is not None
        assert now.forks == tip.forks + 1


@pytest.mark.parametrize("slot", Slot)
async def test_a_body_that_fails_its_digest_is_data_loss(
    store: SqlStore, engines: Engines, slot: Slot
) -> None:
    world = await new_world(store)
    (floor,) = await world.line(world.root, 1)
    page = floor.input if slot is Slot.INPUT else floor.output
    assert page is not None
    broken = {f"{slot.name.lower()}_blob": page.content.blob[:-1] + b"\x00"}
    async with engines.writing() as connection:
        await connection.execute(update(t.floor).where(t.floor.c.floor_id == floor.floor_id).values(**broken))
    async with store.glances(world.tenant) as glances:
        with pytest.raises(DataLoss) as told:
            await written(glances, floor.session_id, [Link(0, 0, 1)], MAX_BODY)
    assert told.value.metadata == {"page_id": page.page_id}
    async with store.reading(world.tenant) as tx:
        with pytest.raises(DataLoss) as told:
            await tx.path_bodies(floor.session_id, floor.place, 0, 1)
    assert told.value.metadata == {"page_id": page.page_id}
