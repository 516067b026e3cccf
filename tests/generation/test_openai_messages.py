"""What the chat completions API is sent for each kind of message and setting."""

from typing import Any

import pytest

from kernel.generation.openai_messages import request_body
from kernel.generation.provider import ChatRequest, FailureReason, ProviderError
from kernel.prompt.config import ModelConfig
from kernel.tree.message import File, Message, Part, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import Role

CALL = ToolCall("c1", "add", '{"a": 1}')
RESULT = ToolResult("c1", "2")
PNG = File("image/png", data=b"\x89PNG")


def sent(role: Role, *parts: Part, name: str = "") -> list[dict[str, Any]]:
    message = Message(role, parts, name=name, metadata={"never": "sent"})
    return list(request_body(ChatRequest((message,)), "m")["messages"])


@pytest.mark.parametrize(
    ("role", "parts", "expected"),
    [
        (Role.SYSTEM, [Text("be "), Text("kind")], [{"role": "system", "content": "be kind"}]),
        (Role.USER, [Text("one "), Text("two")], [{"role": "user", "content": "one two"}]),
        (Role.ASSISTANT, [Text("well")], [{"role": "assistant", "content": "well"}]),
        (Role.ASSISTANT, [Reasoning("hm", "sig"), Text("well")], [{"role": "assistant", "content": "well"}]),
        (Role.ASSISTANT, [Reasoning("hm")], [{"role": "assistant", "content": ""}]),
        (
            Role.ASSISTANT,
            [CALL],
            [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "add", "arguments": '{"a": 1}'},
                        }
                    ],
                }
            ],
        ),
        (
            Role.TOOL,
            [RESULT, ToolResult("c2", "no", is_error=True)],
            [
                {"role": "tool", "tool_call_id": "c1", "content": "2"},
                {"role": "tool", "tool_call_id": "c2", "content": "no"},
            ],
        ),
        (
            Role.USER,
            [Text("see"), File("image/jpeg", uri="https://example.test/a.jpg"), PNG],
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "see"},
                        {"type": "image_url", "image_url": {"url": "https://example.test/a.jpg"}},
                        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                    ],
                }
            ],
        ),
        (
            Role.USER,
            [File("application/pdf", data=b"%PDF", name="a.pdf")],
            [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "file",
                            "file": {
                                "filename": "a.pdf",
                                "file_data": "data:application/pdf;base64,JVBERg==",
                            },
                        }
                    ],
                }
            ],
        ),
    ],
)
def test_each_kind_of_message(role: Role, parts: list[Part], expected: list[dict[str, Any]]) -> None:
    assert sent(role, *parts) == expected


def test_names_are_sent_in_the_letters_that_the_api_allows() -> None:
    (message,) = sent(Role.USER, Text("hi"), name="Ann <the  boss>/" + "x" * 100)
    assert message["name"] == ("Ann_the_boss_" + "x" * 100)[:64]


@pytest.mark.parametrize(
    ("role", "part"),
    [
        (Role.TOOL, Text("x")),
        (Role.USER, CALL),
        (Role.USER, RESULT),
        (Role.SYSTEM, CALL),
        (Role.SYSTEM, PNG),
        (Role.ASSISTANT, PNG),
        (Role.USER, File("application/pdf", uri="https://example.test/a.pdf")),
    ],
)
def test_what_the_api_cannot_say_is_refused_and_never_dropped(role: Role, part: Part) -> None:
    with pytest.raises(ProviderError) as caught:
        sent(role, part)
    assert caught.value.reason == FailureReason.PROVIDER_INVALID


def test_a_model_that_reads_text_only_is_sent_no_file() -> None:
    request = ChatRequest((Message(Role.USER, (PNG,)),))
    with pytest.raises(ProviderError, match="text only"):
        request_body(request, "m", text_only=True)


def test_settings_are_sent_when_they_are_set() -> None:
    model = ModelConfig(name="big", temperature=0.0, top_p=0.5, max_output_tokens=9, stop=("a", "b"), seed=0)
    assert request_body(ChatRequest((), model), "small") == {
        "model": "big",
        "messages": [],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.0,
        "top_p": 0.5,
        "max_tokens": 9,
        "stop": ["a", "b"],
        "seed": 0,
    }
    assert set(request_body(ChatRequest(()), "small")) == {"model", "messages", "stream", "stream_options"}


def test_further_parameters_are_sent_beside_ours_and_never_in_their_place() -> None:
    extra = '{"top_k": 40, "stream": false, "messages": [], "temperature": 2, "big": 9007199254740993}'
    model = ModelConfig(name="big", temperature=0.5, extra_json=extra)
    body = request_body(ChatRequest((), model), "small")
    assert body["extra_body"] == {"top_k": 40, "big": 9007199254740993}
    assert (body["stream"], body["temperature"]) == (True, 0.5)


def test_some_model_must_be_named() -> None:
    with pytest.raises(ProviderError, match="No model is named"):
        request_body(ChatRequest(()), "")
