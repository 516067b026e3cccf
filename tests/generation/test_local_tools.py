"""Tool calls of the local model: what it is told, what it may write, and how that is read."""

import json
from typing import Any

import pytest

from kernel.generation.local_tools import AnswerReader, answer_schema, as_text, constrained
from kernel.generation.provider import ChatRequest, FailureReason, ProviderError, ToolSpec
from kernel.prompt.config import ModelConfig
from kernel.tree.message import File, Message, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import Role
from tests.generation.builders import said

DICE = ToolSpec(
    "dice", "Rolls.", '{"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {}}}'
)
NOW = ToolSpec("now")
REQUEST = ChatRequest((said(Role.USER, "hi"),), ModelConfig(extra_json='{"top_k": 3}'), (DICE, NOW))


def test_calls_and_results_become_texts_and_all_else_stays() -> None:
    file = File("image/png", uri="x")
    request = ChatRequest(
        (
            Message(Role.USER, (Text("roll"), file)),
            Message(Role.ASSISTANT, (Reasoning("hm"), Text("ok "), ToolCall("c1", 'd"', '{"n": 6}'))),
            Message(Role.TOOL, (ToolResult("c1", "4"), ToolResult("c9", "no", is_error=True))),
        )
    )
    assert as_text(request).messages == (
        Message(Role.USER, (Text("roll"), file)),
        Message(
            Role.ASSISTANT,
            (Reasoning("hm"), Text("ok "), Text('{"tool": "d\\"", "arguments": {"n": 6}}')),
        ),
        Message(Role.USER, (Text('The tool d" answered: 4\n'), Text("The tool  failed: no\n"))),
    )


def test_a_request_without_tools_stays_plain() -> None:
    plain = ChatRequest((said(Role.USER, "hi"),), ModelConfig(extra_json='{"top_k": 3}'))
    assert constrained(plain) == (plain, None)
    request, reader = constrained(
        ChatRequest(plain.messages, ModelConfig(extra_json='{"tool_choice": "none"}'), (NOW,))
    )
    assert (request.tools, request.model.extra_json, reader) == ((), None, None)


def test_a_request_with_tools_says_so_and_asks_for_the_schema() -> None:
    request, reader = constrained(REQUEST)
    assert isinstance(reader, AnswerReader)
    assert request.tools == ()
    told, *rest = request.messages
    assert tuple(rest) == REQUEST.messages
    assert told.role is Role.SYSTEM
    assert "- dice: Rolls. Arguments: {" in told.text
    extra = json.loads(request.model.extra_json or "")
    assert extra["top_k"] == 3
    assert extra["response_format"]["json_schema"]["schema"] == answer_schema((DICE, NOW), "auto")


def kinds(choice: Any) -> list[str]:
    """The names of the tools that may be called; `-` for an answer."""
    schema = answer_schema((DICE, NOW), choice)
    assert {f"#/$defs/{name}" for name in schema["$defs"]} == {
        kind["properties"]["arguments"]["$ref"] for kind in schema["anyOf"] if "tool" in kind["properties"]
    }
    return [kind["properties"].get("tool", {"const": "-"})["const"] for kind in schema["anyOf"]]


def test_the_choice_says_what_may_be_written() -> None:
    assert kinds("auto") == ["-", "dice", "now"]
    assert kinds("required") == ["dice", "now"]
    assert kinds({"type": "function", "function": {"name": "now"}}) == ["now"]
    with pytest.raises(ProviderError, match="tool_choice") as caught:
        kinds({"type": "function", "function": {"name": "then"}})
    assert caught.value.reason == FailureReason.PROVIDER_INVALID


def test_what_a_schema_refers_to_within_itself_moves_with_it() -> None:
    schema = answer_schema((NOW, DICE), "required")
    assert schema["$defs"]["tool1"]["properties"] == {"n": {"$ref": "#/$defs/tool1/$defs/n"}}
    assert schema["$defs"]["tool0"] == {"type": "object", "properties": {}}


def read(text: str, size: int = 1) -> tuple[list[str], AnswerReader]:
    reader = AnswerReader()
    pieces = [reader.read(text[at : at + size]) for at in range(0, len(text), size)]
    return [piece for piece in pieces if piece], reader


@pytest.mark.parametrize("size", [1, 2, 3, 1_000])
def test_an_answer_is_read_as_it_is_written(size: int) -> None:
    words = 'say "hi"\\ \u00e9 \n \U0001f600 end'
    for ascii_only in (True, False):
        pieces, reader = read(json.dumps({"answer": words}, indent=2, ensure_ascii=ascii_only), size)
        assert "".join(pieces) == words
        assert len(pieces) > 1 or size == 1_000
        assert reader.call() is None


def test_an_answer_that_is_cut_stands_as_far_as_it_came() -> None:
    for text, words in [('{"answer": "on', "on"), ('{"answer": "a\\u00', "a"), ('{"answer": "a\\ud83d', "a")]:
        pieces, reader = read(text)
        assert ("".join(pieces), reader.call()) == (words, None)


def test_what_no_text_can_hold_is_marked() -> None:
    pieces, _ = read('{"answer": "a\\u0000b\\ud83dc\\ude00d"}')
    assert "".join(pieces) == "a\ufffdb\ufffdc\ufffdd"


def test_a_call_is_read_when_it_is_whole_with_an_id_of_its_own() -> None:
    text = '{\n "tool": "dice",\n "arguments": {"n": 9007199254740993, "m": 1.0}\n}'
    found = [read(text)[1].call() for _ in range(2)]
    assert [call and (call.name, call.arguments_json) for call in found] == [
        ("dice", '{"n": 9007199254740993, "m": 1.0}')
    ] * 2
    assert len({call.call_id for call in found if call}) == 2


@pytest.mark.parametrize("text", ["", "{", '{"tool": "dice", "arg', '{"tool": "dice", "arguments": {"n": 1}'])
def test_a_call_that_is_cut_is_none(text: str) -> None:
    pieces, reader = read(text)
    assert pieces == []
    with pytest.raises(ProviderError) as caught:
        reader.call()
    assert caught.value.reason == FailureReason.LIMIT
