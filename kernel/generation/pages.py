"""One page of a run: the model answers, its tools act, and it answers again."""

from contextlib import aclosing
from dataclasses import dataclass, field, replace
from enum import Enum

from kernel.generation.events import ActionKind, ToolAnswered, ToolCalled
from kernel.generation.live import LiveRun
from kernel.generation.output import Output, Room
from kernel.generation.provider import ChatRequest, FailureReason, Provider, ProviderError, not_valid
from kernel.generation.tools import Toolbox
from kernel.tree.message import ToolCall


@dataclass(frozen=True, slots=True)
class PagePlan:
    """A page to write: whom to ask, and what, before the page's own messages."""

    page_id: str
    provider: Provider
    request: ChatRequest


class PageEnd(Enum):
    WHOLE = "the model has said all"
    WAITS = "tool calls wait for somebody"


@dataclass(slots=True)
class PageWriter:
    """Writes one page, from where it stands."""

    live: LiveRun
    plan: PagePlan
    toolbox: Toolbox
    output: Output
    room: Room
    max_steps: int
    max_tokens: int
    waiting: tuple[tuple[ToolCall, ActionKind], ...] = field(default=())

    async def write(self) -> PageEnd:
        """Until the page is whole or waits.

        Raises: ProviderError; RunOver. What was written until then stands.
        """
        while True:
            calls = self._open_calls() or await self._answer()
            if not calls:
                if self.output.draft(partial=False).empty:
                    raise not_valid("The provider ended without an answer.")
                return PageEnd.WHOLE
            acted = await self.toolbox.act(calls)
            self.waiting = acted.waiting
            if acted.waiting:
                return PageEnd.WAITS
            for result in acted.results:
                self.room.take(result.content)
                self.live.publish(ToolAnswered(self.plan.page_id, result))

    def _open_calls(self) -> tuple[ToolCall, ...]:
        page = self.live.so_far.pages.get(self.plan.page_id)
        return page.open_calls if page is not None else ()

    async def _answer(self) -> tuple[ToolCall, ...]:
        """The model's next answer; its calls, recorded and shown."""
        page = self.live.so_far.pages.get(self.plan.page_id)
        steps = page.steps if page is not None else 0
        specs = await self.toolbox.specs()
        said = self.live.so_far.messages(self.plan.page_id)
        request = replace(
            self.plan.request,
            messages=(*self.plan.request.messages, *said),
            tools=specs,
        )
        async with aclosing(self.plan.provider.stream(request)) as chunks:
            async for chunk in chunks:
                self.output.add(chunk)
        calls = self.output.take_calls()
        if not calls:
            return ()
        if not specs:
            raise not_valid("The provider called a tool, and was given none.")
        if steps >= self.max_steps:
            raise ProviderError(
                FailureReason.LIMIT, f"The model called tools {self.max_steps} times without an answer."
            )
        self.output.check_cost(self.max_tokens)
        recorded = await self.toolbox.record(self.plan.page_id, calls)
        for call in recorded:
            self.live.publish(ToolCalled(self.plan.page_id, call))
        return recorded
