"""The index of words, alike on both engines: whose entries, in which order, and who may write them."""

import asyncio
from itertools import pairwise

import pytest

from kernel.storage.store import SqlStore
from kernel.tree.model import Floor, Place
from kernel.tree.words import words
from kernel.verbs.search_store import Indexed, IndexEntry, IndexKey, WordQuery
from kernel.verbs.store import WriteTx
from tests.conformance.search_cases import entry
from tests.conformance.world import World, new_world

# Everything that either engine's query language knows, and quotes of all kinds.
NASTY = ["near", "not", "or", "and", "ä\u00f6", "你", "a" * 64, "\U00010400", "ẞ"]


async def index(world: World, *entries: IndexEntry) -> None:
    project_id = world.session.project_id

    async def work(tx: WriteTx) -> None:
        tx.emit(project_id, world.event())
        await tx.insert_entries(project_id, entries)

    await world.write(work)


async def found(
    world: World, *query: str, session_id: str = "", before: IndexKey | None = None, limit: int = 100
) -> list[IndexEntry]:
    wanted = WordQuery(world.session.project_id, session_id, query)
    return await world.read(lambda tx: tx.search(wanted, before, limit))


def bare(one: IndexEntry) -> IndexEntry:
    return IndexEntry(one.key, one.session_id, one.floor_id, one.page_id, one.message)


async def test_an_entry_is_found_by_all_of_its_words_and_no_other(world: World) -> None:
    floor = await world.child(world.root)
    one, other = entry(floor, "red", "green"), entry(floor, "red", "blue", number=1)
    await index(world, one, other)
    assert await found(world, "red") == [bare(other), bare(one)]
    assert await found(world, "green", "red") == [bare(one)]
    assert await found(world, "red", "gre") == []
    assert await found(world, "green", "blue") == []


@pytest.mark.parametrize("word", NASTY)
async def test_every_word_that_is_cut_is_found_as_it_stands(world: World, word: str) -> None:
    """What could be an operator, a prefix or two tokens to an engine is one plain word."""
    cut = words(word)
    assert len(cut) <= 2
    floor = await world.child(world.root)
    await index(world, entry(floor, *cut), entry(floor, "unlike", number=1))
    assert [one.key.number for one in await found(world, *cut)] == [0]
    assert [one.key.number for one in await found(world, "unlike")] == [1]


async def test_the_greatest_keys_come_first_page_by_page(world: World) -> None:
    floors = await world.line(world.root, 3)
    entries = [
        entry(floor, "word", position=position, number=number)
        for position, floor in zip((5, 5, 9), floors, strict=True)
        for number in range(2)
    ]
    await index(world, *entries)
    everything = await found(world, "word")
    keys = [(one.key.position, one.key.place.depth, one.key.number) for one in everything]
    assert keys == [(9, 3, 1), (9, 3, 0), (5, 2, 1), (5, 2, 0), (5, 1, 1), (5, 1, 0)]
    for last, following in pairwise(everything):
        assert await found(world, "word", before=last.key, limit=1) == [following]
    assert await found(world, "word", before=everything[-1].key) == []


async def test_a_search_stays_in_its_session_and_project(store: SqlStore, world: World) -> None:
    ((session, root, _),) = await world.more_sessions(1)
    here, there = await world.child(world.root), await world.child(root)
    await index(world, entry(here, "word"), entry(there, "word"))
    for floor, session_id in ((here, world.session.session_id), (there, session.session_id)):
        assert [one.floor_id for one in await found(world, "word", session_id=session_id)] == [floor.floor_id]
    assert len(await found(world, "word")) == 2
    elsewhere = WordQuery(world.new_id(), "", ("word",))
    assert await world.read(lambda tx: tx.search(elsewhere, None, 10)) == []


async def test_an_erased_session_gets_no_entries_and_keeps_none(world: World) -> None:
    floor = await world.child(world.root)
    await index(world, entry(floor, "word"))

    async def erase(tx: WriteTx) -> dict[str, int]:
        session = await tx.lock_session(world.session.session_id)
        assert session is not None
        return {one.store: one.rows for one in await tx.erase_session(session, "p")}

    assert (await world.write(erase))["search_message"] == 1
    await index(world, entry(floor, "word", number=7))
    assert await found(world, "word") == []
    assert await world.read(lambda tx: tx.indexed_floors([floor.floor_id])) == []


async def test_known_floors_are_told(world: World) -> None:
    floors: list[Floor] = await world.line(world.root, 3)
    await index(world, entry(floors[0], "a"), entry(floors[2], "a"), entry(floors[2], "b", number=1))
    told = await world.read(lambda tx: tx.indexed_floors([floor.floor_id for floor in floors]))
    assert sorted(told) == sorted([floors[0].floor_id, floors[2].floor_id])
    assert await world.read(lambda tx: tx.indexed_floors([])) == []


async def test_floors_lose_their_entries_and_no_others(world: World) -> None:
    floors = await world.line(world.root, 3)
    await index(world, *(entry(floor, "word", number=n) for floor in floors for n in range(2)))
    await world.write(lambda tx: tx.remove_entries([floors[0].floor_id, floors[2].floor_id]))
    assert [one.floor_id for one in await found(world, "word")] == [floors[1].floor_id] * 2


async def test_the_index_knows_how_far_it_is(world: World) -> None:
    project_id = world.session.project_id
    await index(world)
    assert await world.read(lambda tx: tx.indexed(project_id)) is None
    for far in (Indexed(3, Place(1, 2)), Indexed(4)):
        await world.write(lambda tx, far=far: tx.set_indexed(project_id, far))
        assert await world.read(lambda tx: tx.indexed(project_id)) == far


@pytest.mark.parametrize("engine", ["postgres"])
async def test_one_transaction_at_a_time_has_a_projects_index(store: SqlStore, world: World) -> None:
    """Another is told so at once; one of another project or tenant is not kept from its own."""
    stranger = await new_world(store)
    got, go = asyncio.Event(), asyncio.Event()

    async def holding(tx: WriteTx) -> None:
        assert await tx.lock_index(world.session.project_id)
        got.set()
        await go.wait()

    holder = asyncio.create_task(store.write(world.tenant, holding))
    await asyncio.wait_for(got.wait(), 20)
    assert not await world.write(lambda tx: tx.lock_index(world.session.project_id))
    assert await world.write(lambda tx: tx.lock_index(world.new_id()))
    assert await stranger.write(lambda tx: tx.lock_index(stranger.session.project_id))
    go.set()
    await holder
    assert await world.write(lambda tx: tx.lock_index(world.session.project_id))
