"""The scripted provider: deterministic, for tests and demos. It says that it is no model."""

import asyncio
import itertools
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

from kernel.generation.provider import (
    ChatRequest,
    Chunk,
    FailureReason,
    ProviderError,
    ReasoningChunk,
    TextChunk,
    ToolCallChunk,
    UsageChunk,
)
from kernel.generation.script import Reply, Script, load_script
from kernel.tree.message import ToolCall
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
        # By the number of results that they follow.
        self._by_text: dict[tuple[int, str], Reply] = {}
        self._cycles: dict[int, Iterator[Reply]] = {}
        for reply in self._script.replies:
            if reply.when is not None:
                self._by_text.setdefault((reply.after_results, reply.when), reply)
        for number in {reply.after_results for reply in self._script.replies if reply.when is None}:
            self._cycles[number] = itertools.cycle(
                [r for r in self._script.replies if r.when is None and r.after_results == number]
            )

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
        texts, results = _user_texts(request), _results(request)
        if texts and (found := self._by_text.get((results, texts[-1]))):
            return found
        return next(self._cycles.get(results, iter(())), Reply())

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
    for piece in _pieces(reply, request):
        yield TextChunk(piece)
    before = sum(isinstance(part, ToolCall) for message in request.messages for part in message.parts)
    for number, call in enumerate(reply.tool_calls, start=before + 1):
        call_id = f"call_{number}" if call.call_id is None else call.call_id
        yield ToolCallChunk(call_id, call.name, call.sent)


def _pieces(reply: Reply, request: ChatRequest) -> list[str]:
    if reply.deltas is not None:
        return reply.deltas
    if reply.text is not None:
        return _words(reply.text)
    return [] if reply.tool_calls else _words(default_answer(request))


def _usage(reply: Reply, request: ChatRequest, deltas: int) -> UsageChunk:
    if reply.usage is not None:
        return UsageChunk(reply.usage.tokens_in, reply.usage.tokens_out)
    return UsageChunk(sum(len(_words(message.text)) for message in request.messages), deltas)


def _words(text: str) -> list[str]:
    """Words with the space after them; joined they are the text."""
    return re.findall(r"\S+\s*|\s+", text)


def _user_texts(request: ChatRequest) -> list[str]:
    return [message.text for message in request.messages if message.role is Role.USER]


def _results(request: ChatRequest) -> int:
    """TOOL messages after the last user message."""
    roles = [message.role for message in request.messages]
    last = max((at for at, role in enumerate(roles) if role is Role.USER), default=-1)
    return roles[last + 1 :].count(Role.TOOL)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_ECHO else f"{text[:_MAX_ECHO]}… ({len(text)} characters)"
