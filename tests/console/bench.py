"""How a session of 5,000 turns opens and pans in the console: `make console-bench`. Exit status 1 when the
median of five opens is over 3 s, or when a pan loses input. It is no everyday test: it asserts times."""

import asyncio
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import structlog
from playwright.async_api import Page
from stemma.conversation.v1 import floor_service_pb2 as floors

from tests.console.browser import Faults, browser, context
from tests.console.stage import Theatre, Visitor, theatre
from tests.support.client import assistant, user

TURNS = 5_000
FORK_EVERY = 100
OPENS = 5
LIMIT = 3.0
MOVES = 240

# Counts what arrives while the mouse is dragged, and the longest time without a frame.
WATCH = """() => {
    window.seen = {moves: 0, longest: 0};
    const count = () => (window.seen.moves += 1);
    if (!window.watched) document.querySelector(".tree-frame").addEventListener("pointermove", count);
    window.watched = true;
    let last = performance.now();
    const frame = now => {
        window.seen.longest = Math.max(window.seen.longest, now - last);
        last = now;
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}"""
OFFSET = """() => {
    const [, x, y] = /translate\\(([-\\d.]+) ([-\\d.]+)\\)/.exec(
        document.querySelector(".tree-svg > g").getAttribute("transform"));
    return [Number(x), Number(y)];
}"""


async def grow(stage: Theatre) -> str:
    """One path of 5,000 turns, with an abandoned answer at each hundredth; the session's id."""
    session = await stage.session("Five thousand")

    async def turns() -> AsyncIterator[floors.AppendFloorsRequest]:
        for number in range(TURNS):
            yield floors.AppendFloorsRequest(
                request_id=str(uuid.uuid4()),
                session_id=session,
                input=[user(f"question {number}")],
                output=[assistant(f"answer {number}, with a few words")],
            )

    ids: list[str] = []
    call = stage.stage.client._channel.stream_stream(
        "/stemma.conversation.v1.FloorService/AppendFloors",
        request_serializer=floors.AppendFloorsRequest.SerializeToString,
        response_deserializer=floors.AppendFloorsResponse.FromString,
    )
    async for answer in call(turns()):
        ids.append(answer.floor.floor_id)
    for floor in ids[FORK_EVERY::FORK_EVERY]:
        branch = f"b{uuid.uuid4().hex[:8]}"
        await stage.post(f"/v1/sessions/{session}/branches", name=branch, floorId=floor)
        await stage.turn(session, "elsewhere", "abandoned", branch=branch)
        await stage.api.delete(f"/v1/sessions/{session}/branches/{branch}?requestId={uuid.uuid4()}")
    return session


async def opened(visitor: Visitor, place: str, shown: str) -> float:
    """Seconds from the address to what was asked for, in a page that is new."""
    await visitor.page.goto("about:blank")
    started = time.monotonic()
    await visitor.page.goto(f"{visitor.theatre.url}/console/#/{place}")
    await visitor.page.locator(shown).first.wait_for()
    return time.monotonic() - started


async def pan(page: Page) -> tuple[int, float, float, float]:
    """Moves that arrived, ms of the longest gap between frames, and how far the drawing went."""
    box = await page.locator(".tree-frame").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2 + 150, box["y"] + 40
    await page.evaluate(WATCH)
    before = await page.evaluate(OFFSET)
    await page.mouse.move(x, y)
    await page.mouse.down()
    for step in range(1, MOVES + 1):
        await page.mouse.move(x - step, y + step)
    await page.mouse.up()
    await page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    after = await page.evaluate(OFFSET)
    seen = await page.evaluate("() => window.seen")
    return seen["moves"], seen["longest"], after[0] - before[0], after[1] - before[1]


async def main() -> int:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    with tempfile.TemporaryDirectory() as data:
        async with (
            browser() as started,
            theatre(Path(data), started) as stage,
            context(started, stage.url) as made,
        ):
            session = await grow(stage)
            visitor = Visitor(stage, made, await made.new_page(), Faults(stage.url))
            chat = [await opened(visitor, f"s/{session}/chat", "article.turn") for _ in range(OPENS)]
            tree = [await opened(visitor, f"s/{session}/tree", "[role=treeitem]") for _ in range(OPENS)]
            moves, gap, dx, dy = await pan(visitor.page)
            await visitor.page.locator(".fold-node").first.click()
            await visitor.page.locator(".card-node:not(.fold-node) .title").nth(3).wait_for()
            wide_moves, wide_gap, _, _ = await pan(visitor.page)
    for name, times in (("conversation", chat), ("tree", tree)):
        print(f"{name:13} opens in {statistics.median(times):.2f} s (median of {OPENS}: "
              f"{', '.join(f'{one:.2f}' for one in sorted(times))})")  # fmt: skip
    print(f"folded tree   panned by {dx:.0f}, {dy:.0f} with {moves} moves; longest gap {gap:.0f} ms")
    print(f"opened run    panned with {wide_moves} moves; longest gap {wide_gap:.0f} ms")
    whole = round(-dx) == MOVES and round(dy) == MOVES
    fast = max(statistics.median(chat), statistics.median(tree)) <= LIMIT
    return 0 if whole and fast else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
