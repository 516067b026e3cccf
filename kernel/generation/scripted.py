"""The scripted provider: deterministic, for tests and demos. It says that it is no model."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

from kernel.generation.provider import (
    ChatRequest,
    Chunk,
    FailureReason,
    ProviderError,
    ReasoningChunk,
    TextChunk,
    UsageChunk,
)
from kernel.generation.script import Reply, Script, load_script
from kernel.tree.model import Role

# Longer messages are cut in the default answer, so that it does not double a large context.
_MAX_ECHO = 4_000

Gate = Callable[[int], Awaitable[None]]


class ScriptedProvider:
    """Answers by script; without one it echoes the last user message and lists, numbered and in
    order, every user message that it was sent: what the model would have seen.

    Args:
        script: What to answer; see `Script`.
        gate: Awaited with i before delta i (from 0), and with their count before the usage: lets a
            test hold a stream at an exact place without sleeping.
        record: Keep every request in `sent`. For tests only: it grows without bound.
    """

    name = "scripted"

    def __init__(
        self, script: Script | None = None, *, gate: Gate | None = None, record: bool = False
    ) -> None:
        self.sent: list[ChatRequest] = []
        self._script = script or Script()
        self._gate = gate
        self._record = record
        self._by_text = {r.when: r for r in reversed(self._script.replies) if r.when is not None}
        self._cycle = [r for r in self._script.replies if r.when is None]
        self._cycled = 0

    @classmethod
    def from_settings(cls, script: str) -> "ScriptedProvider":
        """`script` as STEMMA_SCRIPT gives it. Raises: ScriptError."""
        return cls(load_script(script))

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        """See `Provider.stream`; fails only where the script says so."""
        if self._record:
            self.sent.append(request)
        reply = self._choose(request)
        deltas = list(_deltas(reply, request))
        for index, delta in enumerate(deltas):
            await self._before(reply, index)
            yield delta
        await self._before(reply, len(deltas))
        yield _usage(reply, request, len(deltas))

    async def aclose(self) -> None:
        """Nothing to release."""

    def _choose(self, request: ChatRequest) -> Reply:
        texts = _user_texts(request)
        if texts and texts[-1] in self._by_text:
            return self._by_text[texts[-1]]
        if not self._cycle:
            return Reply()
        reply = self._cycle[self._cycled % len(self._cycle)]
        self._cycled += 1
        return reply

    async def _before(self, reply: Reply, index: int) -> None:
        if self._gate is not None:
            await self._gate(index)
        delay_ms = self._script.delay_ms if reply.delay_ms is None else reply.delay_ms
        # Even without a delay others get their turn: a long answer must not hold the loop.
        await asyncio.sleep(delay_ms / 1_000)
        if reply.hang_after is not None and index >= reply.hang_after:
            await asyncio.Event().wait()
        if reply.fail is not None and index >= reply.fail.after:
            raise ProviderError(FailureReason(reply.fail.reason), "The script says to fail here.")


def default_answer(request: ChatRequest) -> str:
    """What the provider says without a script."""
    texts = _user_texts(request)
    lines = ["I am the scripted provider, not a model.", f"You said: {_cut(texts[-1]) if texts else ''}"]
    lines.append(f"User messages I was sent: {len(texts)}")
    lines += [f"{number}. {_cut(text)}" for number, text in enumerate(texts, start=1)]
    return "\n".join(lines)


def _deltas(reply: Reply, request: ChatRequest) -> Iterator[Chunk]:
    for word in _words(reply.reasoning):
        yield ReasoningChunk(word)
    if reply.deltas is not None:
        pieces = reply.deltas
    else:
        pieces = _words(default_answer(request) if reply.text is None else reply.text)
    for piece in pieces:
        yield TextChunk(piece)


def _usage(reply: Reply, request: ChatRequest, deltas: int) -> UsageChunk:
    if reply.usage is not None:
        return UsageChunk(reply.usage.tokens_in, reply.usage.tokens_out)
    return UsageChunk(sum(len(_words(message.text)) for message in request.messages), deltas)


def _words(text: str) -> list[str]:
    """Words with the space after them; joined they are the text."""
    return re.findall(r"\S+\s*|\s+", text)


def _user_texts(request: ChatRequest) -> list[str]:
    return [message.text for message in request.messages if message.role is Role.USER]


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_ECHO else f"{text[:_MAX_ECHO]}… ({len(text)} characters)"
