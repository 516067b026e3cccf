"""Short ways to say messages, requests, pages, floors and branches."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from kernel.generation.events import Frame, ReasoningDelta, RunEvent, Started, TextDelta
from kernel.generation.provider import ChatRequest
from kernel.prompt.config import ModelConfig
from kernel.tree.message import Message, Text
from kernel.tree.model import Branch, Floor, FloorState, Page, PageContent, Place, Role, Slot

NOW = datetime(2026, 11, 30, tzinfo=UTC)
# Seconds after which what should have happened is taken not to happen.
PATIENCE = 20
STARTED = Started(context_digest="0" * 64, tokens_in=3, left_out_count=0)


def said(role: Role, text: str) -> Message:
    return Message(role, (Text(text),))


def asked(*texts: str, model: ModelConfig | None = None) -> ChatRequest:
    """User messages, each but the last answered."""
    messages = [said(Role.USER, texts[0])]
    for text in texts[1:]:
        messages += [said(Role.ASSISTANT, "so be it"), said(Role.USER, text)]
    return ChatRequest(tuple(messages), model or ModelConfig())


def page(text: str, *, partial: bool = False) -> Page:
    return Page(
        page_id="page-1",
        floor_id="floor-1",
        slot=Slot.OUTPUT,
        content=PageContent(text.encode(), ()),
        digest=bytes(32),
        tokens=len(text.split()),
        partial=partial,
        source="model",
        create_time=NOW,
    )


def floor(state: FloorState, reason: str = "") -> Floor:
    return Floor(
        floor_id="floor-1",
        session_id="session-1",
        parent_floor_id="root",
        parent_segment=None,
        place=Place(0, 1),
        ordinal=0,
        state=state,
        input=None,
        output=None,
        digest=None,
        path_tokens=0,
        usage=None,
        run_id="run-1",
        failure_reason=reason,
        principal="local",
        create_time=NOW,
        commit_time=None,
        branch="main",
    )


def branch() -> Branch:
    return Branch(
        name="main",
        head_floor_id="floor-1",
        pending_floor_id=None,
        failed_floor_id=None,
        depth=1,
        version=2,
        create_time=NOW,
        update_time=NOW,
    )


def texts(events: list[RunEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, TextDelta)]


def thoughts(events: list[RunEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, ReasoningDelta)]


async def events_of(frames: AsyncIterator[Frame]) -> list[RunEvent]:
    """All of them, which must come to an end; the positions must have no gap."""
    async with asyncio.timeout(PATIENCE):
        got = [frame async for frame in frames]
    assert [(frame.epoch, frame.seq) for frame in got] == [(1, n) for n in range(1, len(got) + 1)]
    return [frame.event for frame in got]


class Gate:
    """A scripted provider's gate: holds the stream before one delta until it is opened.

    Attributes:
        reached: Set when the stream stands before it.
        opened: Set it to let the stream go on.
    """

    def __init__(self, position: int) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()
        self._position = position

    async def __call__(self, index: int) -> None:
        if index == self._position:
            self.reached.set()
            await self.opened.wait()
