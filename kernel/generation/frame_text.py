"""Frames as the text that the log keeps. A page is kept by its id: what it holds is a row of its own."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kernel.generation.events import (
    ActionKind,
    PageCompleted,
    ReasoningDelta,
    RequiresAction,
    Reset,
    RunEvent,
    Started,
    TextDelta,
    ToolAnswered,
    ToolCalled,
)
from kernel.tree.message import ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class LoggedPage:
    """A page that was completed, by its id."""

    page_id: str


@dataclass(frozen=True, slots=True)
class LoggedReset:
    """All pages that the floor has."""


Logged = (
    Started
    | TextDelta
    | ReasoningDelta
    | ToolCalled
    | ToolAnswered
    | RequiresAction
    | LoggedPage
    | LoggedReset
)


def to_text(events: Sequence[RunEvent]) -> str:
    """What `from_text` reads. Last frames are not kept: rows tell of them."""
    return json.dumps([_entry(event) for event in events], ensure_ascii=False, separators=(",", ":"))


def from_text(text: str) -> list[Logged]:
    """The events of `to_text`, in order."""
    return [_READERS[kind](*values) for kind, *values in json.loads(text)]


def _entry(event: RunEvent) -> list[Any]:
    match event:
        case TextDelta(page_id, text):
            return ["t", page_id, text]
        case ReasoningDelta(page_id, text):
            return ["r", page_id, text]
        case Started(digest, tokens_in, left_out, standing):
            return ["s", digest, tokens_in, left_out, [_call(call) for call in standing]]
        case ToolCalled(page_id, call):
            return ["c", page_id, *_call(call)]
        case ToolAnswered(page_id, result):
            return ["u", page_id, result.call_id, result.content, result.is_error]
        case RequiresAction(calls, kind):
            return ["a", kind.value, [_call(call) for call in calls]]
        case PageCompleted(page):
            return ["p", page.page_id]
        case Reset():
            return ["x"]
        case _:
            raise ValueError("a last frame is not kept in the log")


def _call(call: ToolCall) -> list[str]:
    return [call.call_id, call.name, call.arguments_json]


def _calls(entries: list[list[str]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(*entry) for entry in entries)


_READERS: dict[str, Callable[..., Logged]] = {
    "t": TextDelta,
    "r": ReasoningDelta,
    "s": lambda digest, tokens, left, standing: Started(digest, tokens, left, _calls(standing)),
    "c": lambda page_id, *call: ToolCalled(page_id, ToolCall(*call)),
    "u": lambda page_id, *result: ToolAnswered(page_id, ToolResult(*result)),
    "a": lambda kind, calls: RequiresAction(_calls(calls), ActionKind(kind)),
    "p": LoggedPage,
    "x": LoggedReset,
}
