"""Events over REST and SSE, through the real gateway."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import reason_of
from tests.projects.stage import Stage, new_id
from tests.support.client import TIMEOUT

# What the gateway makes of it is the same for every database.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"])

EVENTS = "/v1/projects/default/events"
WATCH = f"{EVENTS}:watch"


@pytest.fixture
async def http(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        serve_gateway(stage.service.address, gateway_sse_ping=0.05) as url,
        httpx.AsyncClient(base_url=url, timeout=TIMEOUT, trust_env=False) as client,
    ):
        yield client


@asynccontextmanager
async def watching(http: httpx.AsyncClient, last_seen: str = "", **query: str) -> AsyncIterator[Any]:
    """The lines of an open stream."""
    headers = {"Last-Event-ID": last_seen} if last_seen else {}
    async with asyncio.timeout(TIMEOUT), http.stream("GET", WATCH, params=query, headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield answer.aiter_lines()


async def events(lines: Any, number: int) -> list[dict[str, Any]]:
    """The next ones: an id and one line of data each; comments in between are passed over."""
    found: list[dict[str, Any]] = []
    frame: list[str] = []
    async for line in lines:
        if line and not line.startswith(":"):
            frame.append(line)
        elif frame:
            name, data = frame
            event = json.loads(data.removeprefix("data: "))
            assert name == f"id: {event['position']}"
            found.append(event)
            frame = []
            if len(found) == number:
                break
    return found


async def test_the_feed_as_json(stage: Stage, http: httpx.AsyncClient) -> None:
    session = (await stage.session(title="a title")).session_id
    floor = (await stage.turn(session)).floor_id
    answer = (await http.get(EVENTS)).json()
    assert answer["lastPosition"] == "2"
    first, second = answer["events"]
    assert set(first) == {
        "position",
        "eventId",
        "type",
        "sessionId",
        "floorId",
        "payloadJson",
        "commitTime",
    }
    assert (first["position"], first["type"], first["sessionId"]) == ("1", "session.created", session)
    assert json.loads(first["payloadJson"]) == {"title": "a title"}
    assert (second["type"], second["floorId"]) == ("floor.committed", floor)
    assert (await http.get(EVENTS, params={"after": "1"})).json()["events"] == [second]


async def test_a_stream_catches_up_and_goes_on(stage: Stage, http: httpx.AsyncClient) -> None:
    session = (await stage.session()).session_id
    async with watching(http) as lines:
        seen = await events(lines, 1)
        for _ in range(3):
            await stage.turn(session)
            seen += await events(lines, 1)
    assert seen == (await http.get(EVENTS)).json()["events"]


async def test_a_silent_stream_is_open_and_says_so(stage: Stage, http: httpx.AsyncClient) -> None:
    async with watching(http) as lines:
        assert await anext(lines) == ": keep-alive"
        await stage.session()
        assert [event["position"] for event in await events(lines, 1)] == ["1"]


async def test_last_event_id_wins(stage: Stage, http: httpx.AsyncClient) -> None:
    session = (await stage.session()).session_id
    for _ in range(3):
        await stage.turn(session)
    async with watching(http, "3", after="0") as lines:
        assert [event["position"] for event in await events(lines, 1)] == ["4"]
    async with watching(http, after="2") as lines:
        assert [event["position"] for event in await events(lines, 2)] == ["3", "4"]


async def test_bad_input_36_over_sse(http: httpx.AsyncClient) -> None:
    for cursor in ("x", "1.5", "1.2", "-1", "9" * 30, "1 OR 1=1", "0x1"):
        for query, headers in (({"after": cursor}, {}), ({}, {"Last-Event-ID": cursor})):
            answer = await http.get(WATCH, params=query, headers=headers)
            assert (answer.status_code, reason_of(answer.json())) == (400, "INVALID"), cursor


async def test_bad_input_37_over_sse(stage: Stage, http: httpx.AsyncClient) -> None:
    await stage.session()
    for url in (EVENTS, WATCH):
        answer = await http.get(url, params={"after": "2"})
        assert (answer.status_code, reason_of(answer.json())) == (400, "CURSOR_AHEAD")
        assert answer.json()["code"] == 11
    answer = await http.get(WATCH, headers={"Last-Event-ID": "2"})
    assert (answer.status_code, reason_of(answer.json())) == (400, "CURSOR_AHEAD")
    missing = await http.get(f"/v1/projects/{new_id()}/events:watch")
    assert (missing.status_code, reason_of(missing.json())) == (404, "NOT_FOUND")


async def test_a_stream_that_breaks_says_so_in_the_stream(stage: Stage, http: httpx.AsyncClient) -> None:
    await stage.session()
    async with watching(http) as lines:
        await events(lines, 1)
        await stage.service.service.server.drain(60)
        rest = [line async for line in lines if line and not line.startswith(":")]
    assert rest[0] == "event: error"
    assert reason_of(json.loads(rest[1].removeprefix("data: "))) == "UNAVAILABLE"
    assert len(rest) == 2
