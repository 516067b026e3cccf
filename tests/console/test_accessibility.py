"""axe-core finds no serious fault in any view, wide and narrow, light and dark; a phone shows all of it."""

from typing import Literal

import pytest
from playwright.async_api import Page, expect

from tests.console.browser import AXE
from tests.console.demo import make_demo
from tests.console.screenshots import SIZES, places
from tests.console.stage import Theatre, Visitor

pytestmark = pytest.mark.asyncio(loop_scope="session")

LOOKS: tuple[tuple[str, Literal["light", "dark"]], ...] = (("wide", "light"), ("phone", "dark"))
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter(one => one.impact === "serious" || one.impact === "critical")
    .map(one => `${one.id}: ${one.help}: ${one.nodes.map(node => node.html).slice(0, 3).join(" ")}`)"""


async def faults_of(page: Page) -> list[str]:
    found: list[str] = await page.evaluate(RUN)
    return found


async def test_no_serious_fault_in_any_view(stage: Theatre, visitor: Visitor) -> None:
    demo = await make_demo(stage)
    source = AXE.read_text("utf-8")
    for name, place in places(demo).items():
        await visitor.open(place)
        await expect(visitor.page.locator(".waiting")).to_have_count(0)
        await visitor.page.evaluate(source)
        for size, scheme in LOOKS:
            await visitor.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            width, height = SIZES[size]
            await visitor.page.set_viewport_size({"width": width, "height": height})
            assert await faults_of(visitor.page) == [], (name, size, scheme)
            assert await visitor.page.evaluate(WIDER) <= 0, f"{name} is wider than the {size} window"


async def test_no_serious_fault_in_dialogs_and_menus(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Dialogs", turns=1)
    source = AXE.read_text("utf-8")
    await visitor.chat(session)
    await visitor.button("More", visitor.turn(1)).click()
    await visitor.page.evaluate(source)
    assert await faults_of(visitor.page) == []
    await visitor.page.get_by_role("menuitem", name="Draft from here…").click()
    await expect(visitor.page.get_by_role("dialog")).to_be_visible()
    assert await faults_of(visitor.page) == []
    await visitor.page.keyboard.press("Escape")
    await expect(visitor.page.get_by_role("dialog")).to_have_count(0)
    await visitor.button("Edit", visitor.turn(1)).click()
    assert await faults_of(visitor.page) == []


async def test_a_phone_has_the_navigation_behind_a_button(stage: Theatre, visitor: Visitor) -> None:
    session = await stage.session("Pocket", turns=1)
    await visitor.page.set_viewport_size({"width": 360, "height": 640})
    await visitor.chat(session)
    navigation = visitor.page.get_by_role("navigation", name="Main")
    await expect(navigation).to_be_hidden()
    await visitor.button("Navigation").click()
    await navigation.get_by_role("link", name="Drafts").click()
    await expect(visitor.page.get_by_role("heading", name="Drafts", exact=True)).to_be_visible()
    await expect(navigation).to_be_hidden()
