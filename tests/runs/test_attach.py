"""Attaching to a run: exactly what is missing, from whichever process, whenever (R5)."""

import random
from datetime import timedelta

import pytest

from kernel.runs.control import forget_logs
from tests.runs.stage import STORY, Stage, as_bytes, end_of, kinds, on_stage, text_of_frames
from tests.support.client import texts

pytestmark = pytest.mark.asyncio(loop_scope="session")

PIECES = [f"{number} " for number in range(12)]


async def test_after_any_frame_of_a_run_that_ended_here(stage: Stage, session: str) -> None:
    frames = await stage.play(session, {"deltas": PIECES, "delay_ms": 1})
    for at in range(len(frames)):
        assert as_bytes(await stage.attach(frames[0].run_id, frames[at]).rest()) == as_bytes(frames[at + 1 :])
    assert as_bytes(await stage.attach(frames[0].run_id).end()) == as_bytes(frames)


async def test_while_it_runs(stage: Stage, session: str) -> None:
    part = stage.part({"deltas": PIECES}, hold_at=5)
    watch = await stage.watch(session, part).until_text("".join(PIECES[:5]))
    await part.held()
    attached = stage.attach(watch.run_id, watch.frames[1])
    await attached.next()
    part.go()
    frames = await watch.end()
    assert as_bytes(await attached.rest()) == as_bytes(frames[2:])


async def test_from_the_log_when_the_run_is_forgotten_here(stage: Stage, session: str) -> None:
    frames = await stage.play(session, {"deltas": PIECES, "delay_ms": 1})
    stage.service.service.generation.hub._finished.clear()
    for at in range(len(frames)):
        assert as_bytes(await stage.attach(frames[0].run_id, frames[at]).rest()) == as_bytes(frames[at + 1 :])
    assert as_bytes(await stage.attach(frames[0].run_id).end()) == as_bytes(frames)


async def test_when_its_log_is_no_longer_kept(stage: Stage, session: str) -> None:
    frames = await stage.play(session, {"deltas": PIECES})
    service = stage.service.service
    service.generation.hub._finished.clear()
    await forget_logs(service.store.run_log, service.env.clock() + timedelta(hours=1))
    last = as_bytes(frames[-2:])
    assert as_bytes(await stage.attach(frames[0].run_id).rest()) == last
    assert as_bytes(await stage.attach(frames[0].run_id, frames[-3]).rest()) == last
    refusal = await stage.other.refused("AttachRun", run_id=frames[0].run_id, after="1.1")
    assert (refusal.code, refusal.reason) == ("OUT_OF_RANGE", "CURSOR_TOO_OLD")
    assert refusal.metadata == {"earliest": f"1.{frames[-2].seq}"}


@pytest.mark.parametrize("here", [True, False])
async def test_a_position_that_is_not_reached(stage: Stage, session: str, here: bool) -> None:
    frames = await stage.play(session)
    if not here:
        stage.service.service.generation.hub._finished.clear()
    for after in (f"1.{frames[-1].seq + 1}", "2.1"):
        refusal = await stage.other.refused("AttachRun", run_id=frames[0].run_id, after=after)
        assert (refusal.code, refusal.reason) == ("OUT_OF_RANGE", "CURSOR_AHEAD")


NO_POSITIONS = ["x", "1", "1.", ".1", "0.1", "1.1.1", "-1.1", "1.-1", "1.1 ", "9" * 19 + ".1"]


@pytest.mark.parametrize("after", NO_POSITIONS)
async def test_what_is_no_position(stage: Stage, session: str, after: str) -> None:
    frames = await stage.play(session)
    refusal = await stage.other.refused("AttachRun", run_id=frames[0].run_id, after=after)
    assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "INVALID")


async def test_dropped_and_attached_again_at_random_on_two_replicas(migrated_url: str) -> None:
    """Twenty times: the joined text is the stored page, on whichever replica the client comes back."""
    if migrated_url.startswith("sqlite"):
        async with on_stage(migrated_url) as stage:
            await _drop_and_attach(stage, [stage])
    else:
        async with on_stage(migrated_url) as stage, on_stage(migrated_url) as elsewhere:
            await _drop_and_attach(stage, [stage, elsewhere])


async def _drop_and_attach(stage: Stage, replicas: list[Stage]) -> None:
    session, other = [await stage.client.new_session() for _ in range(2)]
    shaken = random.Random(6)
    pieces = [f"{number} " for number in range(120)]
    watch = await stage.watch(session, stage.part({"deltas": pieces, "delay_ms": 15})).started()
    beside = stage.watch(other, stage.part({"deltas": ["beside "] * 40, "delay_ms": 15}))
    frames, run_id = watch.frames, watch.run_id
    for _ in range(20):
        for _ in range(shaken.randrange(4)):
            if kinds(frames)[-1] != "floor_committed":
                await watch.next()
        watch.leave()
        replica = shaken.choice(replicas)
        again = replica.attach(run_id, frames[-1])
        again.frames = frames
        watch = again
    if kinds(frames)[-1] != "floor_committed":
        await watch.rest()
    assert text_of_frames(frames) == "".join(pieces) == "".join(texts(end_of(frames).output_page))
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
    assert text_of_frames(await beside.end()) == "beside " * 40


async def test_a_resume_right_after_a_resume_keeps_its_position(stage: Stage, session: str) -> None:
    frames = await stage.play(session)
    for at in (1, len(frames) - 1):
        for _ in range(3):
            watch = stage.attach(frames[0].run_id, frames[at - 1])
            assert as_bytes([await watch.next()]) == as_bytes([frames[at]])
            watch.leave()
    assert text_of_frames(frames) == STORY
