"""Bad inputs 13 to 17, and 58's Last-Event-ID, over REST: the gateway before both services with access on."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import pytest_asyncio

from tests.access.stage import AccessStage
from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import reason_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

JSON = {"requestId": "0198a0f0-0000-7000-8000-000000000002"}


@dataclass
class Rest:
    stage: AccessStage
    http: httpx.AsyncClient
    draft: str

    def bearer(self, caller: str) -> tuple[str, str]:
        [(name, value)] = self.stage.callers[caller]
        return name, str(value)

    async def get(self, path: str, *headers: tuple[str, str]) -> httpx.Response:
        return await self.http.get(f"/v1/{path}", headers=list(headers))

    async def post(self, path: str, body: Any, *headers: tuple[str, str]) -> httpx.Response:
        return await self.http.post(f"/v1/{path}", json=body, headers=list(headers))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def rest(stage: AccessStage) -> AsyncIterator[Rest]:
    owner = stage.drafting("owner")
    made = await owner.call("draft.CreateDraft", session_id=stage.places.session, purpose="over REST")
    draft = stage.draft.service.address
    async with (
        serve_gateway(stage.service.address, draft=draft, auth="on") as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=20) as http,
    ):
        yield Rest(stage, http, made.draft.draft_id)


def refused(answer: httpx.Response, status: int, reason: str) -> None:
    assert (answer.status_code, reason_of(answer.json())) == (status, reason), answer.text
    assert (answer.headers.get("www-authenticate") == "Bearer") is (status == 401)


async def test_bad_input_13_no_credential_or_none_that_is_valid(rest: Rest) -> None:
    bad: list[list[tuple[str, str]]] = [[rest.bearer(name)] for name in ("revoked", "expired", "garbage")]
    bad += [[], [("authorization", "Bearer")], [("authorization", "Basic YTpi")], [("x-api-key", "")]]
    for headers in bad:
        for path in (f"sessions/{rest.stage.places.session}", f"drafts/{rest.draft}"):
            refused(await rest.get(path, *headers), 401, "UNAUTHENTICATED")
        upload = await rest.http.post("/v1/sessions:import", content=b"{}", headers=headers)
        refused(upload, 401, "UNAUTHENTICATED")


async def test_bad_input_14_two_credentials(rest: Rest) -> None:
    boss, stranger = rest.bearer("boss"), rest.bearer("stranger")
    own = ("x-api-key", boss[1].removeprefix("Bearer "))
    path = f"sessions/{rest.stage.places.session}"
    assert (await rest.get(path, own)).status_code == 200
    for headers in ((boss, boss), (boss, stranger), (boss, own), (stranger, own), (own, own)):
        refused(await rest.get(path, *headers), 401, "UNAUTHENTICATED")


async def test_bad_input_15_another_tenant_than_the_credentials(rest: Rest) -> None:
    path, boss = f"sessions/{rest.stage.places.session}", rest.bearer("boss")
    assert (await rest.get(path, boss, ("x-stemma-tenant", "acme"))).status_code == 200
    refused(await rest.get(path, boss, ("x-stemma-tenant", "globex")), 403, "FORBIDDEN")


@pytest.mark.parametrize("caller", ["stranger", "elsewhere"])
async def test_bad_input_16_and_58_what_is_hidden_is_like_what_is_not_there(rest: Rest, caller: str) -> None:
    """Streams too, from whatever position they are to go on."""
    places, who, after = rest.stage.places, rest.bearer(caller), ("last-event-id", "1.1")
    for path, real in (
        ("sessions/{}", places.session),
        ("floors/{}", places.first),
        ("runs/{}", places.run),
        ("runs/{}/events", places.run),
        ("stagedWrites/{}", places.staged),
        ("drafts/{}", rest.draft),
        ("drafts/{}/transcript", rest.draft),
        ("sessions/{}/export", places.session),
    ):
        hidden = await rest.get(path.format(real), who, after)
        absent = await rest.get(path.format(uuid.uuid4()), who, after)
        refused(hidden, 404, "NOT_FOUND")
        assert (hidden.status_code, hidden.json()) == (absent.status_code, absent.json()), path


async def test_bad_input_58_a_feed_of_others_goes_on_for_nobody(rest: Rest) -> None:
    who, after = rest.bearer("elsewhere"), ("last-event-id", "1")
    refused(await rest.get("projects/default/events:watch", who, after), 404, "NOT_FOUND")


async def test_bad_input_17_a_role_that_is_too_low(rest: Rest) -> None:
    session, observer = rest.stage.places.session, rest.bearer("observer")
    assert (await rest.get(f"sessions/{session}/path", observer)).status_code == 200
    refused(await rest.post(f"sessions/{session}/floors", JSON, observer), 403, "FORBIDDEN")
    refused(await rest.post(f"sessions/{session}:respond", JSON, observer), 403, "FORBIDDEN")
    refused(await rest.post("principals:erase", JSON | {"principal": "x"}, observer), 403, "FORBIDDEN")
    refused(await rest.get("auditEntries", observer), 403, "FORBIDDEN")
    refused(await rest.post(f"drafts/{rest.draft}:finalize", JSON, observer), 403, "FORBIDDEN")
    upload = await rest.http.post("/v1/sessions:import", params=JSON, content=b"{}", headers=[observer])
    refused(upload, 403, "FORBIDDEN")
