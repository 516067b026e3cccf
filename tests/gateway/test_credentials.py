"""Who calls, over REST: what goes on to the services, and what is refused before."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import pytest_asyncio

from gateway.openapi import document
from tests.gateway.fake_service import FakeService, error_info, refuse
from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import Answer, Connection, get, post, request, send
from tests.gateway.test_respond import COMMITTED, STARTED

pytestmark = pytest.mark.asyncio(loop_scope="session")

KEY = "stk_" + "k" * 43
BEARER = f"Authorization: Bearer {KEY}"
HELD = ("authorization", f"Bearer {KEY}")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def guarded(shared_fake: FakeService) -> AsyncIterator[str]:
    """A gateway with access on."""
    async with serve_gateway(shared_fake.address, auth="on") as url:
        yield url


def assert_unauthenticated(answer: Answer) -> None:
    assert (answer.status, answer.json()["code"], answer.reason) == (401, 16, "UNAUTHENTICATED")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("headers", "passed_on"),
    [
        ([BEARER], [HELD]),
        ([f"X-API-Key: {KEY}", "X-Stemma-Tenant: t1"], [("x-api-key", KEY), ("x-stemma-tenant", "t1")]),
        # Bad input 14: the service sees both, and refuses them.
        ([BEARER, "authorization: Bearer other"], [HELD, ("authorization", "Bearer other")]),
        ([f"x-api-key: {KEY}", BEARER], [HELD, ("x-api-key", KEY)]),
    ],
)
async def test_bad_input_14_every_call_carries_what_its_request_brought(
    guarded: str, fake: FakeService, headers: list[str], passed_on: list[tuple[str, str]]
) -> None:
    async def stream(_: Any, __: Any) -> AsyncIterator[Any]:
        yield STARTED
        yield COMMITTED

    fake.streams["AttachRun"] = fake.streams["Respond"] = stream
    await get(guarded, "/v1/sessions/s", *headers)
    async with Connection(guarded) as one:
        head = request("GET", "/v1/runs/r/events", *headers)
        one.write(head.format(host=one.netloc).encode())
        assert (await one.head())[0] == 200
    await post(guarded, "/v1/sessions/s:respond", b"{}", *headers)
    await send(guarded, request("POST", "/v1/sessions:import", "Content-Length: 1", *headers), b"x")
    called = {call.name: call.credentials for call in fake.calls}
    # GetRun is what makes the JSON answer of a Respond.
    assert called == dict.fromkeys(
        ("GetSession", "AttachRun", "Respond", "GetRun", "ImportSessions"), passed_on
    )


@pytest.mark.parametrize("header", ["X-A: b", "X-Stemma-Tenant: t1", "Authorization: Bearer k\xe9y"])
async def test_bad_input_13_without_a_credential_nothing_is_asked(
    guarded: str, fake: FakeService, header: str
) -> None:
    """The body is not even read: this one never comes."""
    assert_unauthenticated(await get(guarded, "/v1/sessions/s", header))
    assert_unauthenticated(await send(guarded, request("POST", "/v1/sessions", "Content-Length: 9", header)))
    assert fake.calls == []
    assert (await get(guarded, "/healthz", header)).status == 200


async def test_no_cache_keeps_what_one_caller_was_told(guarded: str, fake: FakeService) -> None:
    for target, header in (("/v1/sessions/s", f"X-API-Key: {KEY}"), ("/v1/sessions/s", "X-A: b")):
        assert (await get(guarded, target, header)).headers["cache-control"] == "no-store"


async def test_a_credential_that_no_service_would_take_for_its_size(guarded: str, fake: FakeService) -> None:
    answer = await get(guarded, "/v1/sessions/s", f"X-API-Key: {'k' * 9000}")
    assert (answer.status, answer.reason, fake.calls) == (431, "LIMIT", [])


@pytest.mark.parametrize(
    ("code", "status", "challenge"),
    [(grpc.StatusCode.UNAUTHENTICATED, 401, "Bearer"), (grpc.StatusCode.PERMISSION_DENIED, 403, None)],
)
async def test_what_the_service_says_of_the_caller(
    guarded: str, fake: FakeService, code: grpc.StatusCode, status: int, challenge: str | None
) -> None:
    fake.fail("GetSession", code, "What to do.", error_info("WHY"))
    answer = await get(guarded, "/v1/sessions/s", BEARER)
    assert (answer.status, answer.reason, answer.headers.get("www-authenticate")) == (
        status,
        "WHY",
        challenge,
    )
    fake.fail("GetSession", code, "from grpc-core")
    answer = await get(guarded, "/v1/sessions/s", BEARER)
    assert (answer.status, answer.headers.get("www-authenticate")) == (status, challenge)


async def test_bad_input_58_last_event_id_of_another_user(guarded: str, fake: FakeService) -> None:
    """Refused before the stream begins, as 16: an error answer, and no event."""

    async def foreign(_: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        await refuse(context, grpc.StatusCode.NOT_FOUND, "There is no such run.", error_info("NOT_FOUND"))
        yield STARTED

    fake.streams["AttachRun"] = foreign
    answer = await get(guarded, "/v1/runs/r/events", "Last-Event-ID: 3.1", BEARER)
    assert (answer.status, answer.reason) == (404, "NOT_FOUND")
    assert (fake.last.request.after, fake.last.credentials) == ("3.1", [HELD])


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://{host}.evil.example", "null", "http://localhost:1"]
)
async def test_without_access_pages_of_other_origins_may_not_write(
    base_url: str, fake: FakeService, origin: str
) -> None:
    """A browser lets any page send these two: neither has a body in JSON, so that nobody is asked before."""
    forged = [f"Origin: {origin}", "Content-Length: 0"]
    for path in ("/v1/stagedWrites/w:accept?requestId=1", "/v1/sessions:import?requestId=1"):
        answer = await send(base_url, request("POST", path, *forged))
        assert (answer.status, answer.reason, fake.calls) == (403, "FORBIDDEN", [])
    assert (await get(base_url, "/v1/sessions/s", forged[0])).status == 200


async def test_our_own_pages_may_write(base_url: str, guarded: str, fake: FakeService) -> None:
    for origin in ("http://{host}", "HTTP://{host}"):
        assert (await post(base_url, "/v1/sessions", b"{}", f"Origin: {origin}")).status == 200
    # With access on no page can bring what it takes.
    assert (await post(guarded, "/v1/sessions", b"{}", "Origin: http://app.example", BEARER)).status == 200


async def test_the_document_says_what_a_call_needs(guarded: str, base_url: str) -> None:
    either: list[dict[str, list[str]]] = [{"bearer": []}, {"apiKey": []}]
    for url, wanted in ((guarded, either), (base_url, [*either, {}])):
        served = (await get(url, "/openapi.json")).json()
        operations = [one for path in served["paths"].values() for one in path.values()]
        assert all(one["security"] == wanted and "401" in one["responses"] for one in operations)
        assert set(served["components"]["securitySchemes"]) == {"bearer", "apiKey"}
    assert document()["components"]["securitySchemes"]["apiKey"]["name"] == "X-API-Key"


async def test_a_service_that_lets_everybody_in_is_not_served(
    shared_fake: FakeService, fake: FakeService
) -> None:
    """It would take any word for a credential. Once it refuses, it need not be asked again."""
    async with serve_gateway(shared_fake.address, auth="on") as url:
        shared_fake.guarded = False
        try:
            for path in ("/v1/sessions/s", "/v1/runs/r/events"):
                answer = await get(url, path, BEARER)
                assert (answer.status, answer.reason, fake.calls) == (503, "UNAVAILABLE", [])
                assert "STEMMA_AUTH=on" in answer.json()["message"]
        finally:
            shared_fake.guarded = True
        assert (await get(url, "/v1/sessions/s", BEARER)).status == 200
