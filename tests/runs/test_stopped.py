"""The service's process is killed, or stopped for a while, at points that are chosen (R2, R5, design 7)."""

import asyncio
import json
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
import pytest
from stemma.kernel.v1 import floor_pb2, run_pb2

from tests.conformance.world import rows_of
from tests.runs.programs import ask, service_process, talking_to, until
from tests.runs.stage import ENDS, Stage, Watch, end_of, kinds, on_stage, text_of_frames
from tests.support.client import texts
from tests.tools_runs.acts import asking, boxed, calls, decision, then

FAILED, COMMITTED = floor_pb2.FLOOR_STATE_FAILED, floor_pb2.FLOOR_STATE_COMMITTED
PIECES = [f"{number} " for number in range(40)]
WHOLE = "".join(PIECES)
ROLL = [calls("roll_dice", "a", dice="1d6")]
SCRIPT = json.dumps(
    {
        "replies": [
            {"when": "talk", "deltas": PIECES, "delay_ms": 10},
            {"when": "hang", "deltas": PIECES, "hang_after": 3},
            {"when": "roll", "text": "Now. ", "tool_calls": ROLL},
            {"when": "roll", **then()},
        ]
    }
)


async def _rest(watch: Watch) -> None:
    with pytest.raises(grpc.aio.AioRpcError):
        await watch.rest()


async def _judged(stage: Stage, watch: Watch, *, sent: str) -> floor_pb2.Floor:
    """The floor as a killed process left it: whole, or failed with a prefix of what the provider sent; what
    its watchers are shown leads from what they had to that; and its branch goes on."""
    floor = await stage.floor(watch.floor_id)
    after = await stage.attach(watch.run_id, watch.frames[-1]).rest()
    seen = [(frame.epoch, frame.seq) for frame in (*watch.frames, *after)]
    assert seen == sorted(set(seen))
    assert end_of(after) == floor
    said = "".join(texts(floor.output_page)[:1])
    if floor.state == FAILED:
        assert not ENDS & set(kinds(watch.frames)), "a last frame is sent when its row is durable"
        assert (floor.failure_reason, kinds(after)[-2:]) == ("CRASHED", ["reset", "failed"])
        pages = [floor.output_page] if floor.HasField("output_page") else []
        assert list(after[-2].reset.pages) == pages
        assert sent.startswith(said)
        again = end_of(await stage.respond(regenerate={"floor_id": floor.floor_id}).end())
        assert (again.state, again.input_page) == (COMMITTED, floor.input_page)
    else:
        assert (floor.state, said) == (COMMITTED, sent)
        assert text_of_frames((*watch.frames, *after)) == sent
    assert not (await stage.client.call("VerifySession", session_id=floor.session_id)).problems
    return floor


async def _started(client: Any, text: str, *tools: dict[str, Any]) -> Watch:
    session = (await client.call("CreateSession", config={"tools": tools})).session.session_id
    return await ask(client, session, text).started()


@pytest.mark.parametrize("point", ["flush", "commit"])
async def test_killed_in_a_write(sqlite_url: str, tmp_path: Path, point: str) -> None:
    async with (
        service_process(sqlite_url, tmp_path, script=SCRIPT, stop_at=point) as program,
        talking_to(program) as client,
    ):
        watch = await _started(client, "talk")
        rest = asyncio.create_task(_rest(watch))
        await program.line("^stopped")
        if point == "commit":
            # What was sent before this answer has come.
            await client.call("GetRun", run_id=watch.run_id)
        await program.kill()
        await rest
    async with on_stage(sqlite_url) as stage:
        floor = await _judged(stage, watch, sent=WHOLE)
        assert floor.state == FAILED
        # A flush that was cut off was the first; before the commit all but its last frames was logged.
        assert floor.HasField("output_page") == (point == "commit")


@pytest.mark.parametrize("point", ["tool", "result"])
async def test_killed_around_a_tool_call(sqlite_url: str, tmp_path: Path, point: str) -> None:
    async with (
        service_process(sqlite_url, tmp_path, script=SCRIPT, stop_at=point) as program,
        talking_to(program) as client,
    ):
        watch = await _started(client, "roll", boxed("roll_dice"))
        rest = asyncio.create_task(_rest(watch))
        await program.line("^stopped")
        assert _acts(program.lines) == 1
        await program.kill()
        await rest
    async with on_stage(sqlite_url) as stage:
        await _judged(stage, watch, sent="Now. ")
        async with stage.service.service.store.reading("local") as tx:
            (call,) = await tx.tool_calls(watch.run_id)
        assert call.state == ("acting" if point == "tool" else "done")


async def test_killed_while_it_waits_for_approval(sqlite_url: str, tmp_path: Path) -> None:
    """Nothing is lost: the run goes on in another process, and the tool acts once."""
    async with (
        service_process(sqlite_url, tmp_path, script=SCRIPT) as program,
        talking_to(program) as client,
    ):
        watch = await _started(client, "roll", asking("roll_dice"))
        await watch.rest()
        assert kinds(watch.frames)[-1] == "requires_action"
        await program.kill()
    async with on_stage(sqlite_url) as stage:
        assert (await stage.run(watch.run_id)).state == run_pb2.RUN_STATE_WAITING
        await stage.client.call("SubmitToolResults", run_id=watch.run_id, approvals=[decision("a")])
        after = await stage.attach(watch.run_id, watch.frames[-1]).rest()
        assert kinds(after)[-1] == "floor_committed"
        assert kinds(after).count("tool_result") == 1
        refused = await stage.client.refused(
            "SubmitToolResults", run_id=watch.run_id, approvals=[decision("a")]
        )
        assert refused.code == "ALREADY_EXISTS"


async def test_killed_at_random(sqlite_url: str, tmp_path: Path) -> None:
    shaken = random.Random(6)
    watches: list[Watch] = []
    async with (
        service_process(sqlite_url, tmp_path, script=SCRIPT) as program,
        talking_to(program) as client,
    ):
        for _ in range(6):
            watches.append(await _started(client, "talk"))
            for _ in range(shaken.randrange(5)):
                await watches[-1].next()
        await program.kill()
    async with on_stage(sqlite_url) as stage:
        for watch in watches:
            await _judged(stage, watch, sent=WHOLE)


async def test_stopped_for_longer_than_its_lease(postgres_database_url: str, tmp_path: Path) -> None:
    """It is taken over, and when it wakes up it writes nothing, and its streams end with the truth."""
    async with (
        on_stage(postgres_database_url) as stage,
        service_process(postgres_database_url, tmp_path, script=SCRIPT, stop_at="lease") as program,
        talking_to(program) as client,
    ):
        watch = await (await _started(client, "hang")).until_text("0 1 2 ")
        elsewhere = await stage.attach(watch.run_id).until_text("0 1 2 ")
        program.send(signal.SIGSTOP)
        # When the lease is over, and another process has looked.
        taken = await elsewhere.end()
        assert kinds(taken)[-2:] == ["reset", "failed"]
        before = await _tree_rows(stage)
        program.send(signal.SIGCONT)
        assert (await watch.end())[-1] == taken[-1]
        await _alive(stage)
        assert await _tree_rows(stage) == before
        assert texts(end_of(taken).output_page) == ["0 1 2 "]


async def _alive(stage: Stage) -> None:
    """Until the process that was stopped has a lease again: it has done all that it does when it wakes."""

    async def two() -> bool:
        async with stage.service.service.store._engines.reading() as connection:
            found = await connection.exec_driver_sql(
                "SELECT count(*) FROM process WHERE lease_time > clock_timestamp()"
            )
            return int(found.scalar_one()) == 2

    await until("both processes are alive", two, 12.0)


async def _tree_rows(stage: Stage) -> dict[str, list[Any]]:
    return await rows_of(stage.service.service.store._engines, "local")


def _acts(lines: Sequence[str]) -> int:
    return sum(line.startswith("acted ") for line in lines)
