"""Respond as SSE and as JSON, and the streams that are SSE alone."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
import pytest
from stemma.conversation.v1 import run_service_pb2
from stemma.kernel.v1 import floor_pb2, run_pb2

from tests.gateway.fake_service import FakeService, error_info, refuse
from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import Connection, reason_of, request

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATH = "/v1/sessions/s:respond"
SSE = {"Accept": "text/event-stream"}
FLOOR = floor_pb2.Floor(floor_id="f-1", state=floor_pb2.FLOOR_STATE_COMMITTED)
BRANCH = floor_pb2.Branch(name="main", head_floor_id="f-1")


def frame(seq: int, **event: Any) -> run_service_pb2.RespondResponse:
    one = run_pb2.RunEvent(run_id="r-1", floor_id="f-1", epoch=3, seq=seq, **event)
    return run_service_pb2.RespondResponse(event=one)


STARTED = frame(1, started=run_pb2.RunStarted(tokens_in=7))
DELTA = frame(2, text_delta=run_pb2.TextDelta(text="two\nlines\r\u2028é"))
COMMITTED = frame(3, floor_committed=run_pb2.FloorCommitted(floor=FLOOR, branch=BRANCH))
CANCELLED = frame(3, cancelled=run_pb2.RunCancelled(floor=FLOOR, branch=BRANCH))


def failed(code: int, reason: str) -> run_service_pb2.RespondResponse:
    return frame(3, failed=run_pb2.RunFailed(code=code, reason=reason, floor=FLOOR))


def say(fake: FakeService, *frames: Any, rpc: str = "Respond") -> None:
    async def stream(_: Any, __: Any) -> AsyncIterator[Any]:
        for one in frames:
            yield one

    fake.streams[rpc] = stream
    run = run_pb2.Run(run_id="r-1", state=run_pb2.RUN_STATE_COMMITTED)
    fake.reply("GetRun", run_service_pb2.GetRunResponse(run=run))


async def test_sse_frames(client: httpx.AsyncClient, fake: FakeService) -> None:
    say(fake, STARTED, DELTA, COMMITTED)
    answer = await client.post(PATH, json={"resume": {"floorId": "f-1"}}, headers=SSE)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    blocks = answer.text.split("\n\n")
    assert blocks.pop() == ""
    for block, seq, kind in zip(blocks, (1, 2, 3), ("started", "textDelta", "floorCommitted"), strict=True):
        first, second = block.split("\n")
        assert first == f"id: 3.{seq}"
        event = json.loads(second.removeprefix("data: "))
        assert (event["runId"], event["epoch"], event["seq"]) == ("r-1", "3", str(seq))
        assert kind in event
    assert json.loads(blocks[1].split("data: ")[1])["textDelta"]["text"] == "two\nlines\r\u2028é"
    assert fake.last.request.session_id == "s"
    assert fake.last.request.WhichOneof("action") == "resume"


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json, Text/Event-Stream;q=0.5"])
async def test_sse_is_asked_for_anywhere_in_accept(
    client: httpx.AsyncClient, fake: FakeService, accept: str
) -> None:
    say(fake, COMMITTED)
    answer = await client.post(PATH, json={}, headers={"Accept": accept})
    assert answer.text.startswith("id: 3.3\ndata: {")


async def test_sse_frames_arrive_as_they_are_made(client: httpx.AsyncClient, fake: FakeService) -> None:
    seen = asyncio.Event()

    async def stream(_: Any, __: Any) -> AsyncIterator[Any]:
        yield STARTED
        await asyncio.wait_for(seen.wait(), 10)
        yield COMMITTED

    fake.streams["Respond"] = stream
    async with client.stream("POST", PATH, json={}, headers=SSE) as answer:
        lines = []
        async for line in answer.aiter_lines():
            lines.append(line)
            seen.set()
    assert [line for line in lines if line.startswith("id")] == ["id: 3.1", "id: 3.3"]


async def test_sse_comments_while_nothing_happens(fake: FakeService) -> None:
    quiet = asyncio.Event()

    async def stream(_: Any, __: Any) -> AsyncIterator[Any]:
        yield STARTED
        await asyncio.wait_for(quiet.wait(), 10)
        yield COMMITTED

    fake.streams["Respond"] = stream
    async with (
        serve_gateway(fake.address, gateway_sse_ping=0.05) as url,
        httpx.AsyncClient(base_url=url, trust_env=False) as client,
        client.stream("POST", PATH, json={}, headers=SSE) as answer,
    ):
        lines = []
        async for line in answer.aiter_lines():
            lines.append(line)
            if line.startswith(":"):
                quiet.set()
    assert ": keep-alive" in lines
    assert lines[-3].startswith("id: 3.3")


async def test_sse_a_break_after_the_first_frame(client: httpx.AsyncClient, fake: FakeService) -> None:
    async def stream(_: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        yield STARTED
        await refuse(context, grpc.StatusCode.UNAVAILABLE, "Gone.", error_info("UNAVAILABLE"))

    fake.streams["Respond"] = stream
    answer = await client.post(PATH, json={}, headers=SSE)
    assert answer.status_code == 200
    *_, last, end = answer.text.split("\n\n")
    assert end == ""
    first, second = last.split("\n")
    assert first == "event: error"
    error = json.loads(second.removeprefix("data: "))
    assert (error["code"], error["message"], reason_of(error)) == (14, "Gone.", "UNAVAILABLE")


async def test_sse_a_failed_run_ends_its_stream_well(client: httpx.AsyncClient, fake: FakeService) -> None:
    say(fake, STARTED, failed(14, "PROVIDER_UNAVAILABLE"))
    answer = await client.post(PATH, json={}, headers=SSE)
    assert answer.status_code == 200
    assert "event:" not in answer.text
    assert '"reason":"PROVIDER_UNAVAILABLE"' in answer.text


@pytest.mark.parametrize("first", [True, False], ids=["in the stream", "before the first frame"])
@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
async def test_a_client_that_leaves_cancels_the_call(
    base_url: str, fake: FakeService, accept: str, first: bool
) -> None:
    called, cancelled = asyncio.Event(), asyncio.Event()

    async def stream(_: Any, __: Any) -> AsyncIterator[Any]:
        called.set()
        try:
            if first:
                yield STARTED
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    fake.streams["Respond"] = stream
    async with Connection(base_url) as one:
        head = request("POST", PATH, f"Accept: {accept}", "Content-Length: 0")
        one.write(head.format(host=one.netloc).encode())
        await asyncio.wait_for(called.wait(), 10)
        if first and accept == "text/event-stream":
            assert (await one.head())[0] == 200
    await asyncio.wait_for(cancelled.wait(), 10)


@pytest.mark.parametrize("last", [COMMITTED, CANCELLED], ids=["committed", "cancelled"])
async def test_json_result(client: httpx.AsyncClient, fake: FakeService, last: Any) -> None:
    say(fake, STARTED, DELTA, last)
    answer = await client.post(PATH, json={}, headers={"X-Request-Id": "trace"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    body = answer.json()
    assert set(body) == {"run", "floor", "branch"}
    assert (body["run"]["state"], body["floor"]["floorId"]) == ("RUN_STATE_COMMITTED", "f-1")
    assert body["branch"]["headFloorId"] == "f-1"
    assert [(one.name, one.metadata["x-request-id"]) for one in fake.calls] == [
        ("Respond", "trace"),
        ("GetRun", "trace"),
    ]
    assert fake.last.request.run_id == "r-1"


@pytest.mark.parametrize(
    ("code", "reason", "status"),
    [
        (14, "PROVIDER_UNAVAILABLE", 503),
        (14, "PROVIDER_INVALID", 503),
        (14, "CRASHED", 503),
        (4, "PROVIDER_TIMEOUT", 504),
        (8, "LIMIT", 429),
        (0, "CRASHED", 503),
    ],
)
async def test_json_of_a_failed_run_is_an_error(
    client: httpx.AsyncClient, fake: FakeService, code: int, reason: str, status: int
) -> None:
    say(fake, STARTED, failed(code, reason))
    answer = await client.post(PATH, json={})
    assert (answer.status_code, reason_of(answer.json())) == (status, reason)
    assert answer.json()["code"] == (code or 14)
    assert answer.json()["details"][0]["metadata"] == {"run_id": "r-1", "floor_id": "f-1"}


@pytest.mark.parametrize("frames", [[], [STARTED]], ids=["empty", "cut"])
async def test_json_of_a_stream_without_a_last_frame(
    client: httpx.AsyncClient, fake: FakeService, frames: list[Any]
) -> None:
    say(fake, *frames)
    answer = await client.post(PATH, json={})
    assert (answer.status_code, reason_of(answer.json())) == (503, "UNAVAILABLE")


async def test_json_of_a_broken_stream(client: httpx.AsyncClient, fake: FakeService) -> None:
    async def stream(_: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        yield STARTED
        await context.abort(grpc.StatusCode.UNAVAILABLE, "secret")

    fake.streams["Respond"] = stream
    answer = await client.post(PATH, json={})
    assert (answer.status_code, reason_of(answer.json())) == (503, "UNAVAILABLE")
    assert "secret" not in answer.text


async def test_attach_is_sse_whatever_is_accepted(client: httpx.AsyncClient, fake: FakeService) -> None:
    event = COMMITTED.event
    say(fake, run_service_pb2.AttachRunResponse(event=event), rpc="AttachRun")
    answer = await client.get("/v1/runs/r/events?after=1.1")
    assert answer.text.startswith("id: 3.3\ndata: {")
    assert (fake.last.request.run_id, fake.last.request.after) == ("r", "1.1")
    await client.get("/v1/runs/r/events?after=1.1", headers={"Last-Event-ID": "2.2"})
    assert fake.last.request.after == "2.2"
    # Respond has no position: the header that a reconnecting client sends is not its business.
    say(fake, COMMITTED)
    assert (await client.post(PATH, json={}, headers={"Last-Event-ID": "2.2", **SSE})).status_code == 200
