"""What of a REST request reaches the service, over real HTTP and real gRPC."""

import uuid
from typing import Any

import httpx
import pytest
from stemma.conversation.v1 import floor_service_pb2, session_service_pb2
from stemma.kernel.v1 import config_pb2, floor_pb2, message_pb2, session_pb2

from tests.gateway.fake_service import FakeService
from tests.gateway.raw_http import reason_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

REQUEST_ID = str(uuid.uuid4())


def assert_refused(answer: httpx.Response, fake: FakeService, *fields: str) -> None:
    """400 INVALID for exactly these fields, and nothing reached the service."""
    assert (answer.status_code, reason_of(answer.json())) == (400, "INVALID")
    violations = [
        one["field"] for detail in answer.json()["details"] for one in detail.get("fieldViolations", [])
    ]
    assert violations == list(fields)
    assert fake.calls == []


async def test_path_and_body_make_one_message(client: httpx.AsyncClient, fake: FakeService) -> None:
    text = {"role": "ROLE_USER", "parts": [{"text": {"text": "fifteen"}}], "metadata": {"k": "v"}}
    body = {"requestId": REQUEST_ID, "input": [text], "expected_head": "h", "usage": {"tokensIn": "7"}}
    answer = await client.post("/v1/sessions/s-1/floors", json=body)
    assert answer.status_code == 200
    part = message_pb2.Part(text=message_pb2.TextPart(text="fifteen"))
    message = message_pb2.Message(role=message_pb2.ROLE_USER, parts=[part], metadata={"k": "v"})
    assert fake.last.request == floor_service_pb2.AppendFloorRequest(
        request_id=REQUEST_ID,
        session_id="s-1",
        expected_head="h",
        input=[message],
        usage=floor_pb2.Usage(tokens_in=7),
    )


async def test_a_query_makes_a_message(client: httpx.AsyncClient, fake: FakeService) -> None:
    answer = await client.get(
        "/v1/sessions", params={"project_id": "p", "state": "SESSION_STATE_ACTIVE", "pageSize": "7"}
    )
    assert answer.status_code == 200
    assert fake.last.request == session_service_pb2.ListSessionsRequest(
        project_id="p", state=session_pb2.SESSION_STATE_ACTIVE, page_size=7
    )


async def test_a_delete_takes_its_request_id_from_the_query(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    answer = await client.delete(f"/v1/sessions/s/branches/b?requestId={REQUEST_ID}")
    assert answer.status_code == 200
    assert fake.last.request == floor_service_pb2.DeleteBranchRequest(
        request_id=REQUEST_ID, session_id="s", branch="b"
    )


async def test_an_empty_body_is_an_empty_object(client: httpx.AsyncClient, fake: FakeService) -> None:
    answer = await client.post(f"/v1/floors/f:commit?request_id={REQUEST_ID}")
    assert answer.status_code == 200
    expected = floor_service_pb2.CommitFloorRequest(request_id=REQUEST_ID, floor_id="f")
    assert fake.last.request == expected


@pytest.mark.parametrize(
    "where",
    [
        {"json": {"requestId": REQUEST_ID}},
        {"params": {"requestId": REQUEST_ID}},
        {"headers": {"Idempotency-Key": REQUEST_ID}},
        {"json": {"request_id": REQUEST_ID}, "headers": {"idempotency-key": REQUEST_ID}},
        {"json": {"requestId": ""}, "params": {"requestId": REQUEST_ID}},
    ],
)
async def test_a_request_id_comes_by_three_ways(
    client: httpx.AsyncClient, fake: FakeService, where: dict[str, Any]
) -> None:
    assert (await client.post("/v1/sessions", **where)).status_code == 200
    assert fake.last.request.request_id == REQUEST_ID


@pytest.mark.parametrize(
    "where",
    [
        {"json": {"requestId": "a"}, "headers": {"Idempotency-Key": "b"}},
        {"json": {"requestId": "a"}, "params": {"requestId": "b"}},
        {"params": {"requestId": "a"}, "headers": {"Idempotency-Key": "b"}},
    ],
)
async def test_two_different_request_ids_are_refused(
    client: httpx.AsyncClient, fake: FakeService, where: dict[str, Any]
) -> None:
    assert_refused(await client.post("/v1/sessions", **where), fake, "request_id")


async def test_bad_input_20_the_service_judges_a_request_id(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    for value in ("0" * 8, "x" * 300, ""):
        assert (await client.post("/v1/sessions", json={"requestId": value})).status_code == 200
        assert fake.last.request.request_id == value
    # A read has no request_id: the header means nothing to it.
    answer = await client.get("/v1/sessions", headers={"Idempotency-Key": "x"})
    assert answer.status_code == 200
    answer = await client.get("/v1/sessions", params={"requestId": REQUEST_ID})
    assert answer.status_code == 400


async def test_a_body_may_repeat_its_path_and_not_contradict_it(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    path = "/v1/sessions/s/branches/b:moveHead"
    for body in ({"sessionId": "s", "branch": "b"}, {"session_id": ""}, {}):
        assert (await client.post(path, json=body)).status_code == 200
        assert (fake.last.request.session_id, fake.last.request.branch) == ("s", "b")
    fake.reset()
    assert_refused(await client.post(path, json={"sessionId": "other"}), fake, "session_id")
    assert_refused(await client.post(path, json={"branch": "main"}), fake, "branch")
    assert_refused(await client.get("/v1/sessions/s?sessionId=other"), fake, "session_id")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("pageSize=1&pageSize=1", "page_size"),
        ("pageSize=1&page_size=1", "page_size"),
        ("nothing=1", "nothing"),
        ("pagesize=1", "pagesize"),
        ("pageSize=", "page_size"),
        ("pageSize=1.0", "page_size"),
        ("pageSize=%2b1", "page_size"),
        ("pageSize=2147483648", "page_size"),
        ("state=ACTIVE", "state"),
        ("state=1", "state"),
        ("pageToken.x=1", "pageToken.x"),
        ("projectId=%00", "project_id"),
    ],
)
async def test_bad_input_58_query_parameters(
    client: httpx.AsyncClient, fake: FakeService, query: str, field: str
) -> None:
    assert_refused(await client.get(f"/v1/sessions?{query}"), fake, field)


@pytest.mark.parametrize(
    "query", ["pageSize", "=1", "&", "pageSize=1&", "projectId=%ff", "projectId=%zz", "a=%"]
)
async def test_bad_input_58_query_syntax(client: httpx.AsyncClient, fake: FakeService, query: str) -> None:
    assert_refused(await client.get(httpx.URL("/v1/sessions", query=query.encode())), fake)


async def test_a_write_takes_nothing_but_its_request_id_from_the_query(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    assert_refused(await client.post("/v1/sessions?title=x", json={}), fake, "title")
    assert_refused(await client.post("/v1/sessions?requestId=a&requestId=a", json={}), fake, "request_id")
    assert_refused(await client.post("/v1/sessions?config.systemPrompt=x", json={}), fake, "config")


async def test_bad_input_36_a_page_token_passes_untouched(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    token = "AbC-_=+/ &é%2f"
    assert (await client.get("/v1/sessions", params={"pageToken": token})).status_code == 200
    assert fake.last.request.page_token == token


async def test_bad_input_43_output_only_fields(client: httpx.AsyncClient, fake: FakeService) -> None:
    for body in ({"createTime": "2026-01-01T00:00:00Z"}, {"tenantId": "t"}, {"version": 3}):
        [field] = body
        assert_refused(await client.post("/v1/sessions", json=body), fake, field)
    # Those of a message are fields of the request's type: the service drops them.
    body = {"input": [{"messageId": "mine", "tokenCount": 5}]}
    assert (await client.post("/v1/sessions/s/floors", json=body)).status_code == 200
    assert fake.last.request.input[0].message_id == "mine"


async def test_answers_print_zero_values_and_leave_out_what_is_unset(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    config = config_pb2.Config(model=config_pb2.ModelConfig(seed=2**53 + 1, temperature=0.0))
    session = session_pb2.Session(session_id="s", version=1, config=config)
    session.create_time.FromJsonString("2026-01-31T12:00:00.5Z")
    fake.reply("GetSession", session_service_pb2.GetSessionResponse(session=session))
    answer = await client.get("/v1/sessions/s")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "session": {
            "sessionId": "s",
            "projectId": "",
            "title": "",
            "state": "SESSION_STATE_UNSPECIFIED",
            "config": {
                "model": {"temperature": 0.0, "seed": "9007199254740993", "stop": []},
                "tools": [],
                "greetings": [],
                "cleared": [],
            },
            "version": "1",
            "rootFloorId": "",
            "createTime": "2026-01-31T12:00:00.500Z",
        }
    }
    assert (await client.get("/v1/sessions")).json() == {"sessions": [], "nextPageToken": ""}


async def test_every_rpc_is_reached(client: httpx.AsyncClient, fake: FakeService) -> None:
    from gateway.services import bindings

    for one in bindings():
        if one.method.streaming:
            continue
        # Versions are numbers; all else is text.
        path = one.template.replace("{version}", "7").replace("{", "v-").replace("}", "")
        answer = await client.request(one.http_method, path)
        assert (answer.status_code, fake.last.name) == (200, one.method.name)


async def test_a_request_id_header_travels_both_ways(client: httpx.AsyncClient, fake: FakeService) -> None:
    answer = await client.get("/v1/sessions", headers={"X-Request-Id": "abc.1"})
    assert (answer.headers["x-request-id"], fake.last.metadata["x-request-id"]) == ("abc.1", "abc.1")
    for bad in ("a b", "x" * 129, ""):
        answer = await client.get("/v1/sessions", headers={"X-Request-Id": bad})
        made = answer.headers["x-request-id"]
        assert uuid.UUID(made)
        assert fake.last.metadata["x-request-id"] == made
    assert uuid.UUID((await client.get("/nothing")).headers["x-request-id"])


async def test_unary_calls_have_a_deadline(client: httpx.AsyncClient, fake: FakeService) -> None:
    await client.get("/v1/sessions")
    assert fake.last.seconds_left is not None
    assert 20 < fake.last.seconds_left < 31
