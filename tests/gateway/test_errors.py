"""A service's failure → an HTTP status and a google.rpc.Status in JSON; never somebody's exception text."""

import asyncio
import uuid
from typing import Any

import grpc
import httpx
import pytest
from google.rpc import error_details_pb2
from structlog.testing import capture_logs

from tests.gateway.fake_service import FakeService, error_info, refuse
from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import get, reason_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

C = grpc.StatusCode
SECRET = "secret-path-and-text"
STATUSES = [
    (C.INVALID_ARGUMENT, 3, 400),
    (C.FAILED_PRECONDITION, 9, 400),
    (C.OUT_OF_RANGE, 11, 400),
    (C.UNAUTHENTICATED, 16, 401),
    (C.PERMISSION_DENIED, 7, 403),
    (C.NOT_FOUND, 5, 404),
    (C.ALREADY_EXISTS, 6, 409),
    (C.ABORTED, 10, 409),
    (C.RESOURCE_EXHAUSTED, 8, 429),
    (C.CANCELLED, 1, 499),
    (C.UNIMPLEMENTED, 12, 501),
    (C.UNKNOWN, 2, 500),
    (C.INTERNAL, 13, 500),
    (C.DATA_LOSS, 15, 500),
    (C.UNAVAILABLE, 14, 503),
    (C.DEADLINE_EXCEEDED, 4, 504),
]


@pytest.mark.parametrize(("code", "number", "status"), STATUSES, ids=str)
async def test_a_rich_status_is_answered_whole(
    client: httpx.AsyncClient, fake: FakeService, code: C, number: int, status: int
) -> None:
    fake.fail("GetFloor", code, "What to do.", error_info("SOME_REASON", current_head="f-1"))
    answer = await client.get("/v1/floors/f")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "code": number,
        "message": "What to do.",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "SOME_REASON",
                "domain": "stemma",
                "metadata": {"current_head": "f-1"},
            }
        ],
    }


async def test_violations_and_the_time_to_wait_are_passed_on(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    bad = error_details_pb2.BadRequest()
    bad.field_violations.add(field="input[0].role", description="is required")
    retry = error_details_pb2.RetryInfo()
    retry.retry_delay.FromMilliseconds(1200)
    fake.fail("GetFloor", C.RESOURCE_EXHAUSTED, "Slower.", error_info("OVERLOADED"), bad, retry)
    answer = await client.get("/v1/floors/f")
    assert answer.headers["retry-after"] == "2"
    _, violations, delay = answer.json()["details"]
    assert violations["fieldViolations"][0]["field"] == "input[0].role"
    assert delay["retryDelay"] == "1.200s"


async def test_other_details_stay_inside(client: httpx.AsyncClient, fake: FakeService) -> None:
    debug = error_details_pb2.DebugInfo(stack_entries=[SECRET])
    fake.fail("GetFloor", C.INTERNAL, "Sorry.", error_info("INTERNAL"), debug)
    answer = await client.get("/v1/floors/f")
    assert SECRET not in answer.text
    assert len(answer.json()["details"]) == 1


@pytest.mark.parametrize(("code", "number", "status"), STATUSES, ids=str)
async def test_a_bare_status_gets_a_text_of_ours(
    client: httpx.AsyncClient, fake: FakeService, code: C, number: int, status: int
) -> None:
    fake.fail("GetFloor", code, SECRET)
    answer = await client.get("/v1/floors/f")
    assert SECRET not in answer.text
    assert reason_of(answer.json())
    known = (number, status) if answer.json()["code"] == number else (13, 500)
    assert (answer.json()["code"], answer.status_code) == known
    assert answer.json()["message"]


async def test_a_status_that_contradicts_itself_is_not_believed(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    async def lie(_: Any, context: grpc.aio.ServicerContext) -> None:
        context.set_trailing_metadata((("grpc-status-details-bin", b"\xff\xff"),))
        await context.abort(C.NOT_FOUND, SECRET)

    fake.answers["GetFloor"] = lie
    answer = await client.get("/v1/floors/f")
    assert (answer.status_code, reason_of(answer.json())) == (404, "NOT_FOUND")
    assert SECRET not in answer.text


def error_id_of(body: Any) -> str:
    [info] = body["details"]
    return str(uuid.UUID(info["metadata"]["error_id"]))


async def test_bad_input_60_an_exception_in_the_service(client: httpx.AsyncClient, fake: FakeService) -> None:
    async def explode(_: Any, __: Any) -> None:
        raise RuntimeError(SECRET)

    fake.answers["GetFloor"] = explode
    with capture_logs() as logs:
        answer = await client.get("/v1/floors/f")
    assert (answer.status_code, answer.json()["code"]) == (500, 13)
    assert SECRET not in answer.text
    assert error_id_of(answer.json()) in [one.get("error_id") for one in logs]


async def test_bad_input_60_an_exception_in_the_gateway(
    client: httpx.AsyncClient, fake: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: Any, **__: Any) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("gateway.handler.build_request", explode)
    with capture_logs() as logs:
        answer = await client.get("/v1/floors/f")
    assert (answer.status_code, reason_of(answer.json())) == (500, "INTERNAL")
    assert SECRET not in answer.text
    [logged] = [one for one in logs if one.get("error_id") == error_id_of(answer.json())]
    assert SECRET in str(logged["exc_info"])
    assert fake.calls == []


async def test_a_service_that_is_away_and_comes_back(fake: FakeService) -> None:
    async with serve_gateway("127.0.0.1:1") as url:
        answer = await get(url, "/v1/sessions")
        assert (answer.status, answer.reason) == (503, "UNAVAILABLE")
        assert b"127.0.0.1" not in answer.body


async def test_bad_input_49_a_call_that_takes_too_long(fake: FakeService) -> None:
    async def never(_: Any, __: Any) -> None:
        await asyncio.Event().wait()

    fake.answers["GetFloor"] = never
    async with serve_gateway(fake.address, gateway_call_timeout=0.1) as url:
        answer = await get(url, "/v1/floors/f")
        assert (answer.status, answer.reason) == (504, "DEADLINE_EXCEEDED")


async def test_a_refusal_before_the_first_frame_is_an_ordinary_answer(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    async def frames(_: Any, context: grpc.aio.ServicerContext) -> Any:
        await refuse(context, C.ABORTED, "Read again.", error_info("HEAD_MOVED", current_head="f-2"))
        yield None

    fake.streams["Respond"] = frames
    for accept in ("text/event-stream", "application/json"):
        answer = await client.post("/v1/sessions/s:respond", json={}, headers={"Accept": accept})
        assert (answer.status_code, reason_of(answer.json())) == (409, "HEAD_MOVED")
        assert answer.headers["content-type"] == "application/json"
