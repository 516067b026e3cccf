"""The real local model behind Respond. Nothing is asserted on what it says: it is a very small model."""

import asyncio
import signal
from pathlib import Path

import grpc
import pytest
from stemma.kernel.v1 import floor_pb2, run_pb2

from tests.runs.programs import ask, exit_of, local_model, service_process, talking_to
from tests.runs.stage import kinds, on_stage, text_of_frames
from tests.support.client import texts

pytestmark = pytest.mark.local_model

SHORT = {"model": {"max_output_tokens": 16, "temperature": 0.0}}
# A small model may end any story soon: it is not let.
LONG = {"model": {"max_output_tokens": 1_000, "extra_json": '{"ignore_eos": true}'}}
# Loading the model takes seconds on a busy machine; stopping must not.
GONE_SECONDS = 10.0


async def test_it_answers_and_stops_with_its_service(sqlite_url: str, tmp_path: Path) -> None:
    async with (
        service_process(sqlite_url, tmp_path, provider="local") as program,
        talking_to(program) as client,
    ):
        session = await client.new_session()
        frames = await ask(client, session, "Count from one to ten.", overrides=SHORT).end()
        assert kinds(frames)[-2:] == ["page_completed", "floor_committed"]
        assert kinds(frames).count("text_delta") >= 3
        answered = frames[-1].floor_committed.floor
        assert answered.state == floor_pb2.FLOOR_STATE_COMMITTED
        assert texts(answered.output_page) == [text_of_frames(frames)]
        assert answered.usage.tokens_in > 0
        assert answered.usage.tokens_out > 0
        assert not answered.usage.estimated

        watch = ask(client, session, "Tell me a very long story.", overrides=LONG)
        while not text_of_frames(watch.frames):
            await watch.next()
        model_gone = exit_of(local_model(program))
        program.send(signal.SIGTERM)
        async with asyncio.timeout(GONE_SECONDS):
            cut = await watch.end()
            assert await program.wait() == 0
            await model_gone
    async with on_stage(sqlite_url) as stage:
        floor = await stage.floor(cut[0].floor_id)
        run = await stage.run(cut[0].run_id)
        ended = {
            "floor_committed": (floor_pb2.FLOOR_STATE_COMMITTED, run_pb2.RUN_STATE_COMMITTED),
            "failed": (floor_pb2.FLOOR_STATE_FAILED, run_pb2.RUN_STATE_FAILED),
        }
        assert (floor.state, run.state) == ended[str(kinds(cut)[-1])]
        assert await stage.floor(answered.floor_id) == answered
        assert (await stage.other.path_ids(session))[0] == answered.floor_id


async def test_it_dies_with_a_service_that_is_killed(sqlite_url: str, tmp_path: Path) -> None:
    async with (
        service_process(sqlite_url, tmp_path, provider="local") as program,
        talking_to(program) as client,
    ):
        session = await client.new_session()
        watch = ask(client, session, "Tell me a very long story.", overrides=LONG)
        while not text_of_frames(watch.frames):
            await watch.next()
        model_gone = exit_of(local_model(program))
        async with asyncio.timeout(GONE_SECONDS):
            await program.kill()
            await model_gone
        with pytest.raises(grpc.aio.AioRpcError):
            await watch.rest()
    async with on_stage(sqlite_url) as stage:
        assert (await stage.floor(watch.floor_id)).failure_reason == "CRASHED"
