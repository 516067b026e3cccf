"""Parsed messages as the OpenAI chat API writes them. Pure; knows neither network nor client."""

import base64
import json
import re
from collections.abc import Sequence
from typing import Any

from kernel.generation.provider import ChatRequest, ToolSpec, not_valid
from kernel.prompt.config import ModelConfig
from kernel.tree.message import File, Message, Part, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import Role

_ROLES = {Role.SYSTEM: "system", Role.USER: "user", Role.ASSISTANT: "assistant"}
_NAME_FORBIDDEN = re.compile(r"[\s<|\\/>]+")
_NAME_LENGTH = 64


def request_body(request: ChatRequest, default_model: str, *, text_only: bool = False) -> dict[str, Any]:
    """The body of a streamed chat completion.

    Args:
        request: What to send. Reasoning is left out, metadata too.
        default_model: For a request that names no model.
        text_only: The model reads no files.

    Raises:
        ProviderError: PROVIDER_INVALID for what this API cannot say, or when no model is named.
    """
    model = request.model.name or default_model
    if not model:
        raise not_valid("No model is named. Set config.model.name, or STEMMA_MODEL for all sessions.")
    messages = [sent for message in request.messages for sent in _messages(message, text_only)]
    body = {
        "model": model,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        **_sampling(request.model),
        # Not even an empty list: some servers take that for a mistake.
        **({"tools": [_tool(tool) for tool in request.tools]} if request.tools else {}),
    }
    # What only this provider knows goes beside what we say, and never in its place.
    extra = json.loads(request.model.extra_json or "{}")
    further = {name: value for name, value in extra.items() if name not in body}
    return body | {"extra_body": further} if further else body


def _sampling(model: ModelConfig) -> dict[str, Any]:
    values = {
        "temperature": model.temperature,
        "top_p": model.top_p,
        # The older name: `max_completion_tokens` is unknown to most compatible servers.
        "max_tokens": model.max_output_tokens,
        "stop": list(model.stop) or None,
        "seed": model.seed,
    }
    return {name: value for name, value in values.items() if value is not None}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    if tool.parameters_json:
        function["parameters"] = json.loads(tool.parameters_json)
    return {"type": "function", "function": function}


def _messages(message: Message, text_only: bool) -> list[dict[str, Any]]:
    """One message, except that each tool result becomes a message of its own."""
    parts = [part for part in message.parts if not isinstance(part, Reasoning)]
    if message.role is Role.TOOL:
        return [_tool_result(part) for part in parts]
    sent: dict[str, Any] = {"role": _ROLES[message.role]}
    if name := _NAME_FORBIDDEN.sub("_", message.name)[:_NAME_LENGTH]:
        sent["name"] = name
    if message.role is Role.USER:
        return [sent | {"content": _user_content(parts, text_only)}]
    return [sent | _spoken(message.role, parts)]


def _tool_result(part: Part) -> dict[str, Any]:
    if not isinstance(part, ToolResult):
        raise not_valid("A TOOL message can hold tool results only for this provider.")
    return {"role": "tool", "tool_call_id": part.call_id, "content": part.content}


def _spoken(role: Role, parts: Sequence[Part]) -> dict[str, Any]:
    """Content of a system or an assistant message: text, and the assistant's tool calls."""
    text = "".join(part.text for part in parts if isinstance(part, Text))
    calls = [part for part in parts if isinstance(part, ToolCall)]
    if any(not isinstance(part, Text | ToolCall) for part in parts) or (calls and role is Role.SYSTEM):
        raise not_valid(f"This provider takes no such part in {role.name} messages.")
    if not calls:
        return {"content": text}
    return {"content": text or None, "tool_calls": [_tool_call(call) for call in calls]}


def _tool_call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments_json}
    return {"id": call.call_id, "type": "function", "function": function}


def _user_content(parts: Sequence[Part], text_only: bool) -> str | list[dict[str, Any]]:
    # Plain text stays a string: not every compatible server reads lists of parts.
    if all(isinstance(part, Text) for part in parts):
        return "".join(part.text for part in parts if isinstance(part, Text))
    if text_only:
        raise not_valid("This model reads text only: take files and tool parts off the path.")
    return [_user_part(part) for part in parts]


def _user_part(part: Part) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if not isinstance(part, File):
        raise not_valid("This provider takes no tool parts in USER messages.")
    if part.media_type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": part.uri or _data_url(part)}}
    if not part.data:
        raise not_valid("This provider takes files other than images by value only.")
    file = {"filename": part.name or "file", "file_data": _data_url(part)}
    return {"type": "file", "file": file}


def _data_url(file: File) -> str:
    return f"data:{file.media_type};base64,{base64.b64encode(file.data).decode()}"
