"""The checker of the OpenAI message rules accepts what the API takes, and nothing else."""

from typing import Any

import pytest

from tests.support.openai_rules import refusals

HELLO = {"role": "user", "content": "hello"}
SAID = {"role": "assistant", "content": ""}


def call(call_id: str = "c", name: str = "add", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*ids: str, **fields: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [call(one) for one in ids]} | fields


def result(call_id: str, **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": ""} | fields


TEXT, IMAGE = {"type": "text", "text": ""}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}


@pytest.mark.parametrize(
    "messages",
    [
        [HELLO],
        [SAID, SAID, HELLO, HELLO],
        [{"role": "system", "content": "s"}, SAID, {"role": "system", "content": [TEXT]}],
        [HELLO | {"name": "Ann", "content": [TEXT, IMAGE]}],
        [calls("a", "b", content="both"), result("b"), result("a"), SAID],
        [calls("a"), result("a"), calls("a"), result("a")],
        [calls("a", tool_calls=[call("a", arguments="cut {")]), result("a", content=[TEXT])],
    ],
)
def test_what_the_api_takes(messages: list[Any]) -> None:
    assert refusals({"messages": messages}) == []


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], "no messages"),
        ([{"content": "x"}], "0: no such role: None"),
        ([HELLO | {"hidden": True}], "0: unknown fields: ['hidden']"),
        ([HELLO | {"name": "A B"}], "0: name does not fit its pattern"),
        ([HELLO | {"name": "a" * 65}], "0: name does not fit its pattern"),
        ([HELLO | {"content": None}], "0: content: expected a string, got null"),
        ([{"role": "assistant"}], "0: content: expected a string, got null"),
        ([HELLO | {"content": []}], "0: content is neither text nor a list of parts"),
        ([SAID | {"content": [IMAGE]}], "0: assistant messages have no image_url parts"),
        ([HELLO | {"content": [TEXT | {"more": 1}]}], "0: text part is misshapen"),
        ([HELLO, HELLO | {"tool_calls": [call()]}], "1: unknown fields: ['tool_calls']"),
        ([calls(content="x")], "0: tool_calls is no list of calls"),
        ([calls("a", "a"), result("a")], "0: two calls have one id"),
        ([calls(""), result("")], "0: a call's id is no id"),
        ([calls("a" * 41), result("a" * 41)], "0: a call's id is no id"),
        (
            [calls("a", tool_calls=[call("a", name="no name")]), result("a")],
            "0: a function's name does not fit",
        ),
        ([calls("a", tool_calls=[call("a") | {"index": 0}]), result("a")], "0: a call is misshapen"),
        ([calls("a"), result("a") | {"tool_call_id": None}], "1: tool_call_id is no id"),
        ([result("a")], "0: a tool message must follow"),
        ([calls("a"), result("a"), HELLO, result("a")], "3: a tool message must follow"),
        ([calls("a"), result("b"), result("a")], "1: a tool message must follow"),
        ([calls("a"), result("a"), result("a")], "2: duplicate value for tool_call_id"),
        ([calls("a", "b"), result("a")], "2: calls have no tool message: ['b']"),
        ([calls("a"), HELLO, result("a")], "1: calls have no tool message: ['a']"),
        ([calls("a"), calls("b"), result("a"), result("b")], "1: calls have no tool message: ['a']"),
    ],
)
def test_what_the_api_refuses(messages: list[Any], why: str) -> None:
    found = refusals({"messages": messages})
    assert any(one.startswith(why) for one in found), found
