"""What a run has received so far: checked, counted, and published in few frames."""

import asyncio

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
from kernel.generation.sink import OutputDraft
from kernel.tree.model import Usage


class Output:
    """Takes chunks and publishes deltas: the first at once, then one per window with what arrived in
    it. No timer runs while nothing waits. The order of text and reasoning is kept.

    Args:
        live: Where to publish.
        page_id: Of the page that is written.
        window: Seconds.
        max_bytes: Of text and reasoning together, in UTF-8.
    """

    def __init__(self, live: LiveRun, page_id: str, *, window: float, max_bytes: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._live = live
        self._page_id = page_id
        self._window = window
        self._bytes_left = max_bytes
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._usage: Usage | None = None
        self._waiting: list[str] = []
        self._waiting_is_text = True
        self._next_publish = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def add(self, chunk: Chunk) -> None:
        """Raises: ProviderError: LIMIT when there is too much, PROVIDER_INVALID for text that cannot
        be stored. The chunk is left out then, and the ones before it stand. RuntimeError when
        closed."""
        if self._closed:
            raise RuntimeError("The run has ended.")
        if isinstance(chunk, UsageChunk):
            self._usage = Usage(chunk.tokens_in, chunk.tokens_out)
            return
        if isinstance(chunk, ToolCallChunk):
            raise not_valid("The provider called a tool, and was given none.")
        self._check(chunk.text)
        is_text = isinstance(chunk, TextChunk)
        (self._text if is_text else self._reasoning).append(chunk.text)
        if is_text is not self._waiting_is_text:
            self.flush()
            self._waiting_is_text = is_text
        self._waiting.append(chunk.text)
        self._publish_in_time()

    def flush(self) -> None:
        """Publishes what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._waiting:
            return
        text, self._waiting = "".join(self._waiting), []
        delta = TextDelta if self._waiting_is_text else ReasoningDelta
        self._live.publish(delta(self._page_id, text))
        self._next_publish = self._loop.time() + self._window

    def close(self) -> None:
        """Publishes what waits, and takes nothing more."""
        self.flush()
        self._closed = True

    def draft(self, *, partial: bool) -> OutputDraft:
        return OutputDraft("".join(self._text), "".join(self._reasoning), self._usage, partial)

    def _check(self, text: str) -> None:
        try:
            size = len(text.encode())
        except UnicodeEncodeError:
            raise not_valid("The provider sent half a surrogate pair.") from None
        if "\0" in text:
            raise not_valid("The provider sent a NUL character.")
        if size > self._bytes_left:
            raise ProviderError(FailureReason.LIMIT, "The answer is longer than a message may be.")
        self._bytes_left -= size

    def _publish_in_time(self) -> None:
        if self._loop.time() >= self._next_publish:
            self.flush()
        elif self._timer is None:
            self._timer = self._loop.call_at(self._next_publish, self.flush)
