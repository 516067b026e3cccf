"""Reads the events of a streamed chat completion. Trusts nothing that the client did not check."""

from collections.abc import Iterator

from kernel.generation.openai_calls import CallJoiner
from kernel.generation.provider import (
    Chunk,
    FailureReason,
    ProviderError,
    ReasoningChunk,
    TextChunk,
    UsageChunk,
    not_valid,
    unavailable,
)
from kernel.generation.retries import Passing
from kernel.strict_json import is_storable

_MAX_COUNT = 2**53
# Ends in mid-sentence, and so, perhaps, in the middle of a call.
_CUT = ("length", "content_filter")


class ChunkReader:
    """Turns events into chunks and remembers how far the answer came.

    The client builds its event objects without validation, so any attribute may be missing or of any
    type. Tool calls come whole, all together, when the provider says that the answer is.
    """

    def __init__(self) -> None:
        self.finished = False
        self._events = 0
        self._calls = CallJoiner()

    def read(self, event: object) -> Iterator[Chunk]:
        """Raises: ProviderError PROVIDER_INVALID for an event that is no chat completion chunk; LIMIT
        for too much of a tool call, or a cut within one."""
        self._events += 1
        choices = getattr(event, "choices", None)
        if not isinstance(choices, list):
            raise not_valid("The provider sent an event that is no chat completion chunk.")
        for choice in choices[:1]:
            yield from self._choice(choice)
        yield from _usage(getattr(event, "usage", None))

    def check_whole(self) -> None:
        """At the end of the stream. Raises: ProviderError when the answer was not finished."""
        if self.finished:
            return
        if self._events:
            raise Passing(unavailable("The provider broke off before the answer was whole."))
        raise not_valid("The provider's answer is no event stream of a chat completion.")

    def _choice(self, choice: object) -> Iterator[Chunk]:
        delta = getattr(choice, "delta", None)
        if not self.finished:
            yield from self._texts(delta)
            if (pieces := getattr(delta, "tool_calls", None)) is not None:
                self._calls.add(pieces)
        if (reason := getattr(choice, "finish_reason", None)) is not None and not self.finished:
            self.finished = True
            if self._calls and reason in _CUT:
                raise ProviderError(
                    FailureReason.LIMIT,
                    "The answer was cut within a tool call: raise config.model.max_output_tokens.",
                )
            yield from self._calls.whole()

    def _texts(self, delta: object) -> Iterator[Chunk]:
        # The names under which compatible servers send what the model thinks.
        for field in ("reasoning_content", "reasoning"):
            if reasoning := _text(delta, field):
                yield ReasoningChunk(reasoning)
                break
        if text := _text(delta, "content"):
            yield TextChunk(text)


def _text(delta: object, field: str) -> str:
    value = getattr(delta, field, None)
    if value is None:
        return ""
    if not isinstance(value, str) or not is_storable(value):
        raise not_valid("The provider sent a delta that is no text.")
    return value


def _usage(usage: object) -> Iterator[Chunk]:
    counts = (getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None))
    # A count that makes no sense is as good as none: Stemma then counts by itself.
    if all(type(count) is int and 0 <= count <= _MAX_COUNT for count in counts):
        yield UsageChunk(*counts)  # type: ignore[arg-type]  # checked in the line above
