"""What a run receives for one page: checked, counted, and published in few frames."""

import asyncio
from collections.abc import Callable, Sequence

from kernel.generation.events import ReasoningDelta, TextDelta
from kernel.generation.live import LiveRun
from kernel.generation.provider import (
    Chunk,
    FailureReason,
    ProviderError,
    TextChunk,
    ToolCallChunk,
    UsageChunk,
    not_valid,
)
from kernel.generation.sink import PageDraft
from kernel.tree.message import Message, Part, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import Usage


class Room:
    """Bytes that a run may still take: text, reasoning, calls and results together, in UTF-8."""

    def __init__(self, max_bytes: int) -> None:
        self._left = max_bytes

    def take(self, text: str) -> None:
        """Raises: ProviderError: LIMIT when there is too much, PROVIDER_INVALID for text that cannot be
        stored."""
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise not_valid("The provider sent half a surrogate pair.") from None
        if "\0" in text:
            raise not_valid("The provider sent a NUL character.")
        if size > self._left:
            raise ProviderError(FailureReason.LIMIT, "The answer is longer than a page may be.")
        self._left -= size


def size_of(messages: Sequence[Message]) -> int:
    """Bytes that these have taken of a `Room`."""
    parts = [part for message in messages for part in message.parts]
    return sum(len("".join(_words(part)).encode()) for part in parts)


def _words(part: Part) -> tuple[str, ...]:
    match part:
        case Text(text) | Reasoning(text):
            return (text,)
        case ToolCall(call_id, name, arguments):
            return call_id, name, arguments
        case ToolResult():
            return (part.content,)
        case _:
            return ()


class Output:
    """Takes chunks and publishes deltas: the first at once, then one per window with what arrived in
    it. No timer runs while nothing waits. The order of text and reasoning is kept.

    Args:
        live: Where to publish.
        page_id: Of the page that is written.
        window: Seconds; asked anew for each frame, as windows widen under load.
        room: Of the run.
    """

    def __init__(self, live: LiveRun, page_id: str, *, window: Callable[[], float], room: Room) -> None:
        self._loop = asyncio.get_running_loop()
        self._live = live
        self.page_id = page_id
        self._window = window
        self._room = room
        self._usage: Usage | None = None
        self._step_usage: Usage | None = None
        self._calls: list[ToolCall] = []
        self._waiting: list[str] = []
        self._waiting_is_text = True
        self._next_publish = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def add(self, chunk: Chunk) -> None:
        """Raises: ProviderError as `Room.take`: the chunk is left out then, and the ones before it stand.
        RuntimeError when closed."""
        if self._closed:
            raise RuntimeError("The run has ended.")
        match chunk:
            case UsageChunk(tokens_in, tokens_out):
                self._step_usage = Usage(tokens_in, tokens_out)
            case ToolCallChunk(call_id, name, arguments):
                self._room.take(call_id + name + arguments)
                self._calls.append(ToolCall(call_id, name, arguments))
            case _:
                self._add_text(chunk.text, isinstance(chunk, TextChunk))

    def take_calls(self) -> tuple[ToolCall, ...]:
        """The calls of an answer that has ended, as the provider named them; what it said is published,
        and what it cost is counted."""
        self.flush()
        if self._step_usage is not None:
            before = self._usage or Usage(0, 0)
            self._usage = Usage(
                before.tokens_in + self._step_usage.tokens_in,
                before.tokens_out + self._step_usage.tokens_out,
            )
            self._step_usage = None
        calls, self._calls = tuple(self._calls), []
        return calls

    def check_cost(self, max_tokens: int) -> None:
        """Raises: ProviderError LIMIT when the answers so far, with what each was sent, took more."""
        used = self._usage
        if used is not None and used.tokens_in + used.tokens_out > max_tokens:
            raise ProviderError(FailureReason.LIMIT, f"The run took more than {max_tokens:,} tokens.")

    def flush(self) -> None:
        """Publishes what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._waiting:
            return
        text, self._waiting = "".join(self._waiting), []
        delta = TextDelta if self._waiting_is_text else ReasoningDelta
        self._live.publish(delta(self.page_id, text))
        self._next_publish = self._loop.time() + self._window()

    def close(self) -> None:
        """Publishes what waits, and takes nothing more. Calls of an answer that was cut off are dropped:
        nothing of them was recorded."""
        self.take_calls()
        self._closed = True

    def draft(self, *, partial: bool) -> PageDraft:
        return PageDraft(self.page_id, self._live.so_far.messages(self.page_id), self._usage, partial)

    def _add_text(self, text: str, is_text: bool) -> None:
        self._room.take(text)
        if is_text is not self._waiting_is_text:
            self.flush()
            self._waiting_is_text = is_text
        self._waiting.append(text)
        if self._loop.time() >= self._next_publish:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_at(self._next_publish, self.flush)
