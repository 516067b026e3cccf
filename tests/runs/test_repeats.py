"""A repeated Respond is its run (R1): joined while it runs, rebuilt from the floor once it has ended."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from google.protobuf.message import Message
from stemma.kernel.v1 import run_pb2

from tests.runs.stage import (
    PIECES,
    STORY,
    Cast,
    Stage,
    as_bytes,
    end_of,
    kinds,
    on_stage,
    text_of_frames,
)
from tests.support.client import request_for, user

here = pytest.mark.asyncio(loop_scope="session")
SHOWN = "".join(PIECES[:2])
CUT = {"deltas": PIECES, "fail": {"reason": "PROVIDER_TIMEOUT", "after": 2}}


@here
async def test_a_repeat_joins_the_run_in_its_middle(stage: Stage, session: str) -> None:
    part = stage.part(hold_at=2)
    request = request_for("Respond", session_id=session, input=part.input)
    first = await stage.sent(request).until_text(SHOWN)
    await part.held()
    second = await stage.sent(request, stage.other).until_text(SHOWN)
    assert as_bytes(second.frames) == as_bytes(first.frames)
    part.go()
    frames, joined = await first.end(), await second.end()
    assert as_bytes(joined) == as_bytes(frames)
    assert text_of_frames(frames) == STORY
    late = await stage.sent(request).end()
    assert as_bytes(late) == as_bytes(frames)
    assert len(part.sent) == 1
    assert await stage.other.path_ids(session) == [end_of(frames).floor_id]


@here
async def test_sixteen_at_once_are_one_run(stage: Stage, session: str) -> None:
    part = stage.part(hold_at=1)
    request = request_for("Respond", session_id=session, input=part.input)
    clients = [stage.client, stage.other]
    watches = [stage.sent(request, clients[number % 2]) for number in range(16)]
    # Every one of them has joined before the model may end.
    await asyncio.gather(*(watch.until_text(PIECES[0]) for watch in watches))
    part.go()
    runs = await asyncio.gather(*(watch.end() for watch in watches))
    assert len({tuple(as_bytes(frames)) for frames in runs}) == 1
    assert len(part.sent) == 1
    assert await stage.other.path_ids(session) == [end_of(runs[0]).floor_id]


@here
async def test_the_same_request_id_with_other_content(stage: Stage, session: str) -> None:
    part = stage.part(hold_at=1)
    request = request_for("Respond", session_id=session, input=part.input)
    watch = await stage.sent(request).until_text(PIECES[0])
    changes: list[dict[str, Any]] = [
        {"input": {"messages": [user("other")]}},
        {"branch": "other"},
        {"overrides": {"system_prompt": "other"}},
        {"cancel_on_disconnect": True},
        {"resume": {"floor_id": watch.floor_id}},
    ]

    async def reused() -> None:
        for change in changes:
            fields: dict[str, Any] = {"session_id": session, "input": part.input} | change
            if "resume" in change:
                del fields["input"]
            other = request_for("Respond", request_id=request.request_id, **fields)
            refusal = await stage.client.refusal("Respond", other)
            assert (refusal.code, refusal.reason) == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")

    await reused()
    part.go()
    await watch.end()
    await reused()
    assert len(part.sent) == 1


@here
async def test_a_refused_respond_may_be_sent_again(stage: Stage, session: str) -> None:
    """Failures are not stored: the same id succeeds once nothing stands in its way."""
    opened = (await stage.client.call("OpenFloor", session_id=session)).floor
    part = stage.part()
    request = request_for("Respond", session_id=session, input=part.input)
    assert (await stage.client.refusal("Respond", request)).reason == "FLOOR_PENDING"
    await stage.client.call("AbandonFloor", floor_id=opened.floor_id)
    assert kinds(await stage.sent(request).end())[-1] == "floor_committed"


class Ends:
    """Every way in which a run ends. `asked`: each request with the frames that it got."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.asked: dict[str, tuple[Message, list[run_pb2.RunEvent]]] = {}

    async def play_all(self) -> None:
        await self._whole("committed", {"text": STORY})
        await self._whole("failed with a part", CUT)
        await self._whole("failed with nothing", {"fail": {"reason": "PROVIDER_INVALID"}})
        async with self._held("cancelled and kept", 2) as run_id:
            await self._stage.client.call("CancelRun", run_id=run_id)
        async with self._held("cancelled and failed", 2) as run_id:
            await self._stage.client.call("CancelRun", run_id=run_id, keep=run_pb2.KEEP_FAIL)
        async with self._held("cancelled with nothing", 0) as run_id:
            await self._stage.client.call("CancelRun", run_id=run_id)
        async with self._held("abandoned", 2) as run_id:
            floor_id = (await self._stage.run(run_id)).floor_id
            await self._stage.client.call("AbandonFloor", floor_id=floor_id, reason="enough")

    async def _whole(self, how: str, reply: dict[str, Any]) -> None:
        session = await self._stage.client.new_session()
        request = request_for("Respond", session_id=session, input=self._stage.part(reply).input)
        self.asked[how] = (request, await self._stage.sent(request).end())

    @asynccontextmanager
    async def _held(self, how: str, hold_at: int) -> AsyncIterator[str]:
        session = await self._stage.client.new_session()
        part = self._stage.part(hold_at=hold_at)
        request = request_for("Respond", session_id=session, input=part.input)
        watch = await self._stage.sent(request).started()
        await watch.until_text("".join(PIECES[:hold_at]))
        yield watch.run_id
        self.asked[how] = (request, await watch.end())


async def test_after_a_restart_the_end_is_rebuilt_byte_for_byte(migrated_url: str) -> None:
    cast = Cast()
    async with on_stage(migrated_url, cast) as stage:
        ends = Ends(stage)
        await ends.play_all()
    async with on_stage(migrated_url, cast) as stage:
        for how, (request, frames) in ends.asked.items():
            count = 2 if how == "committed" else 1
            rebuilt = await stage.sent(request).rest()
            assert as_bytes(rebuilt) == as_bytes(frames[-count:]), how
        # They have stayed what they were, and the branch has gone on.
        request, frames = ends.asked["committed"]
        following = end_of(await stage.play(end_of(frames).session_id))
        assert following.parent_floor_id == end_of(frames).floor_id
        assert as_bytes(await stage.sent(request).rest()) == as_bytes(frames[-2:])
