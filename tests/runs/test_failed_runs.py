"""What a run that fails leaves: a FAILED floor with what was shown, on no path, to be tried again."""

from typing import Any

import pytest
from stemma.kernel.v1 import floor_pb2, run_pb2

from tests.runs.stage import Stage, end_of, kinds, text_of_frames
from tests.support.client import texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

CODES = {
    "PROVIDER_UNAVAILABLE": 14,
    "PROVIDER_INVALID": 14,
    "PROVIDER_TIMEOUT": 4,
    "LIMIT": 8,
}


def failing(reason: str, after: int) -> dict[str, Any]:
    return {"deltas": ["Once ", "upon ", "a "], "fail": {"reason": reason, "after": after}}


async def assert_failed(
    stage: Stage, session: str, frames: list[run_pb2.RunEvent], reason: str, partial: str
) -> floor_pb2.Floor:
    """A failed run's frames, against what another channel reads. -> its floor"""
    shown, code = frames[-1].failed, CODES.get(reason, 14)
    assert (shown.code, shown.reason, text_of_frames(frames)) == (code, reason, partial)
    assert "page_completed" not in kinds(frames)
    floor = shown.floor
    assert floor == await stage.floor(floor.floor_id)
    assert (floor.state, floor.failure_reason) == (floor_pb2.FLOOR_STATE_FAILED, reason)
    assert (floor.digest, floor.HasField("commit_time")) == ("", False)
    if partial:
        assert texts(floor.output_page) == [partial]
        assert (floor.output_page.partial, floor.output_page.source) == (True, "model")
    else:
        assert not floor.HasField("output_page")
    branch = await stage.branch(session)
    assert (branch.pending_floor_id, branch.failed_floor_id) == ("", floor.floor_id)
    assert branch.head_floor_id == floor.parent_floor_id
    assert floor.floor_id not in await stage.other.path_ids(session)
    run = await stage.run(frames[0].run_id)
    assert (run.state, run.failure_reason) == (run_pb2.RUN_STATE_FAILED, reason)
    assert (run.usage, run.HasField("end_time")) == (floor.usage, True)
    return floor


@pytest.mark.parametrize("reason", list(CODES))
@pytest.mark.parametrize("after", [0, 2])
async def test_a_provider_that_fails(stage: Stage, session: str, reason: str, after: int) -> None:
    frames = await stage.play(session, failing(reason, after))
    await assert_failed(stage, session, frames, reason, "".join(["Once ", "upon "][:after]))


@pytest.mark.parametrize(("deltas", "shown"), [([], ""), ([" ", "\n"], " \n")])
async def test_an_answer_without_words_is_none(
    stage: Stage, session: str, deltas: list[str], shown: str
) -> None:
    frames = await stage.play(session, {"deltas": deltas})
    assert text_of_frames(frames) == shown
    floor = end_of(frames)
    assert (floor.failure_reason, floor.HasField("output_page")) == ("PROVIDER_INVALID", False)


async def test_a_provider_whose_code_breaks(
    stage: Stage, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = stage.part()

    async def broken(_: Any) -> Any:
        raise RuntimeError("a secret of the provider")
        yield

    monkeypatch.setattr(part.provider, "stream", broken)
    frames = await stage.watch(session, part).end()
    floor = await assert_failed(stage, session, frames, "CRASHED", "")
    assert "secret" not in str(frames) + str(floor)


async def test_an_answer_over_the_limit(stage: Stage, session: str) -> None:
    frames = await stage.play(session, {"deltas": ["x" * 900_000, "y" * 200_000]})
    await assert_failed(stage, session, frames, "LIMIT", "x" * 900_000)


async def test_a_failed_floor_is_regenerated(stage: Stage, session: str) -> None:
    first = end_of(await stage.play(session))
    part = stage.part(failing("PROVIDER_UNAVAILABLE", 2), {"text": "Now it works."})
    failed = await assert_failed(
        stage, session, await stage.watch(session, part).end(), "PROVIDER_UNAVAILABLE", "Once upon "
    )
    frames = await stage.respond(regenerate={"floor_id": failed.floor_id}).end()
    floor = end_of(frames)
    assert kinds(frames)[-1] == "floor_committed"
    assert floor.input_page == failed.input_page
    assert (floor.parent_floor_id, floor.ordinal) == (first.floor_id, failed.ordinal + 1)
    # Nothing of the failed attempt reaches the model.
    assert [message.text for message in part.sent[1].messages[-1:]] == [part.text]
    assert len(part.sent[1].messages) == len(part.sent[0].messages)
    assert await stage.other.path_ids(session) == [first.floor_id, floor.floor_id]
    assert (await stage.branch(session)).failed_floor_id == ""
    assert await stage.floor(failed.floor_id) == failed
    siblings = await stage.other.call("ListSiblings", floor_id=floor.floor_id)
    assert [sibling.floor_id for sibling in siblings.floors] == [floor.floor_id]


async def test_a_new_turn_after_a_failed_one_goes_below_the_same_head(stage: Stage, session: str) -> None:
    failed = end_of(await stage.play(session, failing("PROVIDER_TIMEOUT", 1)))
    floor = end_of(await stage.play(session))
    assert floor.parent_floor_id == failed.parent_floor_id
    assert await stage.other.path_ids(session) == [floor.floor_id]
    tree = await stage.other.everything("GetTree", "floors", session_id=session)
    assert {failed.floor_id, floor.floor_id} < {node.floor_id for node in tree}


async def test_a_failed_regeneration_and_a_failed_resume_leave_the_head(stage: Stage, session: str) -> None:
    part = stage.part({"text": "fine"}, failing("PROVIDER_INVALID", 1))
    good = end_of(await stage.watch(session, part).end())
    again = await stage.respond(regenerate={"floor_id": good.floor_id}).end()
    assert end_of(again).input_page == good.input_page
    assert await stage.other.path_ids(session) == [good.floor_id]
    assert (await stage.branch(session)).failed_floor_id == end_of(again).floor_id

    part = stage.part(failing("PROVIDER_INVALID", 1))
    opened = (await stage.client.call("OpenFloor", session_id=session, input=[user(part.text)])).floor
    frames = await stage.respond(resume={"floor_id": opened.floor_id}).end()
    failed = await assert_failed(stage, session, frames, "PROVIDER_INVALID", "Once ")
    assert failed.floor_id == opened.floor_id
    assert failed.input_page == opened.input_page


async def test_a_failed_floor_can_not_be_resumed_or_moved_to(stage: Stage, session: str) -> None:
    failed = end_of(await stage.play(session, failing("PROVIDER_UNAVAILABLE", 1)))
    resumed = await stage.client.refused("Respond", resume={"floor_id": failed.floor_id})
    moved = await stage.client.refused("MoveHead", session_id=session, floor_id=failed.floor_id)
    for refusal in (resumed, moved):
        assert (refusal.code, refusal.reason) == ("FAILED_PRECONDITION", "FLOOR_FAILED")


async def test_an_end_that_cannot_be_written_is_not_told(
    stage: Stage, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database breaks as the run ends: no frame says what is not so, and a repeat says the same."""
    part = stage.part(hold_at=3)
    watch = await stage.watch(session, part).until_text("Once upon a time.")
    await part.held()

    async def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a secret of the database")

    with monkeypatch.context() as patch:
        patch.setattr(stage.service.service.store, "write", broken)
        part.go()
        await stage.service.service.generation.hub.wait_idle()
    shown = len(watch.frames)
    floor = await stage.floor(watch.floor_id)
    assert floor.state == floor_pb2.FLOOR_STATE_GENERATING
    # Nobody has to wait for it.
    await stage.client.call("AbandonFloor", floor_id=floor.floor_id)
    told = (await watch.end())[shown:]
    assert kinds(told) == ["reset", "cancelled"]
    failed = await stage.floor(watch.floor_id)
    assert list(told[0].reset.pages) == ([failed.output_page] if failed.HasField("output_page") else [])
    assert "secret" not in str(told)
    assert kinds(await stage.play(session))[-1] == "floor_committed"
