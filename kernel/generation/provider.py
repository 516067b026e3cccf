"""What a model provider is: the one interface between a run and whoever writes its text."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from kernel.prompt.config import ModelConfig
from kernel.tree.message import Message


class FailureReason(StrEnum):
    """Why a run failed: the contract's ErrorInfo reasons of runs."""

    PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE"
    PROVIDER_INVALID = "PROVIDER_INVALID"
    PROVIDER_TIMEOUT = "PROVIDER_TIMEOUT"
    LIMIT = "LIMIT"
    CRASHED = "CRASHED"


class ProviderError(Exception):
    """The provider could not answer. `message` says what to do, and never quotes what the provider
    sent, a key, an address or a file path: it may be logged and shown."""

    def __init__(self, reason: FailureReason, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message


def unavailable(message: str) -> ProviderError:
    return ProviderError(FailureReason.PROVIDER_UNAVAILABLE, message)


def not_valid(message: str) -> ProviderError:
    return ProviderError(FailureReason.PROVIDER_INVALID, message)


def timed_out(message: str) -> ProviderError:
    return ProviderError(FailureReason.PROVIDER_TIMEOUT, message)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is told of it. `parameters_json` is a JSON Schema; empty: no arguments."""

    name: str
    description: str = ""
    parameters_json: str = ""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """Exactly what the model is sent: messages in their order, what it may call, how to sample."""

    messages: tuple[Message, ...]
    model: ModelConfig = field(default_factory=ModelConfig)
    tools: tuple[ToolSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class TextChunk:
    """The next piece of the answer; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    """The next piece of what the model thought; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class UsageChunk:
    """Tokens so far, as the provider counted them; the last one of a stream holds."""

    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class ToolCallChunk:
    """A whole tool call, once its arguments are complete. `call_id` is the provider's own and unique
    within the answer; `arguments_json` is what it sent, checked by nobody yet: any text that can be
    stored. Several calls of one answer are meant to be carried out together, in their order."""

    call_id: str
    name: str
    arguments_json: str


Chunk = TextChunk | ReasoningChunk | ToolCallChunk | UsageChunk


class Provider(Protocol):
    """Writes answers. One instance serves any number of streams at once, on one event loop."""

    @property
    def name(self) -> str:
        """As `config.model.provider` names it."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        """The answer, in order, each chunk once; the end of the generator is the end of the answer.

        Before its first chunk a provider may try again by itself; after it, never: there is one
        answer, in one attempt. Closing the generator, or cancelling the task that reads it, closes
        the connection, so that the provider stops writing. Memory per stream is bounded whatever
        the provider sends.

        Raises:
            ProviderError: PROVIDER_UNAVAILABLE when it cannot be reached, is overloaded or breaks
                off; PROVIDER_TIMEOUT when it is too slow; PROVIDER_INVALID when it refuses the
                request or answers nonsense; LIMIT when it sends too much. Chunks before it stand.
        """
        ...

    async def aclose(self) -> None:
        """Releases connections and processes. Streams must have ended. May be called twice."""
        ...
