"""The console before a service with access on: a key lets in, a wrong one does not, signing out ends it."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Page, expect
from stemma.conversation.v1 import access_service_pb2 as pb

from conversation_service.by_hand import keys_by_hand
from conversation_service.settings import Settings
from tests.console.browser import Faults, context
from tests.console.stage import Theatre
from tests.gateway.harness import serve_gateway
from tests.support.service import SECRET_KEY, running_service

pytestmark = pytest.mark.asyncio(loop_scope="session")

REQUEST = "0198a0f0-0000-7000-8000-000000000001"


@dataclass
class Guarded:
    url: str
    key: str
    session: str


@pytest_asyncio.fixture(loop_scope="session")
async def guarded(tmp_path: Path) -> AsyncIterator[Guarded]:
    """With one key, of an owner, and one conversation."""
    url = f"sqlite:///{tmp_path}/canon.db"
    async with keys_by_hand(Settings(conversation_database_url=url, secret_key=SECRET_KEY), "local") as keys:
        request = pb.CreateApiKeyRequest(request_id=REQUEST, principal="ann", role="MEMBER_ROLE_OWNER")
        key = (await keys.create(request)).secret
    async with (
        running_service(url, auth="on") as service,
        serve_gateway(service.address, auth="on") as gateway,
        httpx.AsyncClient(base_url=gateway, headers={"x-api-key": key}, trust_env=False) as api,
    ):
        made = (await api.post("/v1/sessions", json={"requestId": REQUEST, "title": "Apples"})).json()
        yield Guarded(gateway, key, made["session"]["sessionId"])


async def enter(page: Page, key: str) -> None:
    await page.get_by_label("Key", exact=True).fill(key)
    await page.get_by_role("button", name="Use this key").click()


async def test_signing_in_with_a_wrong_and_a_right_key_and_out_again(
    shared_theatre: Theatre, guarded: Guarded
) -> None:
    faults, asked = Faults(guarded.url), list[str]()
    faults.expect("refused: 401 GET /v1/sessions")
    async with context(shared_theatre.browser, guarded.url) as made:
        page = await made.new_page()
        faults.watch(page)
        page.on("request", lambda one: asked.append(one.url))
        place = f"{guarded.url}/console/#/s/{guarded.session}/chat"
        await page.goto(place)
        alert = page.get_by_role("alert")
        await expect(alert).to_contain_text("wants to know who you are")
        await enter(page, "stk_" + "x" * 43)
        await expect(alert).to_contain_text("does not take this key")
        await enter(page, guarded.key)
        await expect(page.get_by_role("heading", name="Apples")).to_be_visible()

        # The run's stream brings the key as well.
        await page.get_by_label("Message", exact=True).fill("I have fifteen apples.")
        await page.get_by_label("Message", exact=True).press("Enter")
        await expect(page.locator("article.turn")).to_contain_text("You said: I have fifteen apples.")
        kept = "() => [Object.values(localStorage), Object.values(sessionStorage)]"
        assert guarded.key not in json.dumps((await page.evaluate(kept))[0])

        await page.get_by_label("Message", exact=True).fill("never sent")
        await page.get_by_role("link", name="Key set").click()
        await page.get_by_role("button", name="Sign out").click()
        await expect(alert).to_contain_text("wants to know who you are")
        assert await page.evaluate(kept) == [[], []]
        await page.goto("about:blank")
        await page.goto(place)
        await expect(alert).to_contain_text("wants to know who you are")
        assert not any(guarded.key in url for url in asked)
    faults.judge()
