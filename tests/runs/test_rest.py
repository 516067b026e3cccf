"""Runs over REST and SSE, through the real gateway: the same frames, and errors as the contract says."""

import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from google.protobuf import json_format
from stemma.kernel.v1 import run_pb2

from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import reason_of
from tests.runs.stage import (
    PIECES,
    STORY,
    Part,
    Stage,
    as_bytes,
    assert_in_order,
    end_of,
    kinds,
    text_of_frames,
)
from tests.support.client import TIMEOUT, request_for

pytestmark = pytest.mark.asyncio(loop_scope="session")

SSE = {"accept": "text/event-stream"}


@pytest_asyncio.fixture(loop_scope="session")
async def http(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        serve_gateway(stage.service.address) as url,
        httpx.AsyncClient(base_url=url, timeout=TIMEOUT, trust_env=False) as client,
    ):
        yield client


def asked(part: Part, **fields: Any) -> dict[str, Any]:
    words = {"role": "ROLE_USER", "parts": [{"text": {"text": part.text}}]}
    return {"requestId": str(uuid.uuid4()), "input": {"messages": [words]}, **fields}


def frames_of(body: str) -> list[run_pb2.RunEvent]:
    """Every event is an id and one line of data."""
    frames = []
    for event in body.strip().split("\n\n"):
        name, data = event.split("\n")
        frame = json_format.Parse(data.removeprefix("data: "), run_pb2.RunEvent())
        assert name == f"id: {frame.epoch}.{frame.seq}"
        frames.append(frame)
    return frames


async def test_sse_brings_the_frames_of_the_run(stage: Stage, session: str, http: httpx.AsyncClient) -> None:
    part = stage.part()
    body = asked(part)
    answer = await http.post(f"/v1/sessions/{session}:respond", json=body, headers=SSE)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    frames = frames_of(answer.text)
    assert_in_order(frames)
    assert text_of_frames(frames) == STORY
    # The same request over gRPC joins the same run: its frames, byte for byte.
    request = request_for("Respond", session_id=session, request_id=body["requestId"], input=part.input)
    assert as_bytes(await stage.sent(request).end()) == as_bytes(frames)
    again = await http.post(f"/v1/sessions/{session}:respond", json=body, headers=SSE)
    assert again.text == answer.text


async def test_json_brings_the_result(stage: Stage, session: str, http: httpx.AsyncClient) -> None:
    body = asked(stage.part())
    answer = await http.post(f"/v1/sessions/{session}:respond", json=body)
    assert answer.status_code == 200
    result = answer.json()
    assert result["run"]["state"] == "RUN_STATE_COMMITTED"
    assert result["floor"]["state"] == "FLOOR_STATE_COMMITTED"
    assert result["branch"]["headFloorId"] == result["floor"]["floorId"]
    again = await http.post(f"/v1/sessions/{session}:respond", json=body)
    assert again.content == answer.content
    assert (await http.get(f"/v1/runs/{result['run']['runId']}")).json() == {"run": result["run"]}
    floor = await http.get(f"/v1/floors/{result['floor']['floorId']}")
    assert floor.json()["floor"] == result["floor"]


@pytest.mark.parametrize(
    ("reason", "status", "code"),
    [
        ("PROVIDER_UNAVAILABLE", 503, 14),
        ("PROVIDER_INVALID", 503, 14),
        ("PROVIDER_TIMEOUT", 504, 4),
        ("LIMIT", 429, 8),
    ],
)
async def test_a_failed_run_is_an_error_in_json_and_a_frame_in_sse(
    stage: Stage, session: str, http: httpx.AsyncClient, reason: str, status: int, code: int
) -> None:
    body = asked(stage.part({"deltas": PIECES, "fail": {"reason": reason, "after": 1}}))
    answer = await http.post(f"/v1/sessions/{session}:respond", json=body)
    assert (answer.status_code, answer.json()["code"], reason_of(answer.json())) == (status, code, reason)
    (info,) = [detail for detail in answer.json()["details"] if "ErrorInfo" in detail["@type"]]
    floor = await stage.floor(info["metadata"]["floor_id"])
    assert (floor.failure_reason, floor.run_id) == (reason, info["metadata"]["run_id"])
    streamed = await http.post(f"/v1/sessions/{session}:respond", json=body, headers=SSE)
    frames = frames_of(streamed.text)
    assert (streamed.status_code, kinds(frames)[-1], end_of(frames)) == (200, "failed", floor)


async def test_cancelling_over_rest(stage: Stage, session: str, http: httpx.AsyncClient) -> None:
    part = stage.part(hold_at=2)
    body = asked(part)
    url = f"/v1/sessions/{session}:respond"
    async with http.stream("POST", url, json=body, headers=SSE) as answer:
        lines = answer.aiter_lines()
        shown = ""
        while shown != "".join(PIECES[:2]):
            line = await anext(lines)
            if line.startswith("data: "):
                event = json.loads(line.removeprefix("data: "))
                shown += event.get("textDelta", {}).get("text", "")
        cancel = f"/v1/runs/{event['runId']}:cancel"
        wanted = {"requestId": str(uuid.uuid4()), "keep": "KEEP_COMMIT"}
        cancelled = await http.post(cancel, json=wanted)
        assert cancelled.status_code == 200
        last = [line async for line in lines if line.startswith("data: ")][-1]
    end = json.loads(last.removeprefix("data: "))["cancelled"]
    assert end["floor"] == cancelled.json()["floor"]
    assert end["branch"] == cancelled.json()["branch"]
    assert end["floor"]["outputPage"]["partial"]
    assert (await http.post(cancel, json=wanted)).content == cancelled.content
    whole = await http.post(url, json=body)
    assert (whole.status_code, whole.json()["run"]["state"]) == (200, "RUN_STATE_CANCELLED")
    assert whole.json()["floor"] == end["floor"]


async def test_what_is_refused_before_the_first_frame_is_an_ordinary_error(
    stage: Stage, session: str, http: httpx.AsyncClient
) -> None:
    url = f"/v1/sessions/{session}:respond"
    for headers in ({}, SSE):
        unknown = str(uuid.uuid4())
        moved = await http.post(url, json=asked(stage.part(), expectedHead=unknown), headers=headers)
        assert (moved.status_code, reason_of(moved.json())) == (409, "HEAD_MOVED")
        absent = await http.post(f"/v1/sessions/{unknown}:respond", json=asked(stage.part()), headers=headers)
        assert (absent.status_code, reason_of(absent.json())) == (404, "NOT_FOUND")


@pytest.mark.parametrize("ends_run", [True, False])
async def test_leaving_over_sse(stage: Stage, session: str, http: httpx.AsyncClient, ends_run: bool) -> None:
    part = stage.part(hold_at=1)
    body = asked(part, cancelOnDisconnect=ends_run)
    async with http.stream("POST", f"/v1/sessions/{session}:respond", json=body, headers=SSE) as answer:
        lines = answer.aiter_lines()
        while PIECES[0].strip() not in await anext(lines):
            pass
    if not ends_run:
        # Its stream is closed all the way, and the run goes on.
        await stage.service.service.server._gate.idle()
        part.go()
    await stage.idle()
    (floor,) = (await stage.other.call("ListPath", session_id=session)).floors
    assert floor.output_page.partial is ends_run
