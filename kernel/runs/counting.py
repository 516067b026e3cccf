"""What runs tell those who count."""

import time
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any

from kernel.generation.live import LiveRun
from kernel.generation.provider import ChatRequest, Chunk, Provider
from kernel.prompt.assemble import HIDDEN
from kernel.runs.context import Assembled
from kernel.telemetry.metrics import Figures, Sent
from kernel.telemetry.tracing import traces

NOBODY = Figures()


def sent_of(project_id: str, assembled: Assembled) -> Sent:
    """What is hidden was never to be sent: nothing trimmed it."""
    selection = assembled.context.selection
    trimmed = sum(left.tokens for left in selection.left_out if left.why != HIDDEN)
    return Sent(project_id, selection.tokens_in, assembled.tokens_abandoned, trimmed)


async def counted(live: LiveRun, drive: Coroutine[Any, Any, None], figures: Figures) -> None:
    """Drives a run to its end, or to where it waits, and tells which of the two, and how long that took."""
    start = time.monotonic()
    with traces.asking("run") as span:
        try:
            await drive
        finally:
            last = live.last_frame
            outcome = (type(last.event).__name__ if last else "Lost").lower()
            span.set("stemma.outcome", outcome)
            figures.run_ended(outcome, time.monotonic() - start)


class Timed:
    """A provider whose first words are timed."""

    def __init__(self, provider: Provider, figures: Figures) -> None:
        self._provider, self._figures = provider, figures
        self.name = provider.name

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        start, first = time.monotonic(), True
        async with aclosing(self._provider.stream(request)) as chunks:
            async for chunk in chunks:
                if first:
                    self._figures.first_word(self.name, time.monotonic() - start)
                    first = False
                yield chunk

    async def aclose(self) -> None:
        await self._provider.aclose()
