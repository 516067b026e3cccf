"""Bad input 48: whatever the provider does, the stream ends with its reason, and memory stays."""

import re
from pathlib import Path
from typing import Any

import pytest

from kernel.generation.openai_calls import MAX_CALL_BYTES
from kernel.generation.openai_compatible import OpenAICompatibleProvider, OpenAISettings, Timeouts
from kernel.generation.provider import Chunk, ProviderError, TextChunk
from kernel.generation.retries import Retries
from tests.generation.builders import asked
from tests.generation.endpoint import SSE_HEAD, Behaviour, Endpoint, Exchange, endpoint, event

QUICK = Timeouts(connect=5, first_token=0.3, between_tokens=0.3, total=20)
PATIENT = Timeouts(connect=5, first_token=20, between_tokens=20, total=60)
_MIB = 1024 * 1024


async def never_answers(exchange: Exchange) -> None:
    await exchange.client_gone()


async def answers_with_headers_only(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.client_gone()


async def trickles(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    for byte in event({"choices": [{"index": 0, "delta": {"content": "never seen"}}]}) * 100:
        if await exchange.client_gone_within(0.02):
            return
        await exchange.send(bytes([byte]))


async def keeps_alive_only(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.say(content="one")
    while not await exchange.client_gone_within(0.02):
        await exchange.send(b": still here\n\n")


async def falls_silent(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.say(content="one")
    await exchange.client_gone()


async def closes_in_mid_stream(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.say(content="one")


async def dies_after_500_tokens(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    for _ in range(500):
        await exchange.say(content="t")


async def breaks_a_chunked_body(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked"))
    data = event({"choices": [{"index": 0, "delta": {"content": "one"}, "finish_reason": None}]})
    await exchange.send(b"%x\r\n%s\r\nff\r\n" % (len(data), data))


async def fails_and_streams(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 500 Oops\r\nContent-Type: text/event-stream\r\n\r\n")
    await exchange.say(content="not to be read")
    await exchange.client_gone()


async def is_no_http(exchange: Exchange) -> None:
    await exchange.send(b"\x00\xff garbage\r\n\r\n")


async def reports_an_error_in_mid_stream(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.say(content="one")
    await exchange.send(event({"error": {"message": "SECRET", "code": 500}}))
    await exchange.client_gone()


async def answers_with_a_page(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<html>\n<p>SECRET\n</html>\n\n")


def sends(data: bytes) -> Behaviour:
    async def behaviour(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        await exchange.say(content="one")
        await exchange.send(data)
        await exchange.client_gone()

    return behaviour


def choice(**fields: Any) -> bytes:
    return event({"choices": [fields]})


def calls(*pieces: Any) -> Behaviour:
    return sends(choice(index=0, delta={"tool_calls": list(pieces)}, finish_reason="tool_calls"))


def call(index: Any = 0, id: Any = "a", name: Any = "f", arguments: Any = "{}") -> dict[str, Any]:
    return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}


CASES: dict[str, tuple[Behaviour, str, str]] = {
    "never answers": (never_answers, "PROVIDER_TIMEOUT", ""),
    "headers only": (answers_with_headers_only, "PROVIDER_TIMEOUT", ""),
    "byte by byte": (trickles, "PROVIDER_TIMEOUT", ""),
    "comments only": (keeps_alive_only, "PROVIDER_TIMEOUT", "one"),
    "silent": (falls_silent, "PROVIDER_TIMEOUT", "one"),
    "closed": (closes_in_mid_stream, "PROVIDER_UNAVAILABLE", "one"),
    "dies after 500 tokens": (dies_after_500_tokens, "PROVIDER_UNAVAILABLE", "t" * 500),
    "broken body": (breaks_a_chunked_body, "PROVIDER_UNAVAILABLE", "one"),
    "500 then stream": (fails_and_streams, "PROVIDER_UNAVAILABLE", ""),
    "no HTTP": (is_no_http, "PROVIDER_UNAVAILABLE", ""),
    "error event": (reports_an_error_in_mid_stream, "PROVIDER_UNAVAILABLE", "one"),
    "a web page": (answers_with_a_page, "PROVIDER_INVALID", ""),
    "no UTF-8": (sends(b'data: {"choices": "\xff\xfe"}\n\n'), "PROVIDER_INVALID", "one"),
    "no JSON": (sends(b"data: {nonsense SECRET\n\n"), "PROVIDER_INVALID", "one"),
    "deep JSON": (sends(b"data: " + b"[" * 100_000 + b"\n\n"), "PROVIDER_INVALID", "one"),
    "long number": (sends(b'data: {"choices": ' + b"9" * 5_000 + b"}\n\n"), "PROVIDER_INVALID", "one"),
    "a list": (sends(b"data: [1]\n\n"), "PROVIDER_INVALID", "one"),
    "a number": (sends(b"data: 1\n\n"), "PROVIDER_INVALID", "one"),
    "null": (sends(b"data: null\n\n"), "PROVIDER_INVALID", "one"),
    "no choices": (sends(event({"object": "x"})), "PROVIDER_INVALID", "one"),
    "choices of text": (sends(event({"choices": "x"})), "PROVIDER_INVALID", "one"),
    "text is a number": (sends(choice(index=0, delta={"content": 1})), "PROVIDER_INVALID", "one"),
    "text is a list": (sends(choice(index=0, delta={"content": ["x"]})), "PROVIDER_INVALID", "one"),
    "half a surrogate pair": (sends(choice(index=0, delta={"content": "\ud800"})), "PROVIDER_INVALID", "one"),
    "NUL": (sends(choice(index=0, delta={"reasoning": "a\0"})), "PROVIDER_INVALID", "one"),
    "duplicate call ids": (calls(call(), call(1)), "PROVIDER_INVALID", "one"),
    "two ids for a call": (calls(call(), call(id="b")), "PROVIDER_INVALID", "one"),
    "two names for a call": (calls(call(), call(name="g")), "PROVIDER_INVALID", "one"),
    "a call without an id": (calls(call(id="")), "PROVIDER_INVALID", "one"),
    "a call without a name": (calls(call(name=None)), "PROVIDER_INVALID", "one"),
    "a call without an index": (calls(call(None)), "PROVIDER_INVALID", "one"),
    "a call at half an index": (calls(call(0.5)), "PROVIDER_INVALID", "one"),
    "a call below all": (calls(call(-1)), "PROVIDER_INVALID", "one"),
    "a call beyond the last": (calls(call(10**9)), "PROVIDER_INVALID", "one"),
    "a call that is a number": (calls(7), "PROVIDER_INVALID", "one"),
    "calls that are no list": (sends(choice(index=0, delta={"tool_calls": "x"})), "PROVIDER_INVALID", "one"),
    "an id that is a number": (calls(call(id=7)), "PROVIDER_INVALID", "one"),
    "arguments that are an object": (calls(call(arguments={})), "PROVIDER_INVALID", "one"),
    "NUL in arguments": (calls(call(arguments="\0")), "PROVIDER_INVALID", "one"),
    "half a pair in a name": (calls(call(name="\udc00")), "PROVIDER_INVALID", "one"),
    "an endless id": (calls(call(id="x" * 257)), "LIMIT", "one"),
    "a call cut by its length": (
        sends(choice(index=0, delta={"tool_calls": [call(arguments='{"a')]}, finish_reason="length")),
        "LIMIT",
        "one",
    ),
}


async def read_into(got: list[Chunk], provider: OpenAICompatibleProvider) -> None:
    async for chunk in provider.stream(asked("hi")):
        got.append(chunk)


async def ends(
    behaviour: Behaviour, timeouts: Timeouts, **settings: Any
) -> tuple[ProviderError, list[Chunk], Endpoint]:
    """How a stream ends, and the chunks before."""
    got: list[Chunk] = []
    async with endpoint(behaviour) as server:
        retries = Retries(attempts=2, first_seconds=0.001)
        options = OpenAISettings(server.base_url, model="m", timeouts=timeouts, retries=retries, **settings)
        provider = OpenAICompatibleProvider(options)
        with pytest.raises(ProviderError) as caught:
            await read_into(got, provider)
        await provider.aclose()
    return caught.value, got, server


@pytest.mark.parametrize("case", CASES)
async def test_bad_input_48(case: str) -> None:
    behaviour, reason, partial = CASES[case]
    error, got, server = await ends(behaviour, QUICK)
    assert error.reason == reason
    assert "SECRET" not in error.message
    assert "".join(chunk.text for chunk in got if isinstance(chunk, TextChunk)) == partial
    # Nothing but text came through, and what had begun was not begun again.
    assert all(isinstance(chunk, TextChunk) for chunk in got)
    assert not partial or len(server.exchanges) == 1


# --- floods: sent until the client cuts them off -----------------------------------------------


def flood(*pieces: bytes) -> Behaviour:
    """The first pieces once, the last one for ever."""

    async def behaviour(exchange: Exchange) -> None:
        for piece in pieces[:-1]:
            await exchange.send(piece)
        while True:
            await exchange.send(pieces[-1])

    return behaviour


LONG = b"x" * 65_536
ARGUMENTS = choice(index=0, delta={"tool_calls": [{"index": 0, "function": {"arguments": "x" * 8_000}}]})
FLOODS: dict[str, tuple[Behaviour, str]] = {
    "a line without end": (flood(SSE_HEAD + b"data: ", LONG), "PROVIDER_INVALID"),
    "a comment without end": (flood(SSE_HEAD + b": ", LONG), "PROVIDER_INVALID"),
    "lines without an event": (flood(SSE_HEAD, b"data: x\n" * 8_000), "PROVIDER_INVALID"),
    "comments": (flood(SSE_HEAD, b": still here" + LONG + b"\n\n"), "LIMIT"),
    "empty events": (flood(SSE_HEAD, choice(index=0, delta={}, pad="x" * 8_000)), "LIMIT"),
    "words": (flood(SSE_HEAD, choice(index=0, delta={"content": "x" * 8_000})), "LIMIT"),
    "arguments": (flood(SSE_HEAD + choice(index=0, delta={"tool_calls": [call()]}), ARGUMENTS), "LIMIT"),
    "a head without end": (flood(b"HTTP/1.1 200 OK\r\n", b"a: b\r\n" * 8_000), "PROVIDER_UNAVAILABLE"),
    "a status without end": (flood(b"HTTP/1.1 200 ", LONG), "PROVIDER_UNAVAILABLE"),
    "an error without end": (flood(b"HTTP/1.1 400 Bad\r\n\r\n", LONG), "PROVIDER_INVALID"),
    "after the end": (flood(SSE_HEAD + b"data: [DONE]\n\n", LONG), "PROVIDER_INVALID"),
}


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def memory(name: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at most since it was reset."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


@pytest.mark.parametrize("case", FLOODS)
async def test_bad_input_48_floods_are_cut_off_in_bounded_memory(case: str) -> None:
    behaviour, reason = FLOODS[case]
    reset_peak()
    before = memory("VmRSS")
    error, _, server = await ends(behaviour, PATIENT, max_response_bytes=8 * _MIB, max_event_bytes=_MIB)
    assert error.reason == reason
    # What left the server is what the bounds let through, twice for a second attempt, and what sockets hold.
    assert sum(exchange.sent for exchange in server.exchanges) < 40 * _MIB
    assert memory("VmHWM") - before < 64 * _MIB


async def test_bad_input_48_arguments_end_at_their_own_bound() -> None:
    behaviour, _ = FLOODS["arguments"]
    _, got, server = await ends(behaviour, PATIENT)
    assert got == []
    assert server.exchanges[0].sent > MAX_CALL_BYTES
