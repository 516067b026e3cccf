"""The log of frames when the database fails: nothing is lost of it, and nothing is there twice."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from kernel.errors import Unavailable
from kernel.generation.events import TextDelta
from kernel.runs.shown import ShownRun
from kernel.verbs.records import OwnedChunk, RunMark
from tests.conformance.proxy import proxied
from tests.runs.stage import WAIT, Stage, as_bytes, end_of, kinds, on_stage, text_of_frames
from tests.support.client import texts

pytestmark = pytest.mark.asyncio(loop_scope="session")

PIECES = [f"{number} " for number in range(40)]


class Deaf:
    """The log's rows; each write is done, and nothing is heard of it."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self.writes = 0

    async def write(self, chunks: Sequence[OwnedChunk]) -> list[RunMark | None]:
        await self._rows.write(chunks)
        self.writes += 1
        raise Unavailable("UNAVAILABLE", "It went away.")

    async def marks(self, runs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], RunMark]:
        found: dict[tuple[str, str], RunMark] = await self._rows.marks(runs)
        return found


@pytest.mark.parametrize("abandoned", [False, True])
async def test_writes_of_which_nothing_is_heard(
    stage: Stage, session: str, monkeypatch: pytest.MonkeyPatch, abandoned: bool
) -> None:
    log = stage.service.service.generation.log
    deaf = Deaf(log._rows)
    monkeypatch.setattr(log, "_rows", deaf)
    part = stage.part({"deltas": PIECES, "delay_ms": 15}, hold_at=30 if abandoned else None)
    watch = await stage.watch(session, part).started()
    if abandoned:
        await watch.until_text("".join(PIECES[:30]))
        await stage.other.call("AbandonFloor", floor_id=watch.floor_id)
    frames = await watch.end()
    assert deaf.writes > 1
    assert text_of_frames(frames) == "".join(PIECES[: 30 if abandoned else 40])
    assert text_of_frames(frames) == "".join(texts(end_of(frames).output_page))
    # From the rows alone.
    stage.service.service.generation.hub._finished.clear()
    assert as_bytes(await stage.attach(frames[0].run_id).end()) == as_bytes(frames)


async def test_a_database_that_goes_away_in_mid_run(postgres_database_url: str) -> None:
    async with proxied(postgres_database_url) as proxy, on_stage(proxy.url) as stage:
        session = await stage.client.new_session()
        part = stage.part({"deltas": PIECES, "delay_ms": 2}, hold_at=20)
        watch = await stage.watch(session, part).until_text("".join(PIECES[:20]))
        await proxy.down()
        part.go()
        await watch.until_text("".join(PIECES))
        await proxy.up()
        frames = await watch.end()
        assert kinds(frames)[-1] == "floor_committed"
        stage.service.service.generation.hub._finished.clear()
        async with asyncio.timeout(WAIT):
            assert as_bytes(await stage.attach(frames[0].run_id).end()) == as_bytes(frames)


async def test_a_run_is_held_before_the_first_frame_of_its_epoch() -> None:
    live = ShownRun("run", "floor", epoch=2)
    live.hold()
    live.publish(TextDelta("page", "a"))
    assert (live.last_seq, live.shown().pages) == (0, {})
    live.release()
    assert [frame.event for frame in live.frames] == [TextDelta("page", "a")]
