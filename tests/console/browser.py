"""A real headless Chromium, and pages that notice what must not happen in them."""

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Page, Request, Response, async_playwright, expect

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    # Containers have little shared memory.
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT_MS = 20_000
expect.set_options(timeout=WAIT_MS)


def chromium() -> str:
    """Debian's Chromium, or another that is installed. Fails when there is none, with what to do."""
    wanted = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, filter(None, wanted))), None)
    assert found, (
        "the console's tests need Chromium: as root, apt-get install chromium (or name it in CHROMIUM)"
    )
    return found


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """A browser with a profile of its own, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="stemma-chromium-") as home:
        # What it writes beside its profile goes there as well.
        environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        async with async_playwright() as playwright:
            started = await playwright.chromium.launch(
                executable_path=chromium(), headless=True, args=list(FLAGS), env=environment
            )
            try:
                yield started
            finally:
                await started.close()


@dataclass
class Faults:
    """What must not happen in a page. `expect` names, by a part of its text, what a test provokes."""

    home: str
    found: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def expect(self, *texts: str) -> None:
        self.expected += texts

    def allow(self, *texts: str) -> None:
        """As `expect`, for what may happen or not: which of two races was lost."""
        self.allowed += texts

    def judge(self) -> None:
        """Fails on whatever nobody expected, and on whatever was expected and did not happen."""
        unexpected = [
            one for one in self.found if not any(text in one for text in self.expected + self.allowed)
        ]
        missing = [text for text in self.expected if not any(text in one for one in self.found)]
        assert not unexpected, "\n".join(unexpected)
        assert not missing, f"expected, and did not happen: {missing}"

    def watch(self, page: Page) -> None:
        page.on("console", lambda one: self._note(one.type in ("error", "warning"), f"console: {one.text}"))
        page.on("pageerror", lambda error: self._note(True, f"exception: {error}"))
        page.on("dialog", lambda one: self._note(True, f"dialog: {one.message}"))
        page.on("popup", lambda one: self._note(True, f"popup: {one.url}"))
        page.on("request", self._on_request)
        page.on("requestfailed", self._on_failed)
        page.on("response", self._on_response)

    def _note(self, bad: bool, text: str) -> None:
        # Chromium says again of a refused request what `response` tells better.
        if bad and "Failed to load resource" not in text:
            self.found.append(text)

    def _on_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        inside = address.scheme in ("data", "blob") or f"{address.scheme}://{address.netloc}" == self.home
        self._note(not inside, f"outbound: {request.url}")

    def _on_failed(self, request: Request) -> None:
        # A stream that the page closes, and one that ends with its page, are no failures.
        self._note(
            request.failure != "net::ERR_ABORTED", f"failed: {request.method} {request.url} {request.failure}"
        )

    def _on_response(self, response: Response) -> None:
        text = f"refused: {response.status} {response.request.method} {urlsplit(response.url).path}"
        self._note(response.status >= 400, text)


@asynccontextmanager
async def context(
    started: Browser, home: str, *, size: Sequence[int] = (1280, 800), **options: Any
) -> AsyncIterator[BrowserContext]:
    """A browser's profile, as of a person of their own, with windows of this size."""
    made = await started.new_context(
        base_url=home,
        viewport={"width": size[0], "height": size[1]},
        locale="en-GB",
        reduced_motion="reduce",
        **options,
    )
    made.set_default_timeout(WAIT_MS)
    try:
        yield made
    finally:
        await made.close()


AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
