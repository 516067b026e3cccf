"""Pictures of every view, wide and narrow, light and dark, into docs/console: `make screenshots`."""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.console.browser import Faults, browser, context
from tests.console.demo import HARBOUR, SHORTER, Demo, make_demo
from tests.console.stage import Theatre, Visitor, theatre

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "console"
SIZES = {"wide": (1100, 700), "phone": (360, 640)}


def places(demo: Demo) -> dict[str, str]:
    return {
        "sessions": "",
        "conversation": f"s/{demo.session}/chat",
        "tree": f"s/{demo.session}/tree",
        "context": f"s/{demo.session}/context",
        "drafts": f"s/{demo.session}/drafts",
        "draft": f"d/{demo.draft}",
        "ledger": f"ledger/{demo.entry}",
        "feed": "feed",
        "system": "system",
    }


async def main(folder: Path, only: set[str]) -> None:
    with tempfile.TemporaryDirectory() as data:
        async with browser() as started, theatre(Path(data), started) as stage:
            stage.part("Describe the harbour at dawn. What should I know?", {"text": SHORTER})
            stage.part("Once more, please.", {"text": HARBOUR})
            demo = await make_demo(stage)
            for size in SIZES:
                for scheme in ("light", "dark"):
                    await shoot(stage, demo, folder, size, scheme, only)


async def shoot(stage: Theatre, demo: Demo, folder: Path, size: str, scheme: str, only: set[str]) -> None:
    async with context(stage.browser, stage.url, size=SIZES[size], color_scheme=scheme) as made:
        visitor = Visitor(stage, made, await made.new_page(), Faults(stage.url))
        for name, place in places(demo).items():
            if only and name not in only:
                continue
            await visitor.open(place)
            await visitor.page.wait_for_function("() => !document.querySelector('.waiting')")
            await PREPARE.get(name, nothing)(visitor)
            await visitor.page.screenshot(
                path=folder / f"{name}-{size}-{scheme}.png", animations="disabled", scale="css"
            )


async def nothing(_: Visitor) -> None:
    return


async def to_top(visitor: Visitor) -> None:
    await visitor.page.locator(".transcript").evaluate("e => e.scrollTo(0, 0)")


async def choose_abandoned(visitor: Visitor) -> None:
    await visitor.button("Show all").click()
    await visitor.page.locator(".card-node.abandoned").first.locator("text.title").wait_for()
    await visitor.page.wait_for_function(
        "() => !/Turn \\d/.test(document.querySelector('.card-node .title').textContent)"
    )
    if visitor.page.viewport_size["width"] > 600:  # type: ignore[index]
        await visitor.page.locator(".card-node.abandoned").first.click()
        await visitor.page.locator(".detail .message").first.wait_for()
        await visitor.button("Show all").click()


async def wait_for_events(visitor: Visitor) -> None:
    await visitor.page.locator(".event").first.wait_for()


PREPARE = {"conversation": to_top, "tree": choose_abandoned, "feed": wait_for_events}

if __name__ == "__main__":
    wanted = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    wanted.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(wanted, set(sys.argv[2:])))
