"""The local small model: an answer on a fresh machine, without a key and without a network."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from kernel.generation.local_process import Address, LocalModelProcess, find_model
from kernel.generation.local_server import CONTEXT_TOKENS
from kernel.generation.local_tools import as_text, constrained
from kernel.generation.openai_compatible import OpenAICompatibleProvider, OpenAISettings, Timeouts
from kernel.generation.provider import ChatRequest, Chunk, TextChunk
from kernel.generation.retries import Retries
from kernel.prompt.config import ModelConfig

# The first token waits for the model to be read, for turns of others, and for the whole prompt.
TIMEOUTS = Timeouts(connect=5.0, first_token=180.0, between_tokens=60.0, total=600.0)

_SAMPLING = ModelConfig(temperature=0.2, top_p=0.9)

_HINT = (
    f"The local model's context holds {CONTEXT_TOKENS} tokens: set config.budget.max_input_tokens"
    f" to {CONTEXT_TOKENS} or less, with some reserved for the answer."
)


def local_model_available() -> bool:
    """Whether the packages are installed. Starts and imports nothing."""
    return find_model() is not None


class LocalProvider:
    """See `Provider`. Runs the model in a process of its own, which is started with the first request
    (about a second), again if it has died, and ended by `aclose` or with this process.

    `config.model.name` is not looked at: there is one model. Text only. It calls at most one tool in an
    answer; see `local_tools`.
    """

    name = "local"

    def __init__(self, *, timeouts: Timeouts = TIMEOUTS) -> None:
        self.process = LocalModelProcess()
        self._timeouts = timeouts
        self._address: Address | None = None
        self._inner: OpenAICompatibleProvider | None = None

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        """See `Provider.stream`; a context that is too long is PROVIDER_INVALID."""
        inner = await self._ready()
        # What a model of this size needs to make sense; what the session says comes first.
        request, reader = constrained(replace(as_text(request), model=request.model.over(_SAMPLING)))
        async with aclosing(inner.stream(request)) as chunks:
            async for chunk in chunks:
                if reader is None or not isinstance(chunk, TextChunk):
                    yield chunk
                elif words := reader.read(chunk.text):
                    yield TextChunk(words)
        if reader is not None and (call := reader.call()) is not None:
            yield call

    async def aclose(self) -> None:
        """See `Provider.aclose`: the process is gone when this returns."""
        if self._inner is not None:
            await self._inner.aclose()
            self._inner = self._address = None
        await self.process.aclose()

    async def _ready(self) -> OpenAICompatibleProvider:
        address = await self.process.ready()
        if self._inner is not None and address == self._address:
            return self._inner
        settings = OpenAISettings(
            base_url=address.base_url,
            api_key=address.api_key,
            model="local",
            timeouts=self._timeouts,
            # Our own process: if it does not answer it has died, and the next request starts it anew.
            retries=Retries(attempts=1),
            text_only=True,
            refusal_hint=_HINT,
        )
        old, inner = self._inner, OpenAICompatibleProvider(settings, name=self.name)
        self._inner, self._address = inner, address
        if old is not None:
            # Its process is gone, and so are its streams.
            await old.aclose()
        return inner
