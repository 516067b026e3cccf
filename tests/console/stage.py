"""The console in front of both real services, each on SQLite, and a model that plays what a test writes."""

import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import Browser, BrowserContext, Locator, Page, expect

from tests.cli.proxy import Proxy, proxied
from tests.console.browser import Faults
from tests.drafts.stage import Model, Stage, on_stage
from tests.gateway.harness import serve_gateway
from tests.runs.stage import Part


@dataclass
class Theatre:
    """Services, gateway, browser: one for all tests of a worker. `network` is between browser and gateway;
    `api` is REST, beside both."""

    stage: Stage
    model: Model
    url: str
    network: Proxy
    browser: Browser
    api: httpx.AsyncClient

    def part(self, text: str, *replies: dict[str, Any], hold_at: int | None = None) -> Part:
        """What the model answers to `text`, in conversations and in drafts."""
        part = Part(replies, hold_at)
        part.text = text
        self.model.add(part)
        self.stage.draft.model.add(part)
        return part

    async def post(self, path: str, **body: Any) -> Any:
        answer = await self.api.post(path, json={"requestId": str(uuid.uuid4()), **body})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def get(self, path: str, **query: Any) -> Any:
        answer = await self.api.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def session(self, title: str = "A conversation", turns: int = 0, **config: Any) -> str:
        """A session with that many turns, `user 1` and `answer 1` being the first; its id."""
        body = {"title": title, "config": config}
        session_id: str = (await self.post("/v1/sessions", **body))["session"]["sessionId"]
        for number in range(1, turns + 1):
            await self.turn(session_id, f"user {number}", f"answer {number}")
        return session_id

    async def turn(self, session_id: str, said: str, answered: str, **more: Any) -> dict[str, Any]:
        body = {"input": [message("USER", said)], "output": [message("ASSISTANT", answered)], **more}
        return (await self.post(f"/v1/sessions/{session_id}/floors", **body))["floor"]  # type: ignore[no-any-return]


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": f"ROLE_{role}", "parts": [{"text": {"text": text}}]}


@dataclass
class Visitor:
    """One person's browser window."""

    theatre: Theatre
    context: BrowserContext
    page: Page
    faults: Faults

    async def open(self, place: str = "") -> None:
        """A place of the console, as `s/<session>/tree`, in a fresh page."""
        await self.page.goto("about:blank")
        await self.page.goto(f"{self.theatre.url}/console/#/{place}")
        await expect(self.page.locator("main")).not_to_be_empty()

    async def chat(self, session_id: str, branch: str = "") -> None:
        await self.open(f"s/{session_id}/chat" + (f"?branch={branch}" if branch else ""))
        await expect(self.composer).to_be_visible()

    @property
    def composer(self) -> Locator:
        return self.page.get_by_label("Message", exact=True)

    def turn(self, number: int) -> Locator:
        """The shown turn, from 1; -1 is the last."""
        turns = self.page.locator("article.turn")
        return turns.last if number == -1 else turns.nth(number - 1)

    def button(self, name: str, within: Locator | None = None) -> Locator:
        return (within or self.page).get_by_role("button", name=name, exact=True)

    async def say(self, text: str) -> None:
        """Sends, and waits for the whole answer."""
        await self.composer.fill(text)
        await self.composer.press("Enter")
        await self.settled()

    async def settled(self) -> None:
        """Until nothing is being written."""
        await expect(self.page.locator("[aria-busy=true]")).to_have_count(0)
        await expect(self.button("Send")).to_be_visible()
        await expect(self.page.locator("article.turn.pending")).to_have_count(0)

    async def more(self, turn: Locator, item: str) -> None:
        """Chooses in the menu of a turn."""
        await self.button("More", turn).click()
        await self.page.get_by_role("menuitem", name=item).click()


@asynccontextmanager
async def theatre(folder: Path, browser: Browser) -> AsyncIterator[Theatre]:
    canon, drafts = f"sqlite:///{folder}/canon.db", f"sqlite:///{folder}/drafts.db"
    async with on_stage(canon, drafts) as stage:
        model = Model()
        stage.canon.service.generation.providers.use(model)
        address, draft = stage.canon.address, stage.draft.service.address
        async with (
            serve_gateway(address, draft=draft) as gateway,
            proxied(gateway.removeprefix("http://")) as network,
            httpx.AsyncClient(base_url=gateway, timeout=30, trust_env=False) as api,
        ):
            yield Theatre(stage, model, f"http://{network.address}", network, browser, api)


def json_text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
