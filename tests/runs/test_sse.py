"""Attaching over SSE: the same frames as over gRPC, from any replica, whenever the client comes back."""

import asyncio
import os
import random
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
import pytest_asyncio
from google.protobuf import json_format
from stemma.kernel.v1 import run_pb2

from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import reason_of
from tests.runs.stage import WAIT, Stage, as_bytes, end_of, kinds, on_stage, text_of_frames
from tests.support.client import TIMEOUT, texts
from tests.tools_runs.acts import calls, first, session_with, then, tool

pytestmark = pytest.mark.asyncio(loop_scope="session")

ATTACHES = int(os.environ.get("ATTACHES", "20"))


@asynccontextmanager
async def browser(stage: Stage, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Before a gateway in front of the service."""
    async with (
        serve_gateway(stage.service.address, **settings) as url,
        httpx.AsyncClient(base_url=url, timeout=TIMEOUT, trust_env=False) as client,
    ):
        yield client


@pytest_asyncio.fixture(loop_scope="session")
async def http(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    async with browser(stage, gateway_sse_ping=0.05) as client:
        yield client


async def frames_in(lines: AsyncIterator[str]) -> AsyncIterator[run_pb2.RunEvent]:
    """Each `data:` line, with the `id:` before it."""
    position = ""
    async for line in lines:
        if line.startswith("id: "):
            position = line.removeprefix("id: ")
        elif line.startswith("data: "):
            frame = json_format.Parse(line.removeprefix("data: "), run_pb2.RunEvent())
            assert position == f"{frame.epoch}.{frame.seq}"
            yield frame


async def test_a_run_that_says_nothing_is_answered_at_once(
    stage: Stage, session: str, http: httpx.AsyncClient
) -> None:
    part = stage.part(hold_at=1)
    watch = await stage.watch(session, part).until_text("Once ")
    await part.held()
    at = f"1.{watch.frames[-1].seq}"
    async with (
        asyncio.timeout(WAIT),
        http.stream("GET", f"/v1/runs/{watch.run_id}/events?after={at}") as answer,
    ):
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.aiter_lines()
        while await anext(lines) != ": keep-alive":
            pass
        part.go()
        rest = [frame async for frame in frames_in(lines)]
    frames = await watch.end()
    assert as_bytes(rest) == as_bytes(frames[int(at[2:]) :])


async def test_the_header_is_the_position_and_wins(
    stage: Stage, session: str, http: httpx.AsyncClient
) -> None:
    frames = await stage.play(session)
    events = f"/v1/runs/{frames[0].run_id}/events"
    for query, headers, at in [
        ("", {}, 0),
        ("?after=1.2", {}, 2),
        ("?after=1.2", {"last-event-id": "1.3"}, 3),
    ]:
        async with http.stream("GET", events + query, headers=headers) as answer:
            seen = [frame async for frame in frames_in(answer.aiter_lines())]
        assert as_bytes(seen) == as_bytes(frames[at:])


async def test_what_is_refused_is_an_ordinary_error(
    stage: Stage, session: str, http: httpx.AsyncClient
) -> None:
    frames = await stage.play(session)
    events = f"/v1/runs/{frames[0].run_id}/events"
    for path, headers, status, reason in [
        (events, {"last-event-id": "x"}, 400, "INVALID"),
        (events, {"last-event-id": "1.999"}, 400, "CURSOR_AHEAD"),
        (f"/v1/runs/{uuid.uuid4()}/events", {}, 404, "NOT_FOUND"),
    ]:
        answer = await http.get(path, headers=headers)
        assert (answer.status_code, reason_of(answer.json())) == (status, reason)


async def test_json_of_a_run_that_is_held_or_waits(stage: Stage, http: httpx.AsyncClient) -> None:
    session = await session_with(stage, tool("ask"))
    part = stage.part({"text": "held"})
    words = {"role": "ROLE_USER", "parts": [{"text": {"text": part.text}}]}
    held = await http.post(
        f"/v1/sessions/{session}:respond",
        json={"requestId": str(uuid.uuid4()), "input": {"messages": [words]}, "hold": True},
    )
    assert (held.status_code, held.json()["run"]["state"]) == (200, "RUN_STATE_HELD")
    assert held.json()["floor"]["state"] == "FLOOR_STATE_OPEN"
    await stage.client.call("CommitFloor", floor_id=held.json()["floor"]["floorId"])

    part = stage.part(first(calls("ask", "a", n=1)), then())
    words = {"role": "ROLE_USER", "parts": [{"text": {"text": part.text}}]}
    waits = await http.post(
        f"/v1/sessions/{session}:respond",
        json={"requestId": str(uuid.uuid4()), "input": {"messages": [words]}},
    )
    run = waits.json()["run"]
    assert (waits.status_code, run["state"]) == (200, "RUN_STATE_WAITING")
    assert [call["callId"] for call in run["requiresAction"]["calls"]] == ["a"]
    # From after what was seen there is nothing yet: answered at once, and the end comes when it comes.
    last = (await stage.attach(run["runId"]).rest())[-1]
    events = f"/v1/runs/{run['runId']}/events"
    async with http.stream("GET", events, headers={"last-event-id": f"1.{last.seq}"}) as answer:
        await stage.client.call("CancelRun", run_id=run["runId"], keep=run_pb2.KEEP_FAIL)
        rest = [frame async for frame in frames_in(answer.aiter_lines())]
    assert kinds(rest)[-1] == "cancelled"


async def test_dropped_and_attached_again_at_random(migrated_url: str) -> None:
    """Over SSE and gRPC by turns, on two replicas where there can be two (R5)."""
    async with AsyncExitStack() as stack:
        count = 1 if migrated_url.startswith("sqlite") else 2
        replicas = [await stack.enter_async_context(on_stage(migrated_url)) for _ in range(count)]
        browsers = [await stack.enter_async_context(browser(stage)) for stage in replicas]
        await _drop_and_attach(replicas, browsers)


async def _drop_and_attach(replicas: Sequence[Stage], browsers: Sequence[httpx.AsyncClient]) -> None:
    shaken, stage = random.Random(6), replicas[0]
    session = await stage.client.new_session()
    pieces = [f"{number} " for number in range(6 * ATTACHES)]
    watch = await stage.watch(session, stage.part({"deltas": pieces, "delay_ms": 15})).started()
    frames = watch.frames
    watch.leave()
    for turn in range(ATTACHES):
        at, most = frames[-1], shaken.randrange(1, 4)
        if kinds(frames)[-1] == "floor_committed":
            break
        if turn % 2:
            again = shaken.choice(replicas).attach(at.run_id, at)
            for _ in range(most):
                frames.append(await again.next())
                if kinds(frames)[-1] == "floor_committed":
                    break
            again.leave()
            continue
        headers = {"last-event-id": f"{at.epoch}.{at.seq}"}
        client = shaken.choice(browsers)
        async with client.stream("GET", f"/v1/runs/{at.run_id}/events", headers=headers) as answer:
            seen = 0
            async for frame in frames_in(answer.aiter_lines()):
                frames.append(frame)
                seen += 1
                if seen == most:
                    break
    if kinds(frames)[-1] != "floor_committed":
        frames += await shaken.choice(replicas).attach(frames[0].run_id, frames[-1]).rest()
    assert [frame.seq for frame in frames] == list(range(1, len(frames) + 1))
    assert text_of_frames(frames) == "".join(pieces) == "".join(texts(end_of(frames).output_page))
