"""Single rows and lists: what was written comes back, in the order of the contract, or is absent."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from kernel.tree.model import Branch, FloorState, HeadMove, Slot, Usage
from kernel.verbs.records import RunState, Session, SessionOrder, SessionState
from kernel.verbs.store import ReadTx, SessionFilter, WriteTx
from tests.conformance.world import World

SOMEBODY = "01234567-89ab-7def-8123-456789abcdef"


async def test_a_session_comes_back_as_it_was_written(world: World) -> None:
    session = await world.read(lambda tx: tx.session(world.session.session_id))
    assert session == world.session
    assert await world.read(lambda tx: tx.branch(session.session_id, "main")) == world.main
    assert await world.read(lambda tx: tx.floor(session.root_floor_id)) == world.root
    head = await world.read(lambda tx: tx.branch_head(session.session_id, "main"))
    assert head == (world.main, world.root)


async def test_a_head_comes_with_its_bodies(world: World) -> None:
    floor = await world.child(world.root)
    other = Branch("other", floor.floor_id, None, None, 1, 1, world.now(), world.now())
    await world.write(lambda tx: tx.insert_branch(floor.session_id, other))
    assert await world.read(lambda tx: tx.branch_head(floor.session_id, "other")) == (other, floor)


async def test_absence_is_none_or_an_empty_list(world: World) -> None:
    session_id, place = SOMEBODY, world.root.place
    async with world.store.reading(world.tenant) as tx:
        assert await tx.answer(world.request(request_id=SOMEBODY)) is None
        assert await tx.session(session_id) is None
        assert not await tx.project_exists(SOMEBODY)
        assert await tx.sessions(SessionFilter(project_id=SOMEBODY), None, 9) == []
        assert await tx.branch(world.session.session_id, "none") is None
        assert await tx.branch_head(world.session.session_id, "none") is None
        assert await tx.branches(session_id, "", 9) == []
        assert await tx.floor(SOMEBODY) is None
        assert await tx.chain(session_id, place) == []
        assert await tx.path(session_id, place, 0, 9) == []
        assert await tx.path_outline(session_id, place, 0, 9) == []
        assert await tx.path_siblings(session_id, place, 0, 9) == []
        assert await tx.children(world.session.session_id, place, -1, 9) == []
        assert await tx.child_outlines(world.session.session_id, place) == []
        assert await tx.child_count(world.session.session_id, place) == 0
        assert await tx.tree(session_id, None, 9) == []
        assert await tx.leaf_left(world.session.session_id, "main", place) is None
        assert await tx.pages(SOMEBODY) == []
        assert await tx.page_versions(SOMEBODY) == []
        assert await tx.head_moves(world.session.session_id, "main", None, 9) == []
        assert await tx.run(SOMEBODY) is None
        assert await tx.run_of_floor(world.root.floor_id) is None
        assert await tx.events(world.session.project_id, 0, 9) == []
    assert await world.write(lambda tx: tx.lock_session(session_id)) is None


async def listed(world: World, size: int, **where: Any) -> list[Session]:
    """All pages of a list of sessions."""
    kept = SessionFilter(**where)
    by_activity = kept.order is SessionOrder.LAST_ACTIVITY
    seen: list[Session] = []
    while True:
        last = seen[-1] if seen else None
        after = last and (last.last_activity_time if by_activity else last.create_time, last.session_id)
        async with world.store.reading(world.tenant) as tx:
            page = await tx.sessions(kept, after, size)
        assert len(page) <= size
        if not page:
            return seen
        seen += page


async def test_sessions_are_listed_newest_first_with_ties_by_id(world: World) -> None:
    """In pages of any size, by each order; three of a kind have the same times."""
    made = [world.session]
    for number in range(7):
        session, root, main = world.new_session(world.session.project_id)
        tied = world.session.create_time + timedelta(seconds=number // 3)
        session = replace(session, create_time=tied, last_activity_time=tied + timedelta(hours=-number))
        await world.write(lambda tx, s=session, r=root, m=main: tx.insert_session(s, r, m))
        made.append(session)
    by_activity = sorted(made, key=lambda s: (s.last_activity_time, s.session_id), reverse=True)
    by_creation = sorted(made, key=lambda s: (s.create_time, s.session_id), reverse=True)
    assert by_activity != by_creation
    for size in (1, 3, 100):
        assert await listed(world, size) == by_activity
        assert await listed(world, size, order=SessionOrder.CREATE_TIME) == by_creation


async def test_sessions_are_filtered_by_project_and_state(world: World) -> None:
    project_id = world.new_id()
    await world.write(lambda tx: tx.insert_project(project_id, "second"))
    archived, root, main = world.new_session(project_id, state=SessionState.ARCHIVED)
    await world.write(lambda tx: tx.insert_session(archived, root, main))
    assert await listed(world, 9, project_id=project_id) == [archived]
    assert await listed(world, 9, state=SessionState.ARCHIVED) == [archived]
    assert await listed(world, 9, state=SessionState.ACTIVE) == [world.session]
    assert await listed(world, 9, project_id=project_id, state=SessionState.ACTIVE) == []
    assert await world.read(lambda tx: tx.project_exists(project_id))


async def test_branches_are_listed_by_name_in_bytes(world: World) -> None:
    """The same on both engines, whatever the database's language says of capitals and signs."""
    session_id = world.session.session_id
    names = ["a", "B", "b", "A", "a-b", "a.b", "a_b", "ab", "a1", "Z", "z9"]

    async def work(tx: WriteTx) -> None:
        for name in names:
            await tx.insert_branch(session_id, replace(world.main, name=name))

    await world.write(work)
    expected = sorted([*names, "main"])
    async with world.store.reading(world.tenant) as tx:
        assert [branch.name for branch in await tx.branches(session_id, "", 100)] == expected
        seen: list[str] = []
        while page := await tx.branches(session_id, seen[-1] if seen else "", 5):
            seen += [branch.name for branch in page]
    assert seen == expected


async def test_versions_of_a_floor_are_numbered_as_written(world: World) -> None:
    first = await world.child(world.root, FloorState.OPEN)
    second = await world.child(world.root, FloorState.OPEN)
    pages = [world.page(first.floor_id, slot) for slot in (Slot.OUTPUT, Slot.INPUT, Slot.OUTPUT)]

    async def work(tx: WriteTx) -> None:
        for page in pages:
            await tx.insert_page(first.floor_id, first.session_id, page)
        # A regenerated floor has its sibling's input page as a version too.
        await tx.insert_page(second.floor_id, second.session_id, pages[1])

    await world.write(work)
    async with world.store.reading(world.tenant) as tx:
        assert await tx.pages(first.floor_id) == list(enumerate(pages, 1))
        assert await tx.pages(second.floor_id) == [(1, pages[1])]
        assert await tx.page_versions(pages[0].page_id) == [(first.floor_id, pages[0])]
        shared = dict(await tx.page_versions(pages[1].page_id))
        assert shared == {first.floor_id: pages[1], second.floor_id: pages[1]}


async def moves_of(tx: ReadTx, session_id: str, branch: str) -> list[tuple[int, HeadMove]]:
    seen: list[tuple[int, HeadMove]] = []
    while page := await tx.head_moves(session_id, branch, seen[-1][0] if seen else None, 2):
        seen += page
    return seen


async def test_head_moves_are_newest_first_and_counted_by_branch(world: World) -> None:
    session_id = world.session.session_id
    floor = await world.child(world.root)
    moves = [world.move(world.root, floor), world.move(floor, world.root, kind="rollback")] * 2
    await world.write(lambda tx: tx.insert_branch(session_id, replace(world.main, name="side")))
    for number, move in enumerate(moves):
        side = replace(move, branch="side")
        await world.write(lambda tx, move=move: tx.insert_head_move(session_id, move))
        if number % 2 == 0:
            await world.write(lambda tx, side=side: tx.insert_head_move(session_id, side))
    async with world.store.reading(world.tenant) as tx:
        assert await moves_of(tx, session_id, "main") == list(enumerate(moves, 1))[::-1]
        assert [number for number, _ in await moves_of(tx, session_id, "side")] == [2, 1]


async def test_head_moves_outlive_their_branch_and_are_counted_on(world: World) -> None:
    session_id, side = world.session.session_id, replace(world.main, name="side")
    first, second = (world.move(world.root, world.root, branch="side", kind=kind) for kind in "ab")
    await world.write(lambda tx: tx.insert_branch(session_id, side))
    await world.write(lambda tx: tx.insert_head_move(session_id, first))
    await world.write(lambda tx: tx.delete_branch(session_id, "side"))
    assert await world.read(lambda tx: tx.head_moves(session_id, "side", None, 9)) == [(1, first)]
    await world.write(lambda tx: tx.insert_branch(session_id, side))
    await world.write(lambda tx: tx.insert_head_move(session_id, second))
    found = await world.read(lambda tx: tx.head_moves(session_id, "side", None, 9))
    assert found == [(2, second), (1, first)]


async def test_a_run_comes_back_as_it_was_written_and_as_it_ended(world: World) -> None:
    floor = await world.child(world.root, FloorState.GENERATING)
    run = world.run(floor)
    await world.write(lambda tx: tx.insert_run(run))
    assert await world.read(lambda tx: tx.run(run.run_id)) == run
    assert await world.read(lambda tx: tx.run_of_floor(floor.floor_id)) is None, "the floor names its run"
    await world.write(lambda tx: tx.update_pending(replace(floor, run_id=run.run_id)))
    assert await world.read(lambda tx: tx.run_of_floor(floor.floor_id)) == run
    ended = replace(
        run,
        state=RunState.COMMITTED,
        usage=Usage(2**40, 0, True),
        last_seq=2**40,
        branch=replace(world.main, pending_floor_id=floor.floor_id),
        end_time=world.now(),
    )
    await world.write(lambda tx: tx.update_run(ended))
    assert await world.read(lambda tx: tx.run(run.run_id)) == ended


async def test_a_read_is_one_snapshot(world: World) -> None:
    """What is committed while it lasts is not seen by it, and is by the next."""
    async with world.store.reading(world.tenant) as tx:
        assert len(await tx.tree(world.session.session_id, None, 9)) == 1
        await world.child(world.root)
        assert len(await tx.tree(world.session.session_id, None, 9)) == 1
    async with world.store.reading(world.tenant) as tx:
        assert len(await tx.tree(world.session.session_id, None, 9)) == 2
