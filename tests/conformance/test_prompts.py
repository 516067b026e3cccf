"""What a model was sent is kept exactly, compactly, and until its session is erased (C4)."""

from dataclasses import replace

import pytest
from sqlalchemy import select, update

from kernel.errors import DataLoss
from kernel.prompt.record import PromptRecord
from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from tests.conformance.prompts import bare, record
from tests.conformance.world import World, new_world


async def kept(world: World, given: PromptRecord) -> PromptRecord | None:
    await world.write(lambda tx: tx.insert_prompt(given))
    return await world.read(lambda tx: tx.prompt(given.floor_id))


async def blocks(engines: Engines, world: World) -> int:
    async with engines.reading() as connection:
        rows = await connection.execute(
            select(t.prompt_block).where(t.prompt_block.c.tenant_id == world.tenant)
        )
        return len(rows.all())


async def test_a_record_comes_back_as_it_was(world: World) -> None:
    first, second, third = await world.line(world.root, 3)
    full = record(world, first)
    assert await kept(world, full) == full
    nothing = bare(record(world, second))
    assert await kept(world, nothing) == nothing
    assert await world.read(lambda tx: tx.prompt(third.floor_id)) is None


async def test_equal_blocks_are_stored_once_a_session(engines: Engines, world: World) -> None:
    floors = await world.line(world.root, 3)
    for floor in floors:
        await kept(world, record(world, floor))
    assert await blocks(engines, world) == 2, "a system prompt and a memory"
    other = replace(record(world, world.root, "another prompt"), floor_id=world.root.floor_id)
    await kept(world, other)
    assert await blocks(engines, world) == 3


async def test_a_block_counts_its_tokens_and_its_items(world: World) -> None:
    """Equal words with other counts or items are other blocks: neither record takes the other's."""
    first, second = await world.line(world.root, 2)
    one, two = record(world, first), record(world, second)
    assert one.system is not None
    counted = tuple(replace(fact, tokens=fact.tokens + 1) for fact in one.system.facts)
    recounted = replace(one.system, facts=counted)
    two = replace(two, system=recounted, memory=replace(two.memory, left_out=()))
    assert await kept(world, one) == one
    assert await kept(world, two) == two
    assert await world.read(lambda tx: tx.prompt(first.floor_id)) == one


@pytest.mark.parametrize("change", ["other bytes", "gone"])
async def test_a_block_that_is_not_what_was_stored_is_data_loss(
    engines: Engines, world: World, change: str
) -> None:
    (floor,) = await world.line(world.root, 1)
    await kept(world, record(world, floor))
    mine = t.prompt_block.c.tenant_id == world.tenant
    async with engines.writing() as connection:
        if change == "gone":
            await connection.execute(t.prompt_block.delete().where(mine))
        else:
            await connection.execute(update(t.prompt_block).where(mine).values(blob=b"other"))
    with pytest.raises(DataLoss):
        await world.read(lambda tx: tx.prompt(floor.floor_id))


async def test_an_erasure_takes_the_records_and_says_so(engines: Engines, store: SqlStore) -> None:
    world = await new_world(store)
    for floor in await world.line(world.root, 2):
        await kept(world, record(world, floor))

    receipt = await world.write(lambda tx: tx.erase_session(world.session, "somebody"))
    taken = {erased.store: erased.rows for erased in receipt}
    assert (taken["prompt"], taken["prompt_block"]) == (2, 2)
    assert await blocks(engines, world) == 0
