"""The OpenAI-compatible provider against a real HTTP server on loopback."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from kernel.generation.openai_compatible import OpenAICompatibleProvider, OpenAISettings, Timeouts
from kernel.generation.provider import (
    Chunk,
    FailureReason,
    ProviderError,
    ReasoningChunk,
    TextChunk,
    UsageChunk,
)
from kernel.generation.retries import Retries
from kernel.prompt.config import ModelConfig
from tests.generation.builders import asked
from tests.generation.endpoint import SSE_HEAD, Behaviour, Endpoint, Exchange, endpoint, event

ONCE = Retries(attempts=1)


@asynccontextmanager
async def playing(
    behaviour: Behaviour, **settings: Any
) -> AsyncIterator[tuple[OpenAICompatibleProvider, Endpoint]]:
    async with endpoint(behaviour) as server:
        defaults = {"model": "m", "api_key": "sk-secret", "retries": ONCE}
        settings = {"base_url": server.base_url} | defaults | settings
        provider = OpenAICompatibleProvider(OpenAISettings(**settings))
        try:
            yield provider, server
        finally:
            await provider.aclose()


async def read(provider: OpenAICompatibleProvider) -> list[Chunk]:
    return [chunk async for chunk in provider.stream(asked("hi"))]


async def whole(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD + b": a comment\r\n\r\n")
    await exchange.say(role="assistant", content="")
    await exchange.say(reasoning_content="hm")
    await exchange.say(content="one ")
    await exchange.say(content="zwei é 你")
    await exchange.finish(usage=(5, 2))


async def test_a_whole_answer_in_order_with_its_usage() -> None:
    async with playing(whole) as (provider, server):
        model = ModelConfig(temperature=0.5)
        got = [chunk async for chunk in provider.stream(asked("hi", "and", model=model))]
    assert got == [ReasoningChunk("hm"), TextChunk("one "), TextChunk("zwei é 你"), UsageChunk(5, 2)]
    (exchange,) = server.exchanges
    assert exchange.headers["authorization"] == "Bearer sk-secret"
    assert exchange.headers["accept-encoding"] == "identity"
    assert "openai-organization" not in exchange.headers
    assert exchange.body == {
        "model": "m",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "so be it"},
            {"role": "user", "content": "and"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
    }


async def test_an_answer_that_arrives_byte_by_byte_is_the_same() -> None:
    async def split(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        delta = {"choices": [{"index": 0, "delta": {"content": "é你"}, "finish_reason": "stop"}]}
        for byte in b"data: " + json.dumps(delta, ensure_ascii=False).encode() + b"\r\n\r\n":
            await exchange.send(bytes([byte]))
            await asyncio.sleep(0)

    async with playing(split) as (provider, _):
        assert await read(provider) == [TextChunk("é你")]


async def test_an_answer_cut_by_its_length_is_an_ordinary_end() -> None:
    async def cut(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        await exchange.say(content="one")
        await exchange.finish("length")

    async with playing(cut) as (provider, _):
        assert await read(provider) == [TextChunk("one")]


@pytest.mark.parametrize(
    "usage", [{}, {"prompt_tokens": -1, "completion_tokens": 2}, {"prompt_tokens": "1"}, 7]
)
async def test_a_usage_that_makes_no_sense_is_none(usage: Any) -> None:
    async def odd(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        await exchange.say(content="one")
        await exchange.finish()
        await exchange.send(event({"choices": [], "usage": usage}))

    async with playing(odd) as (provider, _):
        assert await read(provider) == [TextChunk("one")]


async def test_after_the_answer_is_whole_silence_costs_the_usage_only() -> None:
    async def silent(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        await exchange.say(content="one")
        await exchange.send(event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
        await exchange.client_gone()

    async with playing(silent, timeouts=Timeouts(between_tokens=0.05)) as (provider, _):
        assert await read(provider) == [TextChunk("one")]


async def start(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.say(content="one")
    await exchange.client_gone()


async def test_closing_the_stream_closes_the_connection() -> None:
    async with playing(start) as (provider, server):
        async with aclosing(provider.stream(asked("hi"))) as stream:
            assert await anext(stream) == TextChunk("one")
        await (await server.asked()).client_gone()


async def test_cancelling_the_reader_closes_the_connection() -> None:
    async with playing(start) as (provider, server):
        reading = asyncio.create_task(read(provider))
        exchange = await server.asked()
        reading.cancel()
        await asyncio.wait({reading})
        assert reading.cancelled()
        await exchange.client_gone()


async def test_many_streams_at_once_do_not_mix() -> None:
    async def echo(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        for _ in range(20):
            await exchange.say(content=exchange.body["messages"][-1]["content"])
        await exchange.finish()

    async with playing(echo) as (provider, _):

        async def ask(text: str) -> set[str]:
            return {c.text async for c in provider.stream(asked(text)) if isinstance(c, TextChunk)}

        names = [f"n{n}" for n in range(20)]
        assert await asyncio.gather(*map(ask, names)) == [{name} for name in names]


# --- errors ------------------------------------------------------------------------------------


async def fault(behaviour: Behaviour, **settings: Any) -> tuple[ProviderError, Endpoint]:
    async with playing(behaviour, **settings) as (provider, server):
        with pytest.raises(ProviderError) as caught:
            await read(provider)
    text = str(caught.value)
    assert "sk-secret" not in text
    assert "SECRET" not in text
    assert server.base_url not in text
    return caught.value, server


def status(code: int) -> Callable[[Exchange], Awaitable[None]]:
    async def answer(exchange: Exchange) -> None:
        # The length is a lie: the body must not be waited for.
        head = (
            f"HTTP/1.1 {code} Whatever\r\nContent-Length: 1000\r\nLocation: http://127.0.0.1:1/SECRET\r\n\r\n"
        )
        await exchange.send(head.encode() + b'{"error": {"message": "SECRET"}}')
        await exchange.client_gone()

    return answer


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (500, FailureReason.PROVIDER_UNAVAILABLE),
        (503, FailureReason.PROVIDER_UNAVAILABLE),
        (429, FailureReason.PROVIDER_UNAVAILABLE),
        (400, FailureReason.PROVIDER_INVALID),
        (401, FailureReason.PROVIDER_INVALID),
        (404, FailureReason.PROVIDER_INVALID),
        (302, FailureReason.PROVIDER_INVALID),
        (204, FailureReason.PROVIDER_INVALID),
    ],
)
async def test_error_statuses_are_mapped_after_one_attempt(code: int, reason: FailureReason) -> None:
    error, server = await fault(status(code))
    assert error.reason == reason
    assert len(server.exchanges) == 1


async def test_nobody_listens() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{reserved.getsockname()[1]}/v1"
        provider = OpenAICompatibleProvider(OpenAISettings(base_url=base_url, model="m", retries=ONCE))
        with pytest.raises(ProviderError) as caught:
            await read(provider)
        await provider.aclose()
    assert caught.value.reason == FailureReason.PROVIDER_UNAVAILABLE


async def test_a_compressed_answer_is_refused() -> None:
    async def compressed(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"))
        await exchange.client_gone()

    assert (await fault(compressed))[0].reason == FailureReason.PROVIDER_INVALID


async def test_a_line_without_end_is_cut_early() -> None:
    async def flood(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD + b"data: ")
        while True:
            await exchange.send(b"x" * 65_536)

    error, server = await fault(flood, max_event_bytes=100_000)
    assert error.reason == FailureReason.PROVIDER_INVALID
    # What left the server is what the bound lets through and what the sockets held.
    assert server.exchanges[0].sent < 20_000_000


async def test_an_event_of_many_lines_without_end_is_cut_early() -> None:
    async def flood(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        while True:
            await exchange.send(b"data: x\n" * 8_000)

    assert (await fault(flood, max_event_bytes=100_000))[0].reason == FailureReason.PROVIDER_INVALID


async def test_an_answer_without_end_meets_the_limit() -> None:
    async def flood(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        while True:
            await exchange.say(content="x")

    assert (await fault(flood, max_response_bytes=100_000))[0].reason == FailureReason.LIMIT


async def test_an_answer_that_goes_on_too_long_meets_the_total_time() -> None:
    async def slow(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        while not await exchange.client_gone_within(0.01):
            await exchange.say(content="x")

    error, _ = await fault(slow, timeouts=Timeouts(between_tokens=5, total=0.2))
    assert error.reason == FailureReason.PROVIDER_TIMEOUT
