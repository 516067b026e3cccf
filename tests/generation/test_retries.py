"""Another attempt: when, after how long, and never after the first token."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from datetime import UTC, datetime

import pytest

from kernel.generation.openai_compatible import OpenAICompatibleProvider, OpenAISettings, Timeouts
from kernel.generation.provider import FailureReason, ProviderError, TextChunk, unavailable
from kernel.generation.retries import Passing, Retries, retry_after
from tests.generation.builders import PATIENCE, asked
from tests.generation.endpoint import SSE_HEAD, Behaviour, Endpoint, Exchange, endpoint

NOW = datetime(2026, 12, 1, 10, 0, 0, tzinfo=UTC)
AT_ONCE = Retries(attempts=3, first_seconds=0.001)


def waits(retries: Retries, attempt: int, asked_for: float | None = None) -> set[float | None]:
    return {retries.wait(attempt, Passing(unavailable("x"), asked_for)) for _ in range(200)}


def test_waits_double_up_to_a_bound_and_are_drawn_from_its_upper_half() -> None:
    retries = Retries(attempts=9, first_seconds=0.5, longest_seconds=3.0)
    for attempt, bound in enumerate([0.5, 1.0, 2.0, 3.0, 3.0], start=1):
        drawn = [wait for wait in waits(retries, attempt) if wait is not None]
        assert all(bound / 2 <= wait <= bound for wait in drawn)
        assert len(drawn) > 100, "no two of them at the same time"
    assert waits(retries, 9) == {None}


def test_what_the_provider_asks_for_is_the_least_and_too_much_is_not_waited_for() -> None:
    retries = Retries(attempts=2, first_seconds=0.5, longest_asked=20)
    assert all(wait is not None and 20.25 <= wait <= 20.5 for wait in waits(retries, 1, 20.0))
    assert waits(retries, 1, 20.5) == {None}


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        (" 7 ", 7.0),
        ("Tue, 01 Dec 2026 10:00:09 GMT", 9.0),
        ("Tue, 01 Dec 2026 09:00:00 GMT", 0.0),
        ("Tue, 01 Dec 2026 10:00:09 -0000", None),
        *((text, None) for text in ("", "soon", "-1", "1e9", "9" * 10, "1.5", "\u0663", "Tue, 99 Dec 2026")),
        ("Tue, 01 Dec 2026 10:00:09 +99999999999999999999", None),
        ("Tue, 01 Dec 99999999999999 10:00:09 GMT", None),
        ("1" * 100_000, None),
    ],
)
def test_a_retry_after_is_seconds_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, NOW) == seconds


@asynccontextmanager
async def playing(
    behaviour: Behaviour, retries: Retries = AT_ONCE, **settings: object
) -> AsyncIterator[tuple[OpenAICompatibleProvider, Endpoint]]:
    async with endpoint(behaviour) as server:
        options = OpenAISettings(server.base_url, model="m", retries=retries, **settings)  # type: ignore[arg-type]
        provider = OpenAICompatibleProvider(options)
        yield provider, server
        await provider.aclose()


async def read(provider: OpenAICompatibleProvider) -> str:
    return "".join([c.text async for c in provider.stream(asked("hi")) if isinstance(c, TextChunk)])


async def answers(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.say(content="whole")
    await exchange.finish()


def after(failures: Sequence[bytes]) -> Behaviour:
    """Sends each of them to one request, then answers. Nothing: the connection is closed."""
    left = list(failures)

    async def behaviour(exchange: Exchange) -> None:
        if left:
            await exchange.send(left.pop(0))
        else:
            await answers(exchange)

    return behaviour


def status(code: int, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {code} No", "Content-Length: 0", *headers, "", ""]).encode()


ROLE = SSE_HEAD + b'data: {"choices": [{"index": 0, "delta": {"role": "assistant"}}]}\n\n'


@pytest.mark.parametrize(
    "failures",
    [
        *([status(code)] for code in (429, 500, 502, 503, 504)),
        [b"", b""],
        [status(503), b""],
        [b"garbage\r\n\r\n"],
        [ROLE],
        [status(429, "Retry-After: 0")],
        [status(429, "Retry-After: \u00e9")],
    ],
)
async def test_what_passes_is_tried_again_before_the_first_token(failures: list[bytes]) -> None:
    async with playing(after(failures)) as (provider, server):
        assert await read(provider) == "whole"
    assert len(server.exchanges) == len(failures) + 1


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422, 302, 501])
async def test_what_does_not_pass_is_not_tried_again(code: int) -> None:
    async with playing(after([status(code)])) as (provider, server):
        with pytest.raises(ProviderError):
            await read(provider)
    assert len(server.exchanges) == 1


async def test_attempts_are_counted() -> None:
    async with playing(after([status(503)] * 3)) as (provider, server):
        with pytest.raises(ProviderError) as caught:
            await read(provider)
    assert caught.value.reason == FailureReason.PROVIDER_UNAVAILABLE
    assert len(server.exchanges) == 3


async def test_nothing_is_tried_again_after_the_first_token() -> None:
    async def breaks_off(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        await exchange.say(reasoning_content="hm")

    async with playing(breaks_off) as (provider, server):
        with pytest.raises(ProviderError):
            await read(provider)
    assert len(server.exchanges) == 1


@pytest.mark.parametrize(
    ("retries", "header", "timeouts"),
    [
        (AT_ONCE, "Retry-After: 21", Timeouts()),
        (Retries(first_seconds=30.0, longest_seconds=30.0), "X: y", Timeouts(first_token=10.0)),
        (AT_ONCE, "Retry-After: 10", Timeouts(first_token=60.0, total=5.0)),
    ],
)
async def test_a_wait_beyond_the_time_for_a_first_token_is_not_begun(
    retries: Retries, header: str, timeouts: Timeouts
) -> None:
    async with playing(after([status(429, header)]), retries, timeouts=timeouts) as (provider, server):
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(ProviderError) as caught:
                await read(provider)
    assert caught.value.reason == FailureReason.PROVIDER_UNAVAILABLE
    assert len(server.exchanges) == 1


async def test_all_attempts_share_the_time_for_a_first_token() -> None:
    async def refuses_then_hangs(exchange: Exchange) -> None:
        if len(server.exchanges) == 1:
            await exchange.send(status(503))
        else:
            await exchange.client_gone()

    async with playing(refuses_then_hangs, timeouts=Timeouts(first_token=0.2)) as (provider, server):
        with pytest.raises(ProviderError) as caught:
            await read(provider)
    assert caught.value.reason == FailureReason.PROVIDER_TIMEOUT
    assert len(server.exchanges) == 2


# --- how many at once --------------------------------------------------------------------------


async def starts(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.say(content="one")
    await exchange.client_gone()


async def test_streams_beyond_the_limit_wait_and_those_beyond_the_queue_are_refused() -> None:
    async with playing(starts, streams=2, waiting=1) as (provider, server), AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(aclosing(provider.stream(asked("hi")))) for _ in range(3)]
        for stream in streams[:2]:
            assert await anext(stream) == TextChunk("one")
        third = asyncio.ensure_future(anext(streams[2]))
        await asyncio.sleep(0)
        with pytest.raises(ProviderError, match="STEMMA_PROVIDER_QUEUE") as caught:
            await read(provider)
        assert caught.value.reason == FailureReason.PROVIDER_UNAVAILABLE
        assert not third.done()
        await streams[0].aclose()
        assert await third == TextChunk("one")
    assert len(server.exchanges) == 3


async def test_a_turn_that_does_not_come_up_in_time_is_unavailable() -> None:
    hurried = Timeouts(first_token=0.1)
    async with (
        playing(starts, streams=1, waiting=1, timeouts=hurried) as (provider, _),
        aclosing(provider.stream(asked("hi"))) as stream,
    ):
        assert await anext(stream) == TextChunk("one")
        with pytest.raises(ProviderError, match="STEMMA_PROVIDER_STREAMS") as caught:
            await read(provider)
    assert caught.value.reason == FailureReason.PROVIDER_UNAVAILABLE


async def test_streams_that_end_badly_give_their_place_back() -> None:
    async with playing(after([status(400)] * 5), streams=1, waiting=0) as (provider, _):
        for _ in range(5):
            with pytest.raises(ProviderError):
                await read(provider)
        reading = asyncio.create_task(read(provider))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait({reading})
        assert await read(provider) == "whole"
