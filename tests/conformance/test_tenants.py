"""Two tenants with the same ids and the same data: neither sees nor changes anything of the other (R6)."""

from typing import Any

from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.verbs.prefix_store import PrefixReads
from kernel.verbs.records import Committed, Replayed
from kernel.verbs.store import ReadTx, WriteTx
from tests.conformance.cases import (
    OF_A_KNOWN_SESSION,
    READS,
    WITHOUT_ROWS,
    WRITES,
    Furnished,
    furnished,
    methods_of,
    writes_in_order,
)
from tests.conformance.world import new_world, rows_of

OURS, THEIRS = "of ours", "of theirs"


async def both(store: SqlStore) -> tuple[Furnished, Furnished]:
    ours, theirs = await furnished(store, mark=OURS), await furnished(store, mark=THEIRS)
    assert ours.session_id == theirs.session_id
    assert ours.world.tenant != theirs.world.tenant
    return ours, theirs


async def answers(on: Furnished) -> dict[str, Any]:
    async with on.world.store.reading(on.world.tenant) as tx:
        return {name: await read(tx, on) for name, read in READS.items()}


def test_every_method_has_a_case() -> None:
    """A new method of a transaction needs a case in `cases.py`: so it is held to tenants and atomicity."""
    # Only a draft has anything before its root: tests/drafts.
    assert set(READS) == methods_of(ReadTx) - methods_of(PrefixReads)
    assert set(WRITES) == methods_of(WriteTx) - methods_of(ReadTx)


async def test_no_read_shows_another_tenants_rows(store: SqlStore) -> None:
    ours = await furnished(store, mark=OURS)
    before = await answers(ours)
    theirs = await furnished(store, mark=THEIRS)
    assert await answers(ours) == before
    for name, found in (await answers(theirs)).items():
        assert found, f"{name} has nothing to hide"
        assert OURS not in repr(found), name


async def test_what_belongs_to_another_tenant_is_absent(store: SqlStore) -> None:
    """For a tenant without a row of its own, each read is as for an id that nobody has."""
    ours = await furnished(store, mark=OURS)
    async with store.reading("a stranger") as tx:
        for name in set(READS) - OF_A_KNOWN_SESSION:
            found = await READS[name](tx, ours)
            assert found in (None, "", [], {}, 0, False), name


async def test_a_tenants_own_session_gives_no_way_in(store: SqlStore) -> None:
    """A session of the same id, but without the other's floors."""
    ours = await furnished(store, mark=OURS)
    bare = await new_world(store)
    assert bare.session.session_id == ours.session_id
    async with store.reading(bare.tenant) as tx:
        assert await tx.last_leaf(ours.session_id, bare.root.place) == bare.root
        assert await tx.next_segment(ours.session_id) == 1
        assert await tx.child_count(ours.session_id, bare.root.place) == 0


async def test_no_write_changes_another_tenants_rows(store: SqlStore, engines: Engines) -> None:
    ours, theirs = await both(store)
    before = await rows_of(engines, ours.world.tenant)
    last = await rows_of(engines, theirs.world.tenant)
    for name, write in writes_in_order():
        await theirs.world.write(lambda tx, write=write: write(tx, theirs))
        assert await rows_of(engines, ours.world.tenant) == before, name
        changed = await rows_of(engines, theirs.world.tenant)
        assert (changed != last) is (name not in WITHOUT_ROWS), f"{name} must do something"
        last = changed


async def test_append_stays_in_its_tenant(store: SqlStore, engines: Engines) -> None:
    """One batch with a record of each, of the same ids and the same request."""
    worlds = [await new_world(store, mark=mark) for mark in (OURS, THEIRS)]
    records = [world.record(world.root) for world in worlds]
    assert records[0].request == records[1].request
    before = await rows_of(engines, worlds[0].tenant)
    (first,) = await store.append(records[1:])
    assert isinstance(first, Committed)
    assert await rows_of(engines, worlds[0].tenant) == before
    both_outcomes = await store.append(records)
    assert [type(outcome) for outcome in both_outcomes] == [Committed, Replayed]
    for world, record in zip(worlds, records, strict=True):
        floor = await world.read(lambda tx, record=record: tx.floor(record.floor.floor_id))
        assert floor == record.floor
        events = await world.read(lambda tx, world=world: tx.events(world.session.project_id, 0, 9))
        assert [found.position for found in events] == [1]
