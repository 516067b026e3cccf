"""A write is all of it or nothing, and its events and afterthoughts with it (C1, C3)."""

from functools import partial

import pytest

from kernel.errors import StemmaError, Unavailable
from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.verbs.records import Event
from kernel.verbs.store import WriteTx
from tests.conformance.cases import WRITES, Furnished, Write, furnished
from tests.conformance.world import World, rows_of


class Broken(Exception):
    """Not an error of the kernel: whatever the rule raises, nothing stays."""


@pytest.fixture
async def on(store: SqlStore) -> Furnished:
    return await furnished(store)


async def test_an_error_after_a_write_leaves_nothing(engines: Engines, on: Furnished) -> None:
    """For each method of a transaction. (That each does something is shown in `test_tenants.py`.)"""
    before = await rows_of(engines, on.world.tenant)
    after_commit: list[str] = []

    async def broken(write: Write, tx: WriteTx) -> None:
        tx.after_commit(lambda: after_commit.append("called"))
        await write(tx, on)
        raise Broken

    for name, write in WRITES.items():
        with pytest.raises(Broken):
            await on.world.write(partial(broken, write))
        assert await rows_of(engines, on.world.tenant) == before, name
    assert after_commit == []


async def test_all_writes_of_one_transaction_are_seen_in_it_and_stay(engines: Engines, on: Furnished) -> None:
    async def work(tx: WriteTx) -> int:
        await tx.touch_session(on.session_id, 3)
        session = await tx.session(on.session_id)
        assert session is not None
        await WRITES["insert_floor"](tx, on)
        return session.stored_tokens

    assert await on.world.write(work) == 3
    rows = await rows_of(engines, on.world.tenant)
    assert len(rows["floor"]) == 6


async def test_an_error_of_the_kernel_comes_out_as_it_is(world: World) -> None:
    error = StemmaError("SOME_REASON", "words", {"key": "value"})

    async def work(tx: WriteTx) -> None:
        raise error

    with pytest.raises(StemmaError) as caught:
        await world.write(work)
    assert caught.value is error


async def test_afterthoughts_come_once_and_after_the_commit(world: World) -> None:
    """In their order, and when another transaction can already see the rows."""
    called: list[str] = []

    async def work(tx: WriteTx) -> str:
        tx.after_commit(lambda: called.append("first"))
        tx.after_commit(lambda: called.append("second"))
        await tx.touch_session(world.session.session_id, 7)
        assert called == []
        return "result"

    assert await world.write(work) == "result"
    assert called == ["first", "second"]


@pytest.mark.parametrize("name", ["insert_floor", "insert_branch", "insert_run", "record", "insert_session"])
async def test_a_key_that_is_taken_for_good_is_refused_without_a_trace(
    engines: Engines, on: Furnished, name: str
) -> None:
    """The rules look before they write, so only a race meets a taken key, and a race ends. One that never
    ends must not show the driver's words."""
    world = on.world
    taken = {
        "insert_floor": lambda tx: tx.insert_floor(on.first, False),
        "insert_branch": lambda tx: tx.insert_branch(on.session_id, on.side),
        "insert_run": lambda tx: tx.insert_run(on.run),
        "record": lambda tx: tx.record(on.request, answer),
        "insert_session": lambda tx: tx.insert_session(world.session, world.root, world.main),
    }
    answer = await world.read(lambda tx: tx.answer(on.request))
    before = await rows_of(engines, world.tenant)
    tries = 0

    async def work(tx: WriteTx) -> None:
        nonlocal tries
        tries += 1
        await WRITES["touch_session"](tx, on)
        await taken[name](tx)

    with pytest.raises(Unavailable):
        await world.write(work)
    assert tries > 1, "a race is run again"
    assert await rows_of(engines, world.tenant) == before


async def test_a_lost_race_is_run_again_and_sees_what_won(world: World) -> None:
    """`work` may run more than once; only the run that commits counts."""
    session_id, taken = world.session.session_id, False
    called: list[int] = []

    async def work(tx: WriteTx) -> str:
        nonlocal taken
        tx.emit(world.session.project_id, Event(world.new_id(), "type", session_id))
        tx.after_commit(lambda: called.append(1))
        if taken:
            return "second run"
        taken = True
        await tx.insert_branch(session_id, world.main)
        return "first run"

    assert await world.write(work) == "second run"
    assert called == [1]
    assert len(await world.read(lambda tx: tx.events(world.session.project_id, 0, 9))) == 1
