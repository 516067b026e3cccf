"""CancelRun: what was written is kept or not, as the caller says, and the answer is durable."""

import asyncio

import pytest
from stemma.conversation.v1 import run_service_pb2
from stemma.kernel.v1 import floor_pb2, run_pb2

from tests.runs.stage import PIECES, Part, Stage, Watch, end_of, kinds, text_of_frames
from tests.support.client import Refusal, request_for, texts

pytestmark = pytest.mark.asyncio(loop_scope="session")

SHOWN = "".join(PIECES[:2])
UNKNOWN = "0193a1b2-0000-7000-8000-0000000000ff"


async def in_mid_run(stage: Stage, session: str, hold_at: int = 2) -> tuple[Part, Watch]:
    part = stage.part(hold_at=hold_at)
    watch = await stage.watch(session, part).until_text("".join(PIECES[:hold_at]))
    if not watch.frames:
        await watch.started()
    await part.held()
    return part, watch


async def cancel(stage: Stage, run_id: str, keep: int) -> run_service_pb2.CancelRunResponse:
    answer: run_service_pb2.CancelRunResponse = await stage.other.call("CancelRun", run_id=run_id, keep=keep)
    return answer


@pytest.mark.parametrize("keep", [run_pb2.KEEP_COMMIT, run_pb2.KEEP_UNSPECIFIED])
async def test_keeping_commits_the_partial_page(stage: Stage, session: str, keep: int) -> None:
    first = end_of(await stage.play(session))
    part, watch = await in_mid_run(stage, session)
    answer = await cancel(stage, watch.run_id, keep)

    floor, branch = answer.floor, answer.branch
    assert floor.state == floor_pb2.FLOOR_STATE_COMMITTED
    assert (texts(floor.output_page), floor.output_page.partial) == ([SHOWN], True)
    assert floor.output_page.source == "model"
    assert floor.usage.estimated
    assert (branch.head_floor_id, branch.pending_floor_id) == (floor.floor_id, "")
    assert (answer.run.run_id, answer.run.state) == (watch.run_id, run_pb2.RUN_STATE_CANCELLED)
    assert await stage.floor(floor.floor_id) == floor
    assert await stage.run(watch.run_id) == answer.run
    assert await stage.other.path_ids(session) == [first.floor_id, floor.floor_id]

    part.go()
    frames = await watch.end()
    assert kinds(frames)[-1] == "cancelled"
    assert text_of_frames(frames) == SHOWN
    assert (frames[-1].cancelled.floor, frames[-1].cancelled.branch) == (floor, branch)
    # The next turn goes below it, and the model is sent what was kept.
    after = stage.part()
    follower = end_of(await stage.watch(session, after).end())
    assert follower.parent_floor_id == floor.floor_id
    assert after.sent[0].messages[-2].text == SHOWN


async def test_failing_keeps_it_readable_only(stage: Stage, session: str) -> None:
    first = end_of(await stage.play(session))
    _, watch = await in_mid_run(stage, session)
    answer = await cancel(stage, watch.run_id, run_pb2.KEEP_FAIL)
    floor = answer.floor
    assert (floor.state, floor.failure_reason) == (floor_pb2.FLOOR_STATE_FAILED, "CANCELLED")
    assert (texts(floor.output_page), floor.output_page.partial) == ([SHOWN], True)
    assert (answer.run.state, answer.run.failure_reason) == (run_pb2.RUN_STATE_CANCELLED, "")
    assert (answer.branch.head_floor_id, answer.branch.failed_floor_id) == (first.floor_id, floor.floor_id)
    frames = await watch.end()
    assert (frames[-1].cancelled.floor, frames[-1].cancelled.branch) == (floor, answer.branch)
    assert await stage.other.path_ids(session) == [first.floor_id]


@pytest.mark.parametrize("keep", [run_pb2.KEEP_COMMIT, run_pb2.KEEP_FAIL])
async def test_with_nothing_received_there_is_nothing_to_keep(stage: Stage, session: str, keep: int) -> None:
    _, watch = await in_mid_run(stage, session, hold_at=0)
    answer = await cancel(stage, watch.run_id, keep)
    floor = answer.floor
    assert (floor.state, floor.HasField("output_page")) == (floor_pb2.FLOOR_STATE_FAILED, False)
    assert answer.run.state == run_pb2.RUN_STATE_CANCELLED
    assert kinds(await watch.end()) == ["started", "cancelled"]
    assert await stage.other.path_ids(session) == []


async def test_a_repeat_is_answered_with_the_same_bytes(stage: Stage, session: str) -> None:
    # Several rounds: a twin may come just as the first one's end is durable.
    for _ in range(5):
        _, watch = await in_mid_run(stage, session)
        request = request_for("CancelRun", run_id=watch.run_id)
        together = await asyncio.gather(*(stage.other.raw("CancelRun", request) for _ in range(8)))
        await watch.end()
        assert {*together, await stage.other.raw("CancelRun", request)} == {together[0]}
    request.keep = run_pb2.KEEP_FAIL
    reused = await stage.other.refusal("CancelRun", request)
    assert (reused.code, reused.reason) == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")


async def test_a_second_cancel_is_told_how_it_ended(stage: Stage, session: str) -> None:
    _, watch = await in_mid_run(stage, session)
    await cancel(stage, watch.run_id, run_pb2.KEEP_COMMIT)
    again = await stage.other.refused("CancelRun", run_id=watch.run_id, keep=run_pb2.KEEP_FAIL)
    ended = {"run_id": watch.run_id, "state": "cancelled"}
    assert again == Refusal("FAILED_PRECONDITION", "FLOOR_SEALED", ended)
    await watch.end()


async def test_of_two_cancels_at_once_one_decides(stage: Stage, session: str) -> None:
    _, watch = await in_mid_run(stage, session)
    requests = [request_for("CancelRun", run_id=watch.run_id, keep=keep) for keep in (1, 2)]
    answers = await asyncio.gather(
        *(stage.other.raw("CancelRun", request) for request in requests), return_exceptions=True
    )
    (won,) = [answer for answer in answers if isinstance(answer, bytes)]
    floor = run_service_pb2.CancelRunResponse.FromString(won).floor
    assert floor == end_of(await watch.end()) == await stage.floor(watch.floor_id)


async def test_a_run_that_has_ended_can_not_be_cancelled(stage: Stage, session: str) -> None:
    committed = await stage.play(session)
    failed = await stage.play(session, {"fail": {"reason": "PROVIDER_INVALID"}})
    for frames, reason, state in [
        (committed, "FLOOR_SEALED", "committed"),
        (failed, "FLOOR_FAILED", "failed"),
    ]:
        refusal = await stage.other.refused("CancelRun", run_id=frames[0].run_id)
        ended = {"run_id": frames[0].run_id, "state": state}
        assert refusal == Refusal("FAILED_PRECONDITION", reason, ended)


async def test_an_unknown_run(stage: Stage, session: str) -> None:
    floor = end_of(await stage.play(session))
    for run_id in (UNKNOWN, floor.floor_id, session):
        for name in ("CancelRun", "GetRun"):
            refusal = await stage.other.refused(name, run_id=run_id)
            assert (refusal.code, refusal.reason) == ("NOT_FOUND", "NOT_FOUND")


async def test_a_cancelled_regeneration_keeps_its_place(stage: Stage, session: str) -> None:
    part = stage.part({"deltas": PIECES}, hold_at=2)
    part.go()
    first = end_of(await stage.watch(session, part).end())
    part._go.clear()
    watch = await stage.respond(regenerate={"floor_id": first.floor_id}).until_text(SHOWN)
    floor = (await cancel(stage, watch.run_id, run_pb2.KEEP_COMMIT)).floor
    await watch.end()
    assert floor.input_page == first.input_page
    assert await stage.other.path_ids(session) == [floor.floor_id]
    await stage.client.call("SelectSibling", session_id=session, floor_id=first.floor_id)
    assert await stage.other.path_ids(session) == [first.floor_id]
