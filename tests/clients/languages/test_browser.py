"""The browser's client in a real Chromium, from the gateway's own origin: story, and chat of one page."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests.clients.languages.stage import CLIENTS, TOLD, Addresses, frayed
from tests.console.browser import Faults, browser, context

pytestmark = pytest.mark.asyncio(loop_scope="session")

WEB = CLIENTS / "web"
STORY = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><pre></pre>
<script type="module">
  import { Stemma } from "./stemma.js";
  import { story } from "./examples/story.js";
  const print = (line) => (document.querySelector("pre").textContent += `${line}\\n`);
  await story(new Stemma({ apiKey: location.hash.slice(1) }), print).catch((error) => print(error.stack));
  document.title = "done";
</script>"""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Any]:
    async with browser() as started:
        yield started


async def _serve(route: Route) -> None:
    """As a front door would that serves these files beside the gateway."""
    name = route.request.url.rpartition("/web/")[2]
    if name == "story.html":
        await route.fulfill(body=STORY, content_type="text/html")
    else:
        await route.fulfill(path=WEB / name)


async def _opened(page: Page, home: str, name: str) -> Page:
    await page.route("**/web/**", _serve)
    await page.goto(f"{home}/web/{name}")
    return page


async def test_the_story_from_a_browser(addresses: Addresses, chromium: Any) -> None:
    async with context(chromium, addresses.http) as made:
        page = await _opened(await made.new_page(), addresses.http, f"story.html#{addresses.key}")
        await expect(page).to_have_title("done")
        assert await page.locator("pre").inner_text() == TOLD


async def test_the_story_from_a_browser_in_a_bad_network(addresses: Addresses, chromium: Any) -> None:
    async with frayed(addresses) as (behind, networks), context(chromium, behind.http) as made:
        page = await _opened(await made.new_page(), behind.http, f"story.html#{addresses.key}")
        await expect(page).to_have_title("done")
        assert await page.locator("pre").inner_text() == TOLD
        assert networks["http"].left < networks["http"].CUTS, "it was not that bad"


async def test_a_chat_in_one_page(addresses: Addresses, chromium: Any) -> None:
    faults = Faults(addresses.http)
    # Without a key it is refused, and asks for one. Chromium asks for an icon by itself.
    faults.expect("refused: 401 POST /v1/sessions", "dialog: API key")
    faults.allow("/favicon.ico")
    async with context(chromium, addresses.http) as made:
        page = await made.new_page()
        faults.watch(page)
        page.on("dialog", lambda dialog: dialog.accept(addresses.key))
        await _opened(page, addresses.http, "examples/chat.html")
        line = page.get_by_label("Your line")
        await line.fill("My train leaves in fifteen minutes")
        await line.press("Enter")
        await expect(page.locator(".assistant")).to_have_text(" ".join(f"word{n}" for n in range(20)))
        await page.locator(".user").click()
        await line.fill("My train leaves in fifty minutes")
        await line.press("Enter")
        await expect(page.locator(".user")).to_have_text(["My train leaves in fifty minutes"])
        await expect(page.locator(".assistant")).to_have_text(" ".join(f"word{n}" for n in range(20)))
    faults.judge()
