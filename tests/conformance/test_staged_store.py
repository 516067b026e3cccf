"""The ledger's rows: what is read is what was written, and an entry is decided once."""

from dataclasses import replace
from datetime import datetime, timedelta

from kernel.storage.engine import Engines
from kernel.storage.staged import Ledgers
from kernel.storage.store import SqlStore
from kernel.tree.model import PageContent
from kernel.verbs.staged_store import (
    StagedConfig,
    StagedEffects,
    StagedFilter,
    StagedPage,
    StagedState,
    StagedWrite,
)
from kernel.verbs.store import WriteTx
from tests.conformance.staged_cases import decision, entry
from tests.conformance.world import World, new_world


async def inserted(world: World, *entries: StagedWrite) -> None:
    async def work(tx: WriteTx) -> None:
        for one in entries:
            await tx.insert_staged_write(one)

    await world.write(work)


def bare(one: StagedWrite) -> StagedWrite:
    """As a list has it: the kinds of its parts and no more."""
    empty = {
        StagedPage: StagedPage(None, PageContent(b"", ())),
        StagedConfig: StagedConfig(""),
        StagedEffects: StagedEffects(type(one.parts[0].effects)(), ()),  # type: ignore[union-attr]
    }
    return replace(one, parts=tuple(empty[type(part)] for part in one.parts))  # type: ignore[misc]


async def test_entries_are_read_as_they_were_written(store: SqlStore) -> None:
    world = await new_world(store)
    first, second = entry(world), entry(world, session=False)
    await inserted(world, first, second)
    for one in (first, second):
        assert await world.read(lambda tx, one=one: tx.staged_write(one.staged_write_id)) == one
        assert await world.write(lambda tx, one=one: tx.lock_staged_write(one.staged_write_id)) == one
    unknown = world.new_id()
    assert await world.read(lambda tx: tx.staged_write(unknown)) is None
    assert await world.write(lambda tx: tx.lock_staged_write(unknown)) is None


async def test_lists_are_newest_first_from_below_the_last(store: SqlStore) -> None:
    world = await new_world(store)
    made = [entry(world, session=number != 1) for number in range(4)]
    # Two of one moment: by id.
    made[3] = replace(made[3], create_time=made[2].create_time)
    await inserted(world, *made)
    order = sorted(made, key=lambda one: (one.create_time, one.staged_write_id), reverse=True)

    async def listed(
        where: StagedFilter, after: StagedWrite | None = None, limit: int = 9
    ) -> list[StagedWrite]:
        last = (after.create_time, after.staged_write_id) if after else None
        return await world.read(lambda tx: tx.staged_writes(where, last, limit))

    assert await listed(StagedFilter()) == [bare(one) for one in order]
    assert await listed(StagedFilter(), order[0], 2) == [bare(one) for one in order[1:3]]
    assert await listed(StagedFilter(), order[3]) == []
    of_session = [bare(one) for one in order if one.target.session_id]
    assert await listed(StagedFilter(session_id=world.session.session_id)) == of_session
    assert len(await listed(StagedFilter(project_id=world.session.project_id))) == 4
    assert await listed(StagedFilter(draft_id=made[0].origin.draft_id)) == [bare(made[0])]
    assert await listed(StagedFilter(staged_by="nobody")) == []
    decided = decision(world)
    assert await world.write(lambda tx: tx.settle_staged_write(made[0].staged_write_id, decided))
    assert await listed(StagedFilter(state=StagedState.ACCEPTED)) == [
        bare(replace(made[0], decision=decided))
    ]
    assert len(await listed(StagedFilter(state=StagedState.STAGED))) == 3


async def test_an_entry_is_decided_once(store: SqlStore) -> None:
    world = await new_world(store)
    one = entry(world)
    await inserted(world, one)
    first, second = decision(world), decision(world, StagedState.REJECTED)
    assert await world.write(lambda tx: tx.settle_staged_write(one.staged_write_id, first))
    assert not await world.write(lambda tx: tx.settle_staged_write(one.staged_write_id, second))
    assert not await world.write(lambda tx: tx.settle_staged_write(world.new_id(), second))
    assert await world.read(lambda tx: tx.staged_write(one.staged_write_id)) == replace(one, decision=first)


async def test_those_whose_time_is_up_are_found_and_ended_together(store: SqlStore, engines: Engines) -> None:
    world, ledgers = await new_world(store), Ledgers(engines)
    made = [entry(world) for _ in range(3)]
    await inserted(world, *made)
    await world.write(lambda tx: tx.settle_staged_write(made[0].staged_write_id, decision(world)))

    async def due(now: datetime) -> list[str]:
        """Of this tenant; the oldest first."""
        return [found[1] for found in await ledgers.expired(now, 1_000) if found[0] == world.tenant]

    up = made[1].expire_time
    assert await due(up) == [made[1].staged_write_id]
    assert await due(up - timedelta(microseconds=1)) == []
    assert await due(up + timedelta(days=1)) == [one.staged_write_id for one in made[1:]]
    assert len(await ledgers.expired(up + timedelta(days=1), 1)) == 1
    expired = decision(world, StagedState.EXPIRED)
    ids = [one.staged_write_id for one in made]
    ended = await world.write(lambda tx: tx.settle_expired(ids, expired))
    assert ended == [bare(replace(one, decision=expired)) for one in made[1:]]
    assert await world.write(lambda tx: tx.settle_expired(ids, expired)) == []
    assert await due(up + timedelta(days=99)) == []


async def test_an_erased_session_takes_its_entries_along(store: SqlStore) -> None:
    world = await new_world(store)
    made = [entry(world), entry(world, session=False)]
    await inserted(world, *made)
    taken = await world.write(lambda tx: tx.erase_session(world.session, "p"))
    assert {one.store: one.rows for one in taken}["staged_write"] == 1
    left = await world.read(lambda tx: tx.staged_writes(StagedFilter(), None, 9))
    assert left == [bare(made[1])]
