"""Tool calls of a model that knows none: told of in the prompt, held to a schema, read from JSON. Pure.

With tools, the model's answer is one JSON object, which the server's grammar lets it write and nothing else:
`{"answer": text}`, or `{"tool": name, "arguments": object}` with arguments as the tool's schema has them.
"""

import json
import re
import secrets
from dataclasses import replace
from typing import Any

from kernel.generation.provider import (
    ChatRequest,
    FailureReason,
    ProviderError,
    ToolCallChunk,
    ToolSpec,
    not_valid,
)
from kernel.prompt.merge_patch import members
from kernel.tree.message import Message, Part, Text, ToolCall, ToolResult
from kernel.tree.model import Role

_TOLD = """You can use tools. Reply with JSON: {"answer": "your words"} to talk, or
{"tool": "its name", "arguments": {}} to use a tool, whose result you are then told. The tools:"""
_ANSWER = re.compile(r'\s*\{\s*"answer"\s*:\s*"')
# As much of a JSON string as is whole; half a surrogate pair at its end waits for the other half.
_WHOLE = re.compile(r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_HALF = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")


def as_text(request: ChatRequest) -> ChatRequest:
    """The request with tool calls and results as texts: the model's template knows neither. Files stay."""
    names: dict[str, str] = {}
    return replace(request, messages=tuple(_as_text(message, names) for message in request.messages))


def _as_text(message: Message, names: dict[str, str]) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        match part:
            case ToolCall(call_id, name, arguments):
                names[call_id] = name
                parts.append(Text(f'{{"tool": {json.dumps(name)}, "arguments": {arguments or "{}"}}}'))
            case ToolResult(call_id, content, is_error):
                how = "failed" if is_error else "answered"
                parts.append(Text(f"The tool {names.get(call_id, '')} {how}: {content}\n"))
            case _:
                parts.append(part)
    # A result is no role of this model's: it is something that it is told.
    role = Role.USER if message.role is Role.TOOL else message.role
    return replace(message, role=role, parts=tuple(parts))


def constrained(request: ChatRequest) -> "tuple[ChatRequest, AnswerReader | None]":
    """The request without its tools, but told of them and held to the schema of answers, and what reads
    these; without tools to choose from, None: the answer is plain text. The parameter `tool_choice` of
    extra_json is as in the OpenAI API: "none", "auto" (the default), "required", or one function.

    Raises:
        ProviderError: PROVIDER_INVALID when `tool_choice` names a tool that is not there.
    """
    extra = json.loads(request.model.extra_json or "{}")
    choice = extra.pop("tool_choice", "auto")
    reader = None
    if choice != "none" and request.tools:
        schema = {"name": "answer", "schema": answer_schema(request.tools, choice)}
        extra["response_format"] = {"type": "json_schema", "json_schema": schema}
        told = Message(Role.SYSTEM, (Text("\n".join([_TOLD, *map(_told, request.tools)])),))
        request = replace(request, messages=(told, *request.messages))
        reader = AnswerReader()
    model = replace(request.model, extra_json=json.dumps(extra) if extra else None)
    return replace(request, model=model, tools=()), reader


def answer_schema(tools: tuple[ToolSpec, ...], choice: Any) -> dict[str, Any]:
    """What the model may write. Each tool's parameters keep a place of their own, so that what they refer
    to within themselves is found there."""
    named = _named(choice)
    kinds = [_object({"answer": {"type": "string"}})] if choice == "auto" else []
    definitions = {}
    for number, tool in enumerate(tools):
        if named in (None, tool.name):
            place = f"tool{number}"
            arguments = {"$ref": f"#/$defs/{place}"}
            kinds.append(_object({"tool": {"const": tool.name}, "arguments": arguments}))
            parameters = json.loads(tool.parameters_json or "{}") or {"type": "object", "properties": {}}
            definitions[place] = _moved(parameters, f"#/$defs/{place}")
    if not kinds:
        raise not_valid("tool_choice names a tool that is not among config.tools.")
    return {"anyOf": kinds, "$defs": definitions}


def _named(choice: Any) -> Any:
    try:
        return choice["function"]["name"]
    except (TypeError, KeyError):
        return None


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _moved(schema: Any, place: str) -> Any:
    """The schema with what it refers to within itself looked up below `place`."""
    if isinstance(schema, list):
        return [_moved(item, place) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: place + value.removeprefix("#")
        if name == "$ref" and isinstance(value, str) and value.startswith("#")
        else _moved(value, place)
        for name, value in schema.items()
    }


def _told(tool: ToolSpec) -> str:
    return f"- {tool.name}: {tool.description} Arguments: {tool.parameters_json or '{}'}"


class AnswerReader:
    """Takes the JSON as it is written: the words of an answer at once, a call when it is whole."""

    def __init__(self) -> None:
        self._written = ""
        self._begin: int | None = None
        self._said = 0

    def read(self, piece: str) -> str:
        """The words that the piece completes, possibly none."""
        self._written += piece
        if self._begin is None:
            match = _ANSWER.match(self._written)
            if match is None:
                return ""
            self._begin = match.end()
        whole = _WHOLE.match(self._written, self._begin)
        assert whole is not None, "the pattern matches nothing, too"
        words = _words(_HALF.sub("", whole[0]))
        new, self._said = words[self._said :], len(words)
        return new

    def call(self) -> ToolCallChunk | None:
        """At the end: the call, with an id of our own; None when it was an answer, which may be cut.

        Raises:
            ProviderError: LIMIT when the output ended within a call.
        """
        if self._begin is not None:
            return None
        try:
            name, arguments = json.loads(self._written)["tool"], members(self._written)["arguments"]
        except (ValueError, KeyError, TypeError):
            raise ProviderError(
                FailureReason.LIMIT,
                "The answer was cut within a tool call: raise config.model.max_output_tokens.",
            ) from None
        return ToolCallChunk(f"call_{secrets.token_hex(12)}", name, arguments)


def _words(escaped: str) -> str:
    """A JSON string's text, with a mark for what no text can hold."""
    text: str = json.loads(f'"{escaped}"', strict=False)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")
