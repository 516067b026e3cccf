"""`Store.append`: each outcome, in the order of its checks, and that only `Committed` writes."""

from dataclasses import replace
from typing import Any

import pytest

from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.tree.model import FloorState, HeadMove, Place
from kernel.tree.places import ChildPlace, later_child
from kernel.verbs.records import (
    Absent,
    Answer,
    AppendRecord,
    Blocked,
    Committed,
    PlaceTaken,
    Replayed,
    Reused,
    SessionState,
    Stale,
)
from tests.conformance.world import World, rows_of


async def committed(world: World, record: AppendRecord) -> Committed:
    (outcome,) = await world.append(record)
    assert isinstance(outcome, Committed), outcome
    return outcome


async def refused(engines: Engines, world: World, record: AppendRecord) -> Any:
    """The outcome of a record that must leave no trace."""
    before = await rows_of(engines, world.tenant)
    (outcome,) = await world.append(record)
    assert await rows_of(engines, world.tenant) == before
    return outcome


async def test_committed_writes_floor_head_move_request_and_event(engines: Engines, world: World) -> None:
    before = await rows_of(engines, world.tenant)
    record = world.record(world.root)
    floor, project_id = record.floor, world.session.project_id
    branch = (await committed(world, record)).branch
    assert branch == replace(
        world.main, head_floor_id=floor.floor_id, depth=1, version=2, update_time=floor.commit_time
    )
    async with world.store.reading(world.tenant) as tx:
        assert await tx.branch_head(floor.session_id, "main") == (branch, floor)
        assert await tx.floor(floor.floor_id) == floor
        assert floor.commit_time is not None
        move = HeadMove(
            "main", world.root.floor_id, floor.floor_id, "commit", floor.principal, floor.commit_time
        )
        assert await tx.head_moves(floor.session_id, "main", None, 9) == [(1, move)]
        answer = await tx.answer(record.request)
        (placed,) = await tx.events(project_id, 0, 9)
        session = await tx.session(floor.session_id)
    assert answer == Answer(
        session_id=floor.session_id,
        floor_id=floor.floor_id,
        floor_state="committed",
        input_page_id=floor.input.page_id if floor.input else "",
        output_page_id=floor.output.page_id if floor.output else "",
        branch=branch,
    )
    event = placed.event
    assert (placed.position, event.event_id, event.type) == (1, record.event_id, "floor.committed")
    assert (event.session_id, event.floor_id) == (floor.session_id, floor.floor_id)
    assert floor.digest is not None
    assert event.payload == {
        "branch": "main",
        "from_floor_id": world.root.floor_id,
        "to_floor_id": floor.floor_id,
        "kind": "commit",
        "principal": floor.principal,
        "parent_floor_id": world.root.floor_id,
        "depth": 1,
        "digest": floor.digest.hex(),
    }
    assert session is not None
    assert session.stored_tokens == sum(page.tokens for page in floor.pages)
    assert session.last_activity_time > world.session.last_activity_time
    # Those rows and no others.
    after = await rows_of(engines, world.tenant)
    grown = {name: len(rows) - len(before[name]) for name, rows in after.items() if rows != before[name]}
    new = dict.fromkeys(["floor", "head_move", "request", "event", "feed"], 1)
    assert grown == {**new, "session": 0, "branch": 0}


async def test_a_shared_input_page_is_not_counted_twice(world: World) -> None:
    first = world.record(world.root)
    await committed(world, first)
    record = world.record(first.floor)
    shared = replace(record.floor, input=first.floor.input)
    await committed(world, replace(record, floor=shared))
    assert await world.read(lambda tx: tx.floor(shared.floor_id)) == shared
    session = await world.read(lambda tx: tx.session(shared.session_id))
    assert session is not None
    counted = [*first.floor.pages, record.floor.pages[1]]
    assert session.stored_tokens == sum(page.tokens for page in counted)


@pytest.mark.parametrize("side", ["input", "output"])
async def test_a_turn_may_lack_a_side(world: World, side: str) -> None:
    record = world.record(world.root)
    record = replace(record, floor=replace(record.floor, **{side: None}))
    await committed(world, record)
    assert await world.read(lambda tx: tx.floor(record.floor.floor_id)) == record.floor


async def test_a_later_child_opens_its_segment(world: World) -> None:
    first = world.record(world.root)
    await committed(world, first)
    await world.write(
        lambda tx: tx.update_branch(
            first.floor.session_id,
            replace(world.main, head_floor_id=first.floor.floor_id),
            replace(world.main, version=3),
        )
    )
    second = world.record(world.root, later_child(world.root.place, 0, 1))
    branch = (await committed(world, second)).branch
    assert (branch.version, branch.depth) == (4, 1)
    below = world.record(second.floor)
    await committed(world, below)
    assert below.floor.place == Place(1, 2)
    async with world.store.reading(world.tenant) as tx:
        path = await tx.path(below.floor.session_id, below.floor.place, 0, 9)
    assert path == [world.root, second.floor, below.floor]


async def test_a_commit_forgets_the_failed_floor(world: World) -> None:
    failed = await world.child(world.root, FloorState.FAILED)
    shown = replace(world.main, failed_floor_id=failed.floor_id)
    await world.write(lambda tx: tx.update_branch(failed.session_id, world.main, shown))
    record = world.record(world.root, later_child(world.root.place, 0, 1))
    assert (await committed(world, record)).branch.failed_floor_id is None


async def test_a_repeat_is_replayed_with_its_first_answer(engines: Engines, world: World) -> None:
    """Even when the head has moved on, and however the repeat was planned (R1)."""
    record = world.record(world.root)
    branch = (await committed(world, record)).branch
    await committed(world, world.record(record.floor))
    again = replace(world.record(world.root), request=record.request)
    for repeat in (record, again):
        outcome = await refused(engines, world, repeat)
        assert isinstance(outcome, Replayed)
        assert (outcome.answer.floor_id, outcome.answer.branch) == (record.floor.floor_id, branch)


async def test_other_content_under_a_known_request_is_reused(engines: Engines, world: World) -> None:
    record = world.record(world.root)
    await committed(world, record)
    other = world.record(record.floor)
    other = replace(other, request=replace(record.request, fingerprint=b"\1" * 32))
    assert await refused(engines, world, other) == Reused()


async def test_another_head_is_stale_and_named(engines: Engines, world: World) -> None:
    first = world.record(world.root)
    await committed(world, first)
    assert await refused(engines, world, world.record(world.root)) == Stale(first.floor.floor_id)
    nobody = world.record(first.floor, expected_head=world.new_id())
    assert await refused(engines, world, nobody) == Stale(first.floor.floor_id)


async def test_a_pending_floor_blocks_and_is_named_before_the_head(engines: Engines, world: World) -> None:
    pending = await world.child(world.root, FloorState.OPEN)
    blocked = replace(world.main, pending_floor_id=pending.floor_id)
    await world.write(lambda tx: tx.update_branch(pending.session_id, world.main, blocked))
    place = later_child(world.root.place, 0, 1)
    for record in (
        world.record(world.root, place),
        world.record(world.root, place, expected_head=world.new_id()),
    ):
        assert await refused(engines, world, record) == Blocked(pending.floor_id)


@pytest.mark.parametrize("state", [FloorState.COMMITTED, FloorState.FAILED])
async def test_a_place_that_is_taken_is_told(engines: Engines, world: World, state: FloorState) -> None:
    await world.child(world.root, state)
    fork = await world.child(world.root, state)
    assert await refused(engines, world, world.record(world.root)) == PlaceTaken()
    same_segment = ChildPlace(fork.place, 2, opens_segment=True)
    assert await refused(engines, world, world.record(world.root, same_segment)) == PlaceTaken()


async def test_a_session_or_branch_that_is_not_there_is_absent(engines: Engines, world: World) -> None:
    record = world.record(world.root)
    assert await refused(engines, world, replace(record, branch="none")) == Absent()
    elsewhere = replace(record, floor=replace(record.floor, session_id=world.new_id()))
    assert await refused(engines, world, elsewhere) == Absent()
    stranger = replace(record, tenant_id="a stranger")
    assert await refused(engines, world, stranger) == Absent()


async def test_an_archived_session_is_absent_and_a_repeat_is_still_replayed(
    engines: Engines, world: World
) -> None:
    session, root, main = world.new_session(world.session.project_id, state=SessionState.ARCHIVED)
    await world.write(lambda tx: tx.insert_session(session, root, main))
    record = world.record(root)
    assert await refused(engines, world, record) == Absent()
    answer = Answer(session.session_id, branch=main)
    await world.write(lambda tx: tx.record(record.request, answer))
    assert await refused(engines, world, record) == Replayed(answer)


async def test_each_record_has_its_outcome_in_its_place(engines: Engines, world: World) -> None:
    """Good and bad ones together: each commits or fails alone."""
    sessions = await world.more_sessions(6)
    records = [world.record(root) for _, root, _ in sessions]
    await world.append(records[1], records[3])
    records[0] = replace(records[0], branch="none")
    records[3] = replace(records[3], request=replace(records[3].request, fingerprint=b"\1" * 32))
    records[5] = replace(records[5], expected_head=world.new_id())
    outcomes = await world.append(*records)
    kinds = [type(outcome) for outcome in outcomes]
    assert kinds == [Absent, Replayed, Committed, Reused, Committed, Stale]
    for number in (2, 4):
        outcome = outcomes[number]
        assert isinstance(outcome, Committed)
        assert outcome.branch.head_floor_id == records[number].floor.floor_id
    events = await world.read(lambda tx: tx.events(world.session.project_id, 0, 100))
    assert [found.position for found in events] == [1, 2, 3, 4]
    assert len((await rows_of(engines, world.tenant))["request"]) == 4


async def test_records_of_one_session_follow_each_other(store: SqlStore, world: World) -> None:
    """A batch may hold several turns of one session: they are taken in their order."""
    first = world.record(world.root)
    second = world.record(first.floor)
    outcomes = await store.append([first, second])
    assert [type(outcome) for outcome in outcomes] == [Committed, Committed]
    twins = [world.record(second.floor) for _ in range(2)]
    outcomes = await store.append(twins)
    assert [type(outcome) for outcome in outcomes] == [Committed, Stale]


async def test_a_record_that_breaks_a_key_fails_alone(engines: Engines, world: World) -> None:
    """Two floors of one id, which no rule makes: the second is refused, and the others commit."""
    (one, one_root, _), (two, two_root, _) = await world.more_sessions(2)
    first = world.record(world.root)
    await committed(world, first)
    spoilt = world.record(one_root)
    spoilt = replace(spoilt, floor=replace(spoilt.floor, floor_id=first.floor.floor_id))
    fine = world.record(two_root)
    before = await rows_of(engines, world.tenant)
    outcomes = await world.append(spoilt, fine)
    assert isinstance(outcomes[1], Committed)
    assert not isinstance(outcomes[0], Committed | Replayed)
    after = await rows_of(engines, world.tenant)
    assert len(after["floor"]) == len(before["floor"]) + 1
    assert await world.read(lambda tx: tx.branch(one.session_id, "main")) is not None
    assert await world.read(lambda tx: tx.floor(two.root_floor_id)) == two_root


async def test_no_records_have_no_outcomes(store: SqlStore) -> None:
    assert await store.append([]) == []
