"""What a run has written so far, as the pages that would be stored. Pure: a fold of its events."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kernel.generation.events import (
    ReasoningDelta,
    TextDelta,
    ToolAnswered,
    ToolCalled,
)
from kernel.tree.message import Message, Part, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import Role


@dataclass(slots=True)
class PageSoFar:
    """One page. Each answer of the model is a message: reasoning, text, calls; the results of its calls
    are one TOOL message, in the order of the calls. What the model says after them begins a new message."""

    finished: list[Message] = field(default_factory=list)
    _reasoning: list[str] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _calls: list[ToolCall] = field(default_factory=list)
    _results: dict[str, ToolResult] = field(default_factory=dict)

    def apply(self, event: TextDelta | ReasoningDelta | ToolCalled | ToolAnswered) -> None:
        if isinstance(event, ToolAnswered):
            self._results[event.result.call_id] = event.result
            return
        if self._results:
            self._finish()
        match event:
            case TextDelta(_, text):
                self._text.append(text)
            case ReasoningDelta(_, text):
                self._reasoning.append(text)
            case ToolCalled(_, call):
                self._calls.append(call)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All of it. A call may be without its result."""
        return (*self.finished, *self._current())

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The last calls, in order, if one of them has no result yet."""
        answered = all(call.call_id in self._results for call in self._calls)
        return () if answered else tuple(self._calls)

    @property
    def steps(self) -> int:
        """How often the model has answered with calls."""
        done = sum(any(isinstance(part, ToolCall) for part in message.parts) for message in self.finished)
        return done + bool(self._calls)

    def _current(self) -> list[Message]:
        parts: list[Part] = []
        if self._reasoning:
            parts.append(Reasoning("".join(self._reasoning)))
        if text := "".join(self._text):
            parts.append(Text(text))
        parts += self._calls
        messages = [Message(Role.ASSISTANT, tuple(parts))] if parts else []
        results = tuple(self._results[c.call_id] for c in self._calls if c.call_id in self._results)
        return [*messages, Message(Role.TOOL, results)] if results else messages

    def _finish(self) -> None:
        self.finished += self._current()
        self._reasoning, self._text, self._calls, self._results = [], [], [], {}


class PagesSoFar:
    """The pages of a run, by page id, in the order in which they were begun."""

    def __init__(self, events: Iterable[object] = ()) -> None:
        self.pages: dict[str, PageSoFar] = {}
        for event in events:
            self.apply(event)

    def apply(self, event: object) -> None:
        """An event that was published or logged; what adds nothing to a page is passed over."""
        if isinstance(event, TextDelta | ReasoningDelta | ToolCalled | ToolAnswered):
            self.pages.setdefault(event.page_id, PageSoFar()).apply(event)

    def messages(self, page_id: str) -> tuple[Message, ...]:
        page = self.pages.get(page_id)
        return page.messages if page is not None else ()


def has_content(messages: Iterable[Message]) -> bool:
    """Whether there is something worth a page: reasoning alone is not."""
    parts = [part for message in messages for part in message.parts]
    return any(
        isinstance(part, ToolCall | ToolResult) or (isinstance(part, Text) and part.text.strip())
        for part in parts
    )
