"""Bad input 48: whatever the provider does, the run ends FAILED with its reason, and says so."""

from typing import Any

import pytest

from kernel.generation.events import Failed
from kernel.generation.hub import RunHub
from kernel.generation.live import LiveRun
from kernel.generation.openai_compatible import OpenAICompatibleProvider, OpenAISettings, Timeouts
from kernel.generation.runner import run
from tests.generation.builders import STARTED, asked, events_of, texts
from tests.generation.endpoint import SSE_HEAD, Behaviour, Exchange, endpoint, event
from tests.generation.sinks import RecordingSink

QUICK = Timeouts(connect=5, first_token=0.3, between_tokens=0.3, total=20)


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


async def sends_a_line_without_end(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.say(content="one")
    while True:
        await exchange.send(b"x" * 65_536)


async def closes_in_mid_stream(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.say(content="one")


async def breaks_a_chunked_body(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked"))
    data = event({"choices": [{"index": 0, "delta": {"content": "one"}, "finish_reason": None}]})
    await exchange.send(b"%x\r\n%s\r\nff\r\n" % (len(data), data))


async def fails(exchange: Exchange) -> None:
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


def sends(data: bytes) -> Behaviour:
    async def behaviour(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        await exchange.say(content="one")
        await exchange.send(data)
        await exchange.client_gone()

    return behaviour


async def answers_with_a_page(exchange: Exchange) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<html>\n<p>SECRET\n</html>\n\n")


def choice(**fields: Any) -> bytes:
    return event({"choices": [fields]})


CASES: dict[str, tuple[Behaviour, str, str]] = {
    "never answers": (never_answers, "PROVIDER_TIMEOUT", ""),
    "headers only": (answers_with_headers_only, "PROVIDER_TIMEOUT", ""),
    "byte by byte": (trickles, "PROVIDER_TIMEOUT", ""),
    "comments only": (keeps_alive_only, "PROVIDER_TIMEOUT", "one"),
    "silent": (falls_silent, "PROVIDER_TIMEOUT", "one"),
    "line without end": (sends_a_line_without_end, "PROVIDER_INVALID", "one"),
    "closed": (closes_in_mid_stream, "PROVIDER_UNAVAILABLE", "one"),
    "broken body": (breaks_a_chunked_body, "PROVIDER_UNAVAILABLE", "one"),
    "500 then stream": (fails, "PROVIDER_UNAVAILABLE", ""),
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
    "NUL": (sends(choice(index=0, delta={"content": "a\0"})), "PROVIDER_INVALID", "one"),
    "duplicate tool calls and no text": (
        sends(choice(index=0, delta={"tool_calls": [{"index": 0, "id": "a"}, {"index": 1, "id": "a"}]})),
        "PROVIDER_TIMEOUT",
        "one",
    ),
}


@pytest.mark.parametrize("case", CASES)
async def test_bad_input_48(case: str) -> None:
    behaviour, reason, partial = CASES[case]
    sink, live, hub = RecordingSink(), LiveRun("run-1", "floor-1"), RunHub()
    async with endpoint(behaviour) as server:
        settings = OpenAISettings(server.base_url, model="m", timeouts=QUICK, max_event_bytes=300_000)
        provider = OpenAICompatibleProvider(settings)
        hub.start(live, run(live, provider, asked("hi"), sink, started=STARTED, page_id="page-1"))
        events = await events_of(live.subscribe())
        await hub.wait_idle()
        await provider.aclose()
    last = events[-1]
    assert isinstance(last, Failed)
    assert last.reason == reason
    assert "SECRET" not in last.message
    assert "".join(texts(events)) == partial
    assert sink.names == [f"fail {reason}"]
    assert (sink.draft.text, sink.draft.partial) == (partial, True)
