"""A branch while a run writes its floor: what it refuses, and how the floor is given up."""

from typing import Any

import pytest
from stemma.kernel.v1 import floor_pb2, message_pb2, run_pb2

from tests.runs.stage import PIECES, Part, Stage, Watch, as_bytes, end_of, kinds, text_of_frames
from tests.support.client import Refusal, assistant, request_for, texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

FAILED = floor_pb2.FLOOR_STATE_FAILED
SHOWN = "".join(PIECES[:2])


async def in_mid_run(stage: Stage, session: str) -> tuple[Part, Watch]:
    """The model has said two pieces of three and waits."""
    part = stage.part(hold_at=2)
    watch = await stage.watch(session, part).until_text(SHOWN)
    await part.held()
    return part, watch


async def finish(part: Part, watch: Watch) -> floor_pb2.Floor:
    """The run ends as if nothing had been."""
    part.go()
    frames = await watch.end()
    assert kinds(frames)[-1] == "floor_committed"
    assert text_of_frames(frames) == "".join(PIECES)
    return end_of(frames)


async def test_the_floor_is_seen_while_it_is_written(stage: Stage, session: str) -> None:
    part, watch = await in_mid_run(stage, session)
    floor = await stage.floor(watch.floor_id)
    assert (floor.state, floor.run_id) == (floor_pb2.FLOOR_STATE_GENERATING, watch.run_id)
    assert not floor.HasField("output_page")
    listed = await stage.other.call("ListPath", session_id=session)
    assert (list(listed.floors), listed.pending_floor) == ([], floor)
    branch = await stage.branch(session)
    assert (branch.pending_floor_id, branch.depth) == (floor.floor_id, 0)
    run = await stage.run(watch.run_id)
    assert (run.state, run.HasField("end_time")) == (run_pb2.RUN_STATE_RUNNING, False)
    await finish(part, watch)


async def test_a_wrong_expected_head_starts_nothing(stage: Stage, session: str) -> None:
    first = end_of(await stage.play(session))
    part = stage.part()
    before = await stage.branch(session)
    actions: dict[str, dict[str, Any]] = {
        "input": part.input,
        "edit": {"floor_id": first.floor_id, **part.input},
        "regenerate": {"floor_id": first.floor_id},
    }
    for action, value in actions.items():
        given = {"session_id": session, action: value, "expected_head": first.parent_floor_id}
        refusal = await stage.client.refused("Respond", **given)
        moved = {"branch": "main", "current_head": first.floor_id}
        assert refusal == Refusal("ABORTED", "HEAD_MOVED", moved)
    opened = (await stage.client.call("OpenFloor", session_id=session, **{"input": [user(part.text)]})).floor
    resume = {"resume": {"floor_id": opened.floor_id}, "expected_head": first.parent_floor_id}
    assert (await stage.client.refused("Respond", **resume)).reason == "HEAD_MOVED"
    assert part.sent == []
    await stage.client.call("AbandonFloor", floor_id=opened.floor_id)
    assert (await stage.branch(session)).head_floor_id == before.head_floor_id


async def test_other_writes_on_the_branch_are_refused(stage: Stage, session: str) -> None:
    first = end_of(await stage.play(session))
    part, watch = await in_mid_run(stage, session)
    here = {"session_id": session}
    named = {**here, "floor_id": first.floor_id}
    words = {"input": [user("a")], "output": [assistant("b")]}
    refused = [
        await stage.client.refused("Respond", **here, input={"messages": [user("next")]}),
        await stage.client.refused("Respond", **here, regenerate={"floor_id": first.floor_id}),
        await stage.client.refused(
            "Respond", **here, edit={"floor_id": first.floor_id, "messages": [user("x")]}
        ),
        await stage.client.refused("AppendFloor", **here, **words),
        await stage.client.refused("OpenFloor", **here),
        await stage.client.refused("EditFloor", **named, **words),
        await stage.client.refused("RegenerateFloor", **named, output=[assistant("c")]),
        await stage.client.refused("MoveHead", **named),
        await stage.client.refused("SelectSibling", **named),
    ]
    pending = Refusal("FAILED_PRECONDITION", "FLOOR_PENDING", {"pending_floor_id": watch.floor_id})
    assert refused == [pending] * len(refused)
    # Before the head is compared: the order of checks.
    late = await stage.client.refused("AppendFloor", **here, **words, expected_head=first.parent_floor_id)
    assert late == pending
    await finish(part, watch)


async def test_the_floor_itself_says_that_a_run_is_active(stage: Stage, session: str) -> None:
    part, watch = await in_mid_run(stage, session)
    floor_id = watch.floor_id
    page = {"slot": message_pb2.SLOT_OUTPUT, "messages": [assistant("mine")]}
    refused = [
        await stage.client.refused("Respond", resume={"floor_id": floor_id}),
        await stage.client.refused("AddPage", floor_id=floor_id, **page),
        await stage.client.refused("CommitFloor", floor_id=floor_id),
        await stage.client.refused("MoveHead", session_id=session, floor_id=floor_id),
    ]
    active = Refusal("FAILED_PRECONDITION", "RUN_ACTIVE", {"run_id": watch.run_id})
    assert refused == [active] * len(refused)
    refused = [
        await stage.client.refused("Respond", regenerate={"floor_id": floor_id}, branch="main"),
        await stage.client.refused("EditFloor", floor_id=floor_id, input=[user("x")]),
    ]
    pending = Refusal("FAILED_PRECONDITION", "FLOOR_PENDING", {"pending_floor_id": floor_id})
    assert refused == [pending] * len(refused)
    await finish(part, watch)


async def test_the_very_turn_that_is_being_answered_may_be_edited(stage: Stage, session: str) -> None:
    _, watch = await in_mid_run(stage, session)
    edited = await stage.client.call(
        "EditFloor",
        floor_id=watch.floor_id,
        on_pending="ON_PENDING_ABANDON",
        input=[user("no, this")],
        output=[assistant("this")],
    )
    old = await assert_given_up(stage, watch, "ABANDONED")
    assert edited.floor.parent_floor_id == old.parent_floor_id
    assert await stage.other.path_ids(session) == [edited.floor.floor_id]


async def test_another_branch_goes_on(stage: Stage, session: str) -> None:
    first = end_of(await stage.play(session))
    part, watch = await in_mid_run(stage, session)
    await stage.client.call("CreateBranch", session_id=session, name="side", floor_id=first.floor_id)
    side = end_of(await stage.watch(session, stage.part(), branch="side").end())
    assert side.parent_floor_id == first.floor_id
    floor = await finish(part, watch)
    assert await stage.other.path_ids(session) == [first.floor_id, floor.floor_id]
    assert await stage.other.path_ids(session, "side") == [first.floor_id, side.floor_id]


async def assert_given_up(stage: Stage, watch: Watch, reason: str) -> floor_pb2.Floor:
    """The watcher was told, and nothing of the run was committed."""
    frames = await watch.end()
    assert kinds(frames)[-1] == "cancelled"
    assert text_of_frames(frames) == SHOWN
    floor = frames[-1].cancelled.floor
    assert floor == await stage.floor(watch.floor_id)
    assert (floor.state, floor.failure_reason) == (FAILED, reason)
    assert texts(floor.output_page) == [SHOWN]
    assert (floor.output_page.partial, floor.output_page.source) == (True, "model")
    run = await stage.run(watch.run_id)
    assert (run.state, run.failure_reason) == (run_pb2.RUN_STATE_CANCELLED, "")
    return floor


async def test_a_new_turn_may_abandon_the_run(stage: Stage, session: str) -> None:
    first = end_of(await stage.play(session))
    part, watch = await in_mid_run(stage, session)
    new = await stage.watch(session, stage.part(), on_pending=floor_pb2.ON_PENDING_ABANDON).end()
    # The old model goes on in vain.
    part.go()
    gone = await assert_given_up(stage, watch, "ABANDONED")
    floor = end_of(new)
    assert kinds(new)[-1] == "floor_committed"
    assert floor.parent_floor_id == gone.parent_floor_id == first.floor_id
    await stage.idle()
    assert await stage.other.path_ids(session) == [first.floor_id, floor.floor_id]
    assert await stage.floor(gone.floor_id) == gone
    again = end_of(await stage.respond(regenerate={"floor_id": gone.floor_id}).end())
    assert again.input_page == gone.input_page
    assert texts(again.output_page) == ["".join(PIECES)]


@pytest.mark.parametrize("verb", ["AppendFloor", "OpenFloor", "EditFloor", "RegenerateFloor", "MoveHead"])
async def test_every_write_on_the_branch_may_abandon_the_run(stage: Stage, session: str, verb: str) -> None:
    first = end_of(await stage.play(session))
    part, watch = await in_mid_run(stage, session)
    fields: dict[str, Any] = {
        "AppendFloor": {"input": [user("instead")]},
        "OpenFloor": {},
        "EditFloor": {"floor_id": first.floor_id, "input": [user("instead")]},
        "RegenerateFloor": {"floor_id": first.floor_id},
        "MoveHead": {"floor_id": first.parent_floor_id},
    }[verb]
    await stage.client.call(verb, session_id=session, on_pending=floor_pb2.ON_PENDING_ABANDON, **fields)
    part.go()
    gone = await assert_given_up(stage, watch, "ABANDONED")
    assert gone.floor_id not in await stage.other.path_ids(session)
    assert (await stage.branch(session)).pending_floor_id != gone.floor_id


async def test_abandoning_with_a_wrong_head_leaves_the_run(stage: Stage, session: str) -> None:
    first = end_of(await stage.play(session))
    part, watch = await in_mid_run(stage, session)
    refusal = await stage.client.refused(
        "AppendFloor",
        session_id=session,
        input=[user("instead")],
        on_pending=floor_pb2.ON_PENDING_ABANDON,
        expected_head=first.parent_floor_id,
    )
    assert refusal.reason == "HEAD_MOVED"
    floor = await finish(part, watch)
    assert await stage.other.path_ids(session) == [first.floor_id, floor.floor_id]


def flowing() -> dict[str, Any]:
    """A model that does not wait: words without end, one every few milliseconds."""
    return {"deltas": [f"word {number} " for number in range(80)], "delay_ms": 4}


async def test_what_was_shown_of_a_flowing_run_is_what_is_kept(stage: Stage, session: str) -> None:
    for _ in range(5):
        watch = await stage.watch(session, stage.part(flowing())).started()
        while len(watch.frames) < 4:
            await watch.next()
        await stage.client.call("AbandonFloor", floor_id=watch.floor_id)
        frames = await watch.end()
        assert kinds(frames)[-1] == "cancelled"
        assert texts(end_of(frames).output_page) == [text_of_frames(frames)]


async def test_a_run_that_is_not_abandoned_after_all_goes_on(stage: Stage, session: str) -> None:
    """Others try, and are refused; nothing of the text is lost or shown twice."""
    root = (await stage.branch(session)).head_floor_id
    first = end_of(await stage.play(session))
    watch = await stage.watch(session, stage.part(flowing())).started()
    late = {"on_pending": floor_pb2.ON_PENDING_ABANDON, "expected_head": root}
    while len(watch.frames) < 6:
        await watch.next()
        refusal = await stage.other.refused("AppendFloor", session_id=session, input=[user("x")], **late)
        assert refusal.reason == "HEAD_MOVED"
    frames = await watch.end()
    assert kinds(frames)[-1] == "floor_committed"
    assert text_of_frames(frames) == "".join(flowing()["deltas"])
    assert end_of(frames).parent_floor_id == first.floor_id


@pytest.mark.parametrize(("given", "kept"), [("changed my mind", "changed my mind"), ("", "ABANDONED")])
async def test_abandon_floor_ends_the_run(stage: Stage, session: str, given: str, kept: str) -> None:
    part, watch = await in_mid_run(stage, session)
    request = request_for("AbandonFloor", floor_id=watch.floor_id, reason=given)
    answer = await stage.client.raw("AbandonFloor", request)
    part.go()
    gone = await assert_given_up(stage, watch, kept)
    # A repeat is answered with the same bytes, and another one is told the state.
    assert await stage.client.raw("AbandonFloor", request) == answer
    again = await stage.client.refused("AbandonFloor", floor_id=watch.floor_id)
    assert (again.code, again.reason) == ("FAILED_PRECONDITION", "FLOOR_FAILED")
    branch = await stage.branch(session)
    assert (branch.failed_floor_id, branch.pending_floor_id) == (gone.floor_id, "")


async def test_a_run_abandoned_before_it_says_anything_leaves_no_page(stage: Stage, session: str) -> None:
    part = stage.part(hold_at=0)
    watch = await stage.watch(session, part).started()
    await part.held()
    await stage.client.call("AbandonFloor", floor_id=watch.floor_id)
    frames = await watch.end()
    assert kinds(frames) == ["started", "cancelled"]
    assert not end_of(frames).HasField("output_page")


async def test_an_abandoned_run_is_repeated_with_its_last_frame(stage: Stage, session: str) -> None:
    part = stage.part(hold_at=2)
    request = request_for("Respond", session_id=session, input=part.input)
    watch = await stage.sent(request).until_text(SHOWN)
    await stage.client.call("AbandonFloor", floor_id=watch.floor_id)
    frames = await watch.end()
    assert as_bytes(await stage.sent(request).end()) == as_bytes(frames)
    stage.service.service.generation.hub._finished.clear()
    assert as_bytes(await stage.sent(request).rest()) == as_bytes(frames[-1:])
    assert len(part.sent) == 1
