"""Writes that may be refused, and what each of them changes: sealed floors, conditional heads, leaves."""

import traceback
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.tree.digest import floor_digest
from kernel.tree.model import Floor, FloorState, Place, Slot, StateMark, Usage
from kernel.tree.places import ChildPlace, Link, left_behind
from kernel.verbs.store import WriteTx
from tests.conformance.cases import Furnished, furnished, writes_in_order
from tests.conformance.world import World, new_world, rows_of


def sealed(world: World, pending: Floor, parent: Floor) -> Floor:
    output = world.page(pending.floor_id, Slot.OUTPUT, "chosen", partial=True)
    assert parent.digest is not None
    return replace(
        pending,
        state=FloorState.COMMITTED,
        output=output,
        digest=floor_digest(parent.digest, pending.input, output),
        path_tokens=2**40,
        usage=Usage(2**40, 3, True),
        run_id=world.new_id(),
        failure_reason="none really",
        commit_time=world.now(),
    )


@pytest.mark.parametrize("state", [FloorState.OPEN, FloorState.GENERATING])
async def test_a_pending_floor_may_change_until_it_is_sealed(world: World, state: FloorState) -> None:
    pending = await world.child(world.root, state, output=None)
    done = sealed(world, pending, world.root)
    for stage in (replace(pending, input=None), replace(pending, state=FloorState.OPEN), done):
        await world.write(lambda tx, stage=stage: tx.update_pending(stage))
        assert await world.read(lambda tx: tx.floor(pending.floor_id)) == stage


@pytest.mark.parametrize("state", [FloorState.COMMITTED, FloorState.FAILED])
async def test_a_sealed_floor_never_changes(engines: Engines, world: World, state: FloorState) -> None:
    """T2: not by the only method that updates floors, whatever it is told."""
    floor = await world.child(world.root, state)
    before = await rows_of(engines, world.tenant)
    for other in (
        replace(floor, output=None),
        replace(floor, state=FloorState.OPEN, digest=None),
        replace(floor, failure_reason="changed"),
        floor,
    ):
        with pytest.raises(AssertionError, match="pending"):
            await world.write(lambda tx, other=other: tx.update_pending(other))
    assert await rows_of(engines, world.tenant) == before


async def test_no_other_method_touches_a_sealed_floor(engines: Engines, on_furnished: Furnished) -> None:
    """T2, over all of them: what is sealed before a write is there after it, byte for byte."""
    on = on_furnished

    async def sealed_rows() -> list[Any]:
        floors = (await rows_of(engines, on.world.tenant))["floor"]
        return [row for row in floors if {"committed", "failed"} & set(row)]

    before = await sealed_rows()
    assert len(before) == 4
    # Erasure alone takes rows away; what a repair derives again is below.
    apart = ("erase_session", "blank_in", "update_derived")
    for _, write in (case for case in writes_in_order() if case[0] not in apart):
        await on.world.write(lambda tx, write=write: write(tx, on))
        after = await sealed_rows()
        assert [row for row in after if row in before] == before


async def test_a_repair_touches_derived_columns_alone(engines: Engines, on_furnished: Furnished) -> None:
    on, columns = on_furnished, [column.name for column in t.floor.c]
    before = (await rows_of(engines, on.world.tenant))["floor"]
    mark = StateMark(on.world.root.floor_id, 3, 44)
    other = replace(on.first, path_tokens=77, mark=mark, digest=None, output=None, principal="x")
    await on.world.write(lambda tx: tx.update_derived(other))
    after = (await rows_of(engines, on.world.tenant))["floor"]
    changed = [
        name
        for old, new in zip(before, after, strict=True)
        for name, was, now in zip(columns, old, new, strict=True)
        if was != now
    ]
    assert changed == ["path_tokens", "effects_above_id", "state_debt", "state_size"]


@pytest.fixture
async def on_furnished(world: World) -> Furnished:
    return await furnished(world.store)


async def test_a_floor_that_is_absent_cannot_be_updated(world: World) -> None:
    place = Place(0, 1)
    nobody = replace(world.root, floor_id=world.new_id(), place=place, state=FloorState.OPEN)
    with pytest.raises(AssertionError, match="pending"):
        await world.write(lambda tx: tx.update_pending(nobody))


async def test_a_head_moves_only_from_what_was_seen(world: World) -> None:
    """T3: head and pending floor are both compared; what is refused changes nothing."""
    session_id, main = world.session.session_id, world.main
    first, second = await world.line(world.root, 2)
    pending = await world.child(second, FloorState.OPEN)
    moved = replace(main, head_floor_id=second.floor_id, depth=2, version=2, update_time=world.now())

    async def update(seen: Any, new: Any) -> bool:
        return await world.write(lambda tx: tx.update_branch(session_id, seen, new))

    assert not await update(replace(main, head_floor_id=first.floor_id), moved)
    assert not await update(replace(main, pending_floor_id=pending.floor_id), moved)
    assert not await update(replace(main, name="none"), replace(moved, name="none"))
    assert await world.read(lambda tx: tx.branch(session_id, "main")) == main
    assert await update(main, moved)
    assert not await update(main, replace(main, version=9))
    opened = replace(moved, pending_floor_id=pending.floor_id, version=3)
    assert await update(moved, opened)
    assert not await update(moved, replace(moved, version=9)), "nothing pending was seen, and there is"
    ended = replace(opened, pending_floor_id=None, failed_floor_id=pending.floor_id, version=4)
    assert await update(opened, ended)
    assert await world.read(lambda tx: tx.branch(session_id, "main")) == ended
    # A head that was left and returned to matches again.
    assert await update(replace(moved, version=77), replace(moved, version=5))


async def test_activity_and_tokens_are_added_up(world: World) -> None:
    session_id = world.session.session_id
    for tokens in (5, 0, 2**40):
        await world.write(lambda tx, tokens=tokens: tx.touch_session(session_id, tokens))
    session = await world.read(lambda tx: tx.session(session_id))
    assert session is not None
    assert session.stored_tokens == 5 + 2**40
    assert session.last_activity_time - world.session.last_activity_time > timedelta(hours=1)
    activity = session.last_activity_time
    assert session == replace(world.session, stored_tokens=5 + 2**40, last_activity_time=activity)


async def test_a_deleted_branch_forgets_its_leaves_and_no_other_does(world: World) -> None:
    session_id = world.session.session_id
    leaf = await world.child(world.root)
    links = [Link(0, 0, 1)]

    async def left(branch: str) -> Floor | None:
        return await world.read(lambda tx: tx.leaf_left(session_id, branch, leaf.place))

    for name in ("one", "two"):
        await world.write(lambda tx, name=name: tx.insert_branch(session_id, replace(world.main, name=name)))
        await world.write(lambda tx, name=name: tx.leave(session_id, name, leaf.floor_id, links, 2))
    assert await left("main") is None
    assert await left("one") == leaf
    await world.write(lambda tx: tx.delete_branch(session_id, "one"))
    assert await world.read(lambda tx: tx.branch(session_id, "one")) is None
    assert await left("two") == leaf
    await world.write(lambda tx: tx.insert_branch(session_id, replace(world.main, name="one")))
    assert await left("one") is None


async def test_leaving_nothing_remembers_nothing(engines: Engines, world: World) -> None:
    session_id = world.session.session_id
    await world.write(lambda tx: tx.leave(session_id, "main", world.root.floor_id, [], 2))
    assert (await rows_of(engines, world.tenant))["left_leaf"] == []


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_leaf_left_is_the_last_one_that_was_left_below(world: World, seed: int) -> None:
    """T6 on a random walk over a random tree: the store against the moves themselves."""
    random, floors, parents = Random(seed), [world.root], {world.root.floor_id: ""}
    for _ in range(14):
        floors.append(await world.child(random.choice(floors[-4:])))
        parents[floors[-1].floor_id] = floors[-1].parent_floor_id or ""
    by_id = {floor.floor_id: floor for floor in floors}

    def path(floor_id: str) -> list[str]:
        return [*path(parents[floor_id]), floor_id] if floor_id else []

    head, moves = world.root, list[tuple[str, str]]()
    seen = 0
    for version in range(2, 20):
        target = random.choice(floors)

        async def move(
            tx: WriteTx, source: Floor = head, target: Floor = target, number: int = version
        ) -> None:
            chains = [await tx.chain(floor.session_id, floor.place) for floor in (source, target)]
            await tx.leave(target.session_id, "main", source.floor_id, left_behind(*chains), number)

        await world.write(move)
        moves.append((head.floor_id, target.floor_id))
        head = target
        async with world.store.reading(world.tenant) as tx:
            for below in (floor for floor in floors if floor.floor_id not in path(head.floor_id)):
                left = [s for s, t in moves if below.floor_id in path(s) and below.floor_id not in path(t)]
                found = await tx.leaf_left(below.session_id, "main", below.place)
                assert found == (by_id[left[-1]] if left else None)
                seen += bool(left)
    assert seen > 20, "a walk that leaves nothing shows nothing"


async def test_a_known_project_stays_as_it_is(engines: Engines, world: World) -> None:
    before = await rows_of(engines, world.tenant)
    await world.write(lambda tx: tx.insert_project(world.session.project_id, "another title"))
    assert await rows_of(engines, world.tenant) == before


def _orphan(world: World) -> Floor:
    """A floor whose parent's place nobody holds."""
    parent = replace(world.root, place=Place(0, 5))
    return replace(world.floor(world.root, _place(6)), parent_segment=parent.place.segment)


def _place(depth: int) -> ChildPlace:
    return ChildPlace(Place(0, depth), 0, opens_segment=False)


BROKEN: dict[str, Callable[[World, WriteTx], Any]] = {
    "a floor without a parent": lambda world, tx: tx.insert_floor(_orphan(world), False),
    "a floor of no session": lambda world, tx: tx.insert_floor(
        replace(world.floor(world.root, _place(1)), session_id=world.new_id()), False
    ),
    "a session of no project": lambda world, tx: tx.insert_session(*world.new_session(world.new_id())),
    "a head that is no floor": lambda world, tx: tx.insert_branch(
        world.session.session_id, replace(world.main, name="x", head_floor_id=world.new_id())
    ),
    "a page of no floor": lambda world, tx: tx.insert_page(
        world.new_id(), world.session.session_id, world.page(world.new_id(), Slot.INPUT)
    ),
}


@pytest.mark.parametrize("name", sorted(BROKEN))
async def test_what_names_nothing_is_refused_without_the_drivers_words(
    engines: Engines, store: Any, name: str
) -> None:
    """T1 holds in the database itself. Such a write is a fault of ours: no driver's error may leave the
    store, since its text quotes the statement and what was stored."""
    secret = "a secret that somebody wrote"
    world = await new_world(store, mark=secret)
    before = await rows_of(engines, world.tenant)
    with pytest.raises(Exception) as caught:  # noqa: PT011 (which kind is what is asserted below)
        await world.write(lambda tx: BROKEN[name](world, tx))
    assert await rows_of(engines, world.tenant) == before
    assert type(caught.value).__module__.split(".")[0] not in (
        "sqlalchemy",
        "asyncpg",
        "sqlite3",
        "aiosqlite",
    )
    assert secret not in "".join(traceback.format_exception(caught.value)), "nor does what a log would show"
