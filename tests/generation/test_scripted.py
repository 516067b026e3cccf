"""The scripted provider: what it says without a script, and what a script can make it do."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

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
from kernel.generation.script import Script, ScriptError, load_script
from kernel.generation.scripted import ScriptedProvider
from kernel.tree.message import Message, ToolCall, ToolResult
from kernel.tree.model import Role
from tests.generation.builders import Gate, asked


def provider(*replies: dict[str, Any], **options: Any) -> ScriptedProvider:
    return ScriptedProvider(Script.model_validate({"replies": list(replies)}), **options)


async def chunks(provider: ScriptedProvider, request: ChatRequest) -> list[Chunk]:
    return [chunk async for chunk in provider.stream(request)]


async def answer(provider: ScriptedProvider, *texts: str) -> str:
    return "".join(c.text for c in await chunks(provider, asked(*texts)) if isinstance(c, TextChunk))


async def test_without_a_script_it_says_what_it_is_and_what_it_was_sent() -> None:
    got = await chunks(ScriptedProvider(), asked("fifty", "and\nthen", "so"))
    text = "".join(chunk.text for chunk in got if isinstance(chunk, TextChunk))
    assert text.splitlines() == [
        "I am the scripted provider, not a model.",
        "You said: so",
        "User messages I was sent: 3",
        "1. fifty",
        "2. and",
        "then",
        "3. so",
    ]
    assert len(got) > 10
    assert got[-1] == UsageChunk(tokens_in=4 + 6, tokens_out=len(got) - 1)
    assert got == await chunks(ScriptedProvider(), asked("fifty", "and\nthen", "so"))


async def test_without_any_user_message_it_still_answers() -> None:
    got = await chunks(ScriptedProvider(), ChatRequest(()))
    assert "User messages I was sent: 0" in "".join(c.text for c in got if isinstance(c, TextChunk))


async def test_long_messages_are_cut_in_the_echo() -> None:
    text = await answer(ScriptedProvider(), "x" * 100_000)
    assert len(text) < 10_000
    assert "(100000 characters)" in text


async def test_replies_are_cycled_and_matched_by_the_last_user_text() -> None:
    scripted = provider({"text": "a"}, {"when": "who", "text": "me"}, {"text": "b"})
    said = [await answer(scripted, text) for text in ("x", "who", "y", "who", "z")]
    assert said == ["a", "me", "b", "me", "a"]


async def test_a_script_of_matches_only_falls_back_to_the_default_answer() -> None:
    scripted = provider({"when": "who", "text": "me"})
    assert (await answer(scripted, "else")).startswith("I am the scripted provider")


async def test_everything_a_reply_can_set() -> None:
    scripted = provider(
        {
            "deltas": ["o", "ne"],
            "reasoning": "hm hm",
            "delay_ms": 1,
            "usage": {"tokens_in": 5, "tokens_out": 6},
        }
    )
    assert await chunks(scripted, asked("x")) == [
        ReasoningChunk("hm "),
        ReasoningChunk("hm"),
        TextChunk("o"),
        TextChunk("ne"),
        UsageChunk(5, 6),
    ]


async def test_it_calls_tools_after_its_text_with_ids_that_no_call_before_has() -> None:
    calls = [
        {"name": "dice", "arguments": {"sides": 6}},
        {"name": "now"},
        {"name": "x", "arguments_json": "{no", "call_id": "twice"},
        {"name": "y", "call_id": "twice"},
    ]
    scripted = provider({"text": "ok", "tool_calls": calls})
    earlier = Message(Role.ASSISTANT, (ToolCall("call_1", "dice", "{}"),))
    request = ChatRequest((earlier, *asked("x").messages))
    assert (await chunks(scripted, request))[:-1] == [
        TextChunk("ok"),
        ToolCallChunk("call_2", "dice", '{"sides": 6}'),
        ToolCallChunk("call_3", "now", "{}"),
        ToolCallChunk("twice", "x", "{no"),
        ToolCallChunk("twice", "y", "{}"),
    ]


async def test_calls_without_a_text_are_sent_alone_and_count_as_deltas() -> None:
    scripted = provider({"tool_calls": [{"name": "a"}, {"name": "b"}], "hang_after": 1})
    stream = scripted.stream(asked("x"))
    assert await anext(stream) == ToolCallChunk("call_1", "a", "{}")
    waiting = asyncio.create_task(anext(stream))  # type: ignore[arg-type]
    await asyncio.wait({waiting}, timeout=0.02)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.wait({waiting})


async def test_it_goes_on_by_how_many_results_follow_the_last_user_message() -> None:
    scripted = provider(
        {"when": "roll", "tool_calls": [{"name": "dice"}]},
        {"when": "roll", "after_results": 1, "tool_calls": [{"name": "dice"}]},
        {"when": "roll", "after_results": 2, "text": "two"},
        {"text": "a"},
        {"text": "b"},
        {"after_results": 1, "text": "c"},
    )

    async def said(text: str, results: int) -> str:
        more = (
            Message(Role.ASSISTANT, (ToolCall("c", "dice", "{}"),)),
            Message(Role.TOOL, (ToolResult("c", "4"),)),
        )
        request = ChatRequest((*more, *asked(text).messages, *more * results))
        got = await chunks(scripted, request)
        return "".join(getattr(c, "text", "") or getattr(c, "name", "") for c in got)

    assert [await said("roll", n) for n in (0, 1, 2, 0)] == ["dice", "dice", "two", "dice"]
    assert [await said(text, n) for text, n in [("x", 0), ("y", 1), ("z", 0), ("y", 1)]] == [
        "a",
        "c",
        "b",
        "c",
    ]
    assert (await said("roll", 3)).startswith("I am the scripted provider")


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("reason", ["PROVIDER_UNAVAILABLE", "PROVIDER_TIMEOUT", "PROVIDER_INVALID", "LIMIT"])
async def test_it_fails_after_as_many_deltas_as_the_script_says(reason: str, after: int) -> None:
    scripted = provider({"text": "one two", "fail": {"reason": reason, "after": after}})
    stream = scripted.stream(asked("x"))
    for word in ["one ", "two"][:after]:
        assert await anext(stream) == TextChunk(word)
    with pytest.raises(ProviderError) as caught:
        await anext(stream)
    assert caught.value.reason == FailureReason(reason)


async def test_it_hangs_where_the_script_says_until_it_is_cancelled() -> None:
    scripted = provider({"text": "one two", "hang_after": 1})
    stream = scripted.stream(asked("x"))
    assert await anext(stream) == TextChunk("one ")
    waiting = asyncio.create_task(anext(stream))  # type: ignore[arg-type]
    await asyncio.wait({waiting}, timeout=0.02)
    assert not waiting.done()
    waiting.cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()


async def test_a_gate_holds_it_before_an_exact_delta() -> None:
    gate = Gate(1)
    stream = provider({"text": "one two"}, gate=gate).stream(asked("x"))
    assert await anext(stream) == TextChunk("one ")
    waiting = asyncio.create_task(anext(stream))  # type: ignore[arg-type]
    await gate.reached.wait()
    assert not waiting.done()
    gate.opened.set()
    assert await waiting == TextChunk("two")
    await stream.aclose()


async def test_requests_are_kept_only_when_asked_for() -> None:
    recording, plain = ScriptedProvider(record=True), ScriptedProvider()
    for scripted in (recording, plain):
        await answer(scripted, "x")
    assert [request.messages[-1].text for request in recording.sent] == ["x"]
    assert plain.sent == []


# --- loading -----------------------------------------------------------------------------------


async def test_a_script_is_read_inline_or_from_a_file(tmp_path: Path) -> None:
    inline = json.dumps({"replies": [{"text": "hi"}], "delay_ms": 0})
    file = tmp_path / "script.json"
    file.write_text(inline)
    assert load_script(inline) == load_script(str(file)) == load_script(f"  {inline}\n")
    assert load_script("") == Script()


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ({"replies": [{"txt": "x"}]}, "replies.0.txt: Extra inputs are not permitted"),
        ({"reply": []}, "reply: Extra inputs"),
        ({"delay_ms": -1}, "delay_ms: Input should be greater than or equal to 0"),
        (
            {"replies": [{"text": "x", "deltas": ["y"]}]},
            "replies.0: Value error, give text or deltas, not both",
        ),
        ({"replies": [{"fail": {"reason": "CRASHED"}}]}, "replies.0.fail.reason: Input should be"),
        ({"replies": [{"fail": {"reason": "LIMIT"}, "hang_after": 1}]}, "give fail or hang_after"),
        ({"replies": [{"deltas": [""]}]}, "replies.0.deltas.0"),
        ({"replies": [{"tool_calls": [{"arguments": {}}]}]}, "replies.0.tool_calls.0.name: Field required"),
        (
            {"replies": [{"tool_calls": [{"name": "x", "arguments": {}, "arguments_json": ""}]}]},
            "give arguments or arguments_json",
        ),
        ({"replies": [{"tool_calls": [{"name": "x", "arguments": []}]}]}, "tool_calls.0.arguments: Input"),
        ({"replies": [{"after_results": -1}]}, "replies.0.after_results"),
        ({"replies": [{"delay_ms": "5"}]}, "replies.0.delay_ms: Input should be a valid integer"),
    ],
)
def test_a_bad_script_is_refused_with_its_place(script: dict[str, Any], says: str) -> None:
    with pytest.raises(ScriptError) as caught:
        load_script(json.dumps(script))
    assert says in str(caught.value)


def test_a_script_that_is_no_json_is_refused() -> None:
    with pytest.raises(ScriptError, match="script: Invalid JSON"):
        load_script("{nonsense")


def test_a_script_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="No such file"):
        load_script(str(tmp_path / "none.json"))
    (tmp_path / "latin").write_bytes(b"{\xe9}")
    with pytest.raises(ScriptError, match="not UTF-8"):
        load_script(str(tmp_path / "latin"))
    (tmp_path / "long").write_bytes(b" " * 1_048_577)
    with pytest.raises(ScriptError, match="more than 1 MiB"):
        load_script(str(tmp_path / "long"))
