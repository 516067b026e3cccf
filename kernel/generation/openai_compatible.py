"""Any endpoint that speaks the OpenAI chat completions API, streamed."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from kernel.generation.openai_messages import request_body
from kernel.generation.openai_stream import ChunkReader
from kernel.generation.provider import ChatRequest, Chunk
from kernel.generation.retries import Passing, Retries
from kernel.generation.slots import StreamSlots
from kernel.net.guard import Guard

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream

OPENAI_BASE_URL = "https://api.openai.com/v1"
_MIB = 1_048_576
# None is something that a provider can send.
_END = object()


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. `first_token` and `total` run from the call on, waits and all attempts included;
    `between_tokens` from the last event that the provider sent (comments that keep the connection alive
    are none)."""

    connect: float = 5.0
    first_token: float = 60.0
    between_tokens: float = 30.0
    total: float = 600.0


@dataclass(frozen=True, slots=True)
class OpenAISettings:
    """Where and how.

    Attributes:
        base_url: Up to and with the version, as in `https://host/v1`.
        api_key: May be empty, for servers that ask for none.
        model: For requests that name none.
        timeouts: See `Timeouts`.
        retries: See `Retries`.
        streams: That this provider writes at once.
        waiting: Calls that may wait for one of them.
        guard: Says where `base_url` may lead; None for one that the operator gave.
        max_response_bytes: Of one stream, as sent: JSON around each token included.
        max_event_bytes: Of one event of the stream; what is buffered at most.
        text_only: Refuse requests with files before they are sent.
        refusal_hint: Added to the message when the endpoint refuses a request (HTTP 4xx).
    """

    base_url: str = OPENAI_BASE_URL
    api_key: str = field(default="", repr=False)
    model: str = ""
    timeouts: Timeouts = Timeouts()
    retries: Retries = field(default_factory=Retries)
    streams: int = 256
    waiting: int = 256
    guard: Guard | None = None
    max_response_bytes: int = 64 * _MIB
    max_event_bytes: int = 1 * _MIB
    text_only: bool = False
    refusal_hint: str = "Look at the model's name, the key and the length of the context."


class OpenAICompatibleProvider:
    """See `Provider`. The client library is imported with the first request, in a thread."""

    def __init__(self, settings: OpenAISettings, *, name: str = "openai") -> None:
        self.name = name
        self._settings = settings
        self._client: AsyncOpenAI | None = None
        self._slots = StreamSlots(settings.streams, settings.waiting)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        """See `Provider.stream`. An answer cut by `max_output_tokens` ends like any other. Once the
        provider has said that the answer is whole, losing the connection loses its usage only."""
        body = request_body(request, self._settings.model, text_only=self._settings.text_only)
        client = await self._ready()
        pace = _Pace(self._settings.timeouts)
        async with self._slots.taken(pace.first_token):
            for attempt in itertools.count(1):
                try:
                    async with aclosing(self._attempt(client, body, pace)) as chunks:
                        async for chunk in chunks:
                            yield chunk
                    return
                except Passing as error:
                    seconds = self._settings.retries.wait(attempt, error)
                    if seconds is None or not pace.leaves(seconds):
                        raise
                await asyncio.sleep(seconds)

    async def _attempt(
        self, client: "AsyncOpenAI", body: dict[str, Any], pace: "_Pace"
    ) -> AsyncGenerator[Chunk, None]:
        reader = ChunkReader()
        with _translated(self._settings.refusal_hint):
            async with pace.step():
                events = await _open(client, body)
            try:
                while (event := await _next(events, pace, reader)) is not _END:
                    for chunk in reader.read(event):
                        pace.token_seen()
                        yield chunk
            finally:
                await events.close()
            reader.check_whole()

    async def aclose(self) -> None:
        """See `Provider.aclose`."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _ready(self) -> "AsyncOpenAI":
        if self._client is None:
            # The import and the reading of certificates take up to two seconds: not on the loop.
            client = await asyncio.to_thread(_new_client, self._settings)
            if self._client is None:
                self._client = client
            else:
                await client.close()
        return self._client


class _Pace:
    """How long the next step may take."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._loop = asyncio.get_running_loop()
        self._between_tokens = timeouts.between_tokens
        start = self._loop.time()
        self._end = start + timeouts.total
        self.first_token = min(start + timeouts.first_token, self._end)
        self._answering = False

    def token_seen(self) -> None:
        self._answering = True

    def leaves(self, seconds: float) -> bool:
        """Whether the first token may still come after that long: not when it has come already."""
        return not self._answering and self._loop.time() + seconds < self.first_token

    def step(self) -> asyncio.Timeout:
        """Raises: TimeoutError, from the block that it surrounds."""
        deadline = self._loop.time() + self._between_tokens if self._answering else self.first_token
        return asyncio.timeout_at(min(deadline, self._end))


async def _open(client: "AsyncOpenAI", body: dict[str, Any]) -> "AsyncStream[Any]":
    return cast("AsyncStream[Any]", await client.chat.completions.create(**body))


async def _next(events: "AsyncStream[Any]", pace: _Pace, reader: ChunkReader) -> object:
    """The next event; _END at the end."""
    try:
        async with pace.step():
            return await anext(events, _END)
    except Exception:
        if reader.finished:
            return _END
        raise


@contextmanager
def _translated(refusal_hint: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        from kernel.generation.openai_errors import translate

        translated = translate(error, refusal_hint)
        if translated is None:
            raise
        # Without its cause, which quotes the provider.
        raise translated from None


def _new_client(settings: OpenAISettings) -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    from kernel.generation.openai_http import bounded_client

    http_client = bounded_client(
        connect_seconds=settings.timeouts.connect,
        max_bytes=settings.max_response_bytes,
        max_event_bytes=settings.max_event_bytes,
        guard=settings.guard,
    )
    client = AsyncOpenAI(
        base_url=settings.base_url,
        api_key=settings.api_key or "none",
        # Given, so that the library does not read them from the environment.
        organization="",
        project="",
        # It would try again by its own rules.
        max_retries=0,
        timeout=http_client.timeout,
        http_client=cast("Any", http_client),
    )
    client.organization = client.project = None
    return client
