"""Tool calls of an OpenAI-compatible endpoint: what is offered, and how streamed pieces become calls."""

from typing import Any

import pytest

from kernel.generation.openai_compatible import OpenAICompatibleProvider, OpenAISettings
from kernel.generation.openai_messages import request_body
from kernel.generation.provider import ChatRequest, TextChunk, ToolCallChunk, ToolSpec, UsageChunk
from tests.generation.endpoint import SSE_HEAD, Exchange, endpoint

TOOLS = (ToolSpec("dice", "Rolls.", '{"type": "object", "maximum": 9007199254740993}'), ToolSpec("now"))


def piece(index: int, call_id: str | None = None, name: str | None = None, arguments: str = "") -> Any:
    """As servers send them: an id and a name in the first, arguments in all."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"index": index, "function": function} | ({"id": call_id, "type": "function"} if call_id else {})


async def answered(*deltas: dict[str, Any], reason: str = "tool_calls") -> list[Any]:
    async def behaviour(exchange: Exchange) -> None:
        await exchange.send(SSE_HEAD)
        for delta in deltas:
            await exchange.say(**delta)
        await exchange.finish(reason, usage=(3, 4))

    async with endpoint(behaviour) as server:
        provider = OpenAICompatibleProvider(OpenAISettings(server.base_url, model="m"))
        got = [chunk async for chunk in provider.stream(ChatRequest((), tools=TOOLS))]
        await provider.aclose()
    assert got.pop() == UsageChunk(3, 4)
    return got


def test_tools_are_offered_with_what_they_say_of_themselves() -> None:
    assert request_body(ChatRequest((), tools=TOOLS), "m")["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "dice",
                "description": "Rolls.",
                "parameters": {"type": "object", "maximum": 9007199254740993},
            },
        },
        {"type": "function", "function": {"name": "now"}},
    ]


async def test_a_call_in_pieces_is_joined_behind_the_text() -> None:
    got = await answered(
        {"role": "assistant", "content": "well "},
        {"tool_calls": [piece(0, "c1", "dice")]},
        {"tool_calls": [piece(0, arguments='{"si')]},
        {"tool_calls": [piece(0, arguments='des": 6}')]},
    )
    assert got == [TextChunk("well "), ToolCallChunk("c1", "dice", '{"sides": 6}')]


async def test_parallel_calls_come_mixed_and_leave_by_their_index() -> None:
    got = await answered(
        {"tool_calls": [piece(1, "c1", "now"), piece(0, "c0", "dice", "[")]},
        {"tool_calls": [piece(0, arguments="]"), piece(1, arguments="x")]},
    )
    assert got == [ToolCallChunk("c0", "dice", "[]"), ToolCallChunk("c1", "now", "x")]


async def test_an_id_and_a_name_may_be_repeated_and_no_arguments_are_an_empty_object() -> None:
    again = {"tool_calls": [piece(0, "c1", "dice")]}
    assert await answered(again, again, reason="stop") == [ToolCallChunk("c1", "dice", "{}")]


@pytest.mark.parametrize("arguments", ["{", "nonsense", '{"a": NaN}', "[1]"])
async def test_arguments_are_handed_on_as_they_came(arguments: str) -> None:
    got = await answered({"tool_calls": [piece(0, "c1", "unknown", arguments)]})
    assert got == [ToolCallChunk("c1", "unknown", arguments)]


async def test_reasoning_comes_under_either_name() -> None:
    got = await answered({"reasoning": "hm"}, {"reasoning_content": "so", "content": None}, reason="stop")
    assert [chunk.text for chunk in got] == ["hm", "so"]
