"""A message as JSON without loss: in `stemma` files, and beside what another format can say."""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from conversation_service.domain.limits import refuse
from kernel.tree.message import File, Message, Part, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import Role

ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
ROLE_NAMES = {role: name for name, role in ROLES.items()}


def message_json(message: Message) -> dict[str, Any]:
    """What is empty is left out, but for the parts."""
    value: dict[str, Any] = {"role": ROLE_NAMES[message.role]}
    if message.name:
        value["name"] = message.name
    if message.hidden:
        value["hidden"] = True
    if message.metadata:
        value["metadata"] = dict(sorted(message.metadata.items()))
    return value | {"parts": [_part_json(part) for part in message.parts]}


def _part_json(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"text": part.text}
        case File():
            held = {"uri": part.uri} if part.uri else {"data": base64.b64encode(part.data).decode()}
            return {"file": held | {"media_type": part.media_type, "name": part.name}}
        case ToolCall():
            call = {"call_id": part.call_id, "name": part.name, "arguments_json": part.arguments_json}
            return {"tool_call": call}
        case ToolResult():
            result = {"call_id": part.call_id, "content": part.content, "is_error": part.is_error}
            return {"tool_result": result}
        case Reasoning():
            return {"reasoning": {"text": part.text, "signature": part.signature}}


def message_of(value: object) -> Message:
    """The message of `message_json`; raises Refused for anything else."""
    members = _object(value, {"role", "name", "hidden", "metadata", "parts"})
    role = ROLES.get(_str(members, "role"))
    if role is None:
        raise refuse("A message has an unknown role.")
    metadata = _object(members.get("metadata", {}))
    if not all(isinstance(entry, str) for entry in metadata.values()):
        raise refuse("A message has metadata that is not text.")
    parts = members.get("parts")
    if not isinstance(parts, list):
        raise refuse("A message has no list of parts.")
    return Message(
        role,
        tuple(_part_of(part) for part in parts),
        _str(members, "name"),
        _bool(members, "hidden"),
        dict(metadata),
    )


def _part_of(value: object) -> Part:
    members = _object(value)
    if len(members) != 1:
        raise refuse("A part of a message must be exactly one of the known kinds.")
    kind, content = next(iter(members.items()))
    if kind == "text" and isinstance(content, str):
        return Text(content)
    if kind not in _PARTS:
        raise refuse("A part of a message must be exactly one of the known kinds.")
    return _PARTS[kind](content)


def _file(value: object) -> File:
    members = _object(value, {"uri", "data", "media_type", "name"})
    try:
        data = base64.b64decode(_str(members, "data"), validate=True)
    except (binascii.Error, ValueError):
        raise refuse("A file's data is not base64.") from None
    return File(_str(members, "media_type"), _str(members, "uri"), data, _str(members, "name"))


def _tool_call(value: object) -> ToolCall:
    members = _object(value, {"call_id", "name", "arguments_json"})
    return ToolCall(_str(members, "call_id"), _str(members, "name"), _str(members, "arguments_json"))


def _tool_result(value: object) -> ToolResult:
    members = _object(value, {"call_id", "content", "is_error"})
    return ToolResult(_str(members, "call_id"), _str(members, "content"), _bool(members, "is_error"))


def _reasoning(value: object) -> Reasoning:
    members = _object(value, {"text", "signature"})
    return Reasoning(_str(members, "text"), _str(members, "signature"))


_PARTS: Mapping[str, Callable[[object], Part]] = {
    "file": _file,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "reasoning": _reasoning,
}


def _object(value: object, known: set[str] | None = None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise refuse("A message is not written as an object with parts.")
    if known is not None and not value.keys() <= known:
        raise refuse("A message has a member that this version does not know.")
    return value


def _str(members: Mapping[str, Any], name: str) -> str:
    value = members.get(name, "")
    if not isinstance(value, str):
        raise refuse(f"A message's {name} must be text.")
    return value


def _bool(members: Mapping[str, Any], name: str) -> bool:
    value = members.get(name, False)
    if not isinstance(value, bool):
        raise refuse(f"A message's {name} must be true or false.")
    return value
