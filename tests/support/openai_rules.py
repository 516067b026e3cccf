"""What the OpenAI chat completions API refuses in a request, as far as its messages go.

As strict as the API, and no stricter: roles may follow one another in any order, and a text may be empty.
What it is known to refuse: no messages at all; `content` null or missing without tool calls; an empty list of
parts or calls; two calls of one message with one id; a call that the tool messages right after its message
do not answer exactly once; a tool message anywhere else; names and ids that do not fit their patterns.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_NAME = re.compile(r"[^\s<|\\/>]{1,64}")
_FUNCTION = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ID_LENGTH = 40
_FIELDS = {
    "system": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls"},
    "tool": {"role", "content", "tool_call_id"},
}
_PARTS = {
    "system": {"text"},
    "user": {"text", "image_url", "file"},
    "assistant": {"text"},
    "tool": {"text"},
}
_PART_SHAPES = {"text": str, "image_url": dict, "file": dict}


def refusals(body: Mapping[str, Any]) -> list[str]:
    """Why the API would refuse the request, by the number of the message; empty when it would not."""
    json.dumps(body, allow_nan=False)
    messages = body["messages"]
    if not messages:
        return ["no messages"]
    alone = [f"{at}: {why}" for at, message in enumerate(messages) for why in _of_message(message)]
    return alone or list(_of_order(messages))


def _of_message(message: Mapping[str, Any]) -> Iterator[str]:
    role = message.get("role")
    if role not in _FIELDS:
        yield f"no such role: {role!r}"
        return
    if unknown := set(message) - _FIELDS[role]:
        yield f"unknown fields: {sorted(unknown)}"
    if "name" in message and not _NAME.fullmatch(message["name"]):
        yield "name does not fit its pattern"
    if "tool_call_id" in _FIELDS[role] and not _is_id(message.get("tool_call_id")):
        yield "tool_call_id is no id"
    if "tool_calls" in message:
        yield from _of_calls(message["tool_calls"])
    if message.get("content") is None:
        if "tool_calls" not in message:
            yield "content: expected a string, got null"
    else:
        yield from _of_content(message["content"], role)


def _of_content(content: object, role: str) -> Iterator[str]:
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        yield "content is neither text nor a list of parts"
        return
    for part in content:
        kind = part.get("type")
        if kind not in _PARTS[role]:
            yield f"{role} messages have no {kind} parts"
        elif set(part) != {"type", kind} or not isinstance(part[kind], _PART_SHAPES[kind]):
            yield f"{kind} part is misshapen"


def _of_calls(calls: object) -> Iterator[str]:
    if not isinstance(calls, list) or not calls:
        yield "tool_calls is no list of calls"
        return
    ids = [call.get("id") for call in calls]
    if not all(_is_id(call_id) for call_id in ids):
        yield "a call's id is no id"
    elif len(set(ids)) < len(ids):
        yield "two calls have one id"
    for call in calls:
        function = call.get("function")
        if set(call) != {"id", "type", "function"} or call["type"] != "function":
            yield "a call is misshapen"
        elif set(function) != {"name", "arguments"} or not isinstance(function["arguments"], str):
            yield "a function is misshapen"
        elif not _FUNCTION.fullmatch(function["name"]):
            yield "a function's name does not fit its pattern"


def _is_id(value: object) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= _ID_LENGTH


def _of_order(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    """Of messages that are each right in themselves."""
    called: set[str] = set()
    waiting: set[str] = set()
    for at, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            answered = message["tool_call_id"]
            if answered in waiting:
                waiting.remove(answered)
            elif answered in called:
                yield f"{at}: duplicate value for tool_call_id"
            else:
                yield f"{at}: a tool message must follow a message with the call"
            continue
        if waiting:
            yield f"{at}: calls have no tool message: {sorted(waiting)}"
        called = {call["id"] for call in message.get("tool_calls", ())}
        waiting = set(called)
