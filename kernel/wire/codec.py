"""Page bytes: written once, deterministically, and read only for providers and answers.

Stored are a message's role, name, parts, hidden flag and metadata (entries sorted by key), neither
ids nor counts: so equal content has equal bytes, and bytes can be copied for ever.
"""

from collections.abc import Iterable, Sequence

from google.protobuf.message import DecodeError
from stemma.kernel.v1 import message_pb2 as pb

from kernel.errors import DataLoss
from kernel.prompt.tokens import FILE_TOKENS, estimate
from kernel.tree.blob import frame
from kernel.tree.message import File, Message, Part, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import MessageFacts, PageContent, Role

_ROLES = {int(role): role for role in Role}


def page_content(messages: Iterable[pb.Message]) -> PageContent | None:
    """The stored form of checked messages; None for none. What is output only is dropped."""
    frames: list[bytes] = []
    facts: list[MessageFacts] = []
    for message in messages:
        # Nobody reads them: the caller's message may lose them too, and need not be copied for that.
        message.DiscardUnknownFields()
        stored, metadata = message, b""
        if message.metadata or message.message_id or message.parent_message_id or message.token_count:
            stored, metadata = _without_output_only(message), _metadata(message)
        frames.append(frame(stored.SerializeToString(deterministic=True) + metadata))
        facts.append(MessageFacts(_ROLES[stored.role], stored.hidden, _tokens(stored), _plain(stored)))
    return PageContent(b"".join(frames), tuple(facts)) if frames else None


def _without_output_only(message: pb.Message) -> pb.Message:
    stored = pb.Message()
    stored.CopyFrom(message)
    for name in ("message_id", "parent_message_id", "token_count", "metadata"):
        stored.ClearField(name)
    return stored


def _metadata(message: pb.Message) -> bytes:
    """The last field's entries by key: a deterministic encoder orders them, but not alphabetically."""
    entries = sorted(message.metadata.items())
    return b"".join(pb.Message(metadata={key: value}).SerializeToString() for key, value in entries)


def parsed(blob: bytes) -> list[pb.Message]:
    """The messages of a stored blob; DATA_LOSS when it is not one."""
    try:
        return list(pb.MessageList.FromString(blob).messages)
    except DecodeError:
        raise DataLoss("DIGEST_MISMATCH", "Stored bytes cannot be read: run `stemma verify`.") from None


class WireCodec:
    """`kernel.verbs.env.Codec`."""

    def text(self, role: Role, text: str, reasoning: str = "") -> PageContent:
        message = pb.Message(role=pb.Role.Name(int(role)))
        if reasoning:
            message.parts.add().reasoning.text = reasoning
        if text or not reasoning:
            message.parts.add().text.text = text
        content = page_content([message])
        assert content is not None
        return content

    def page(self, messages: Sequence[Message]) -> PageContent:
        content = page_content(_message_pb(message) for message in messages)
        assert content is not None
        return content

    def messages(self, blob: bytes) -> tuple[Message, ...]:
        return tuple(_message(message) for message in parsed(blob))


def _message(message: pb.Message) -> Message:
    parts = tuple(_part(part) for part in message.parts)
    return Message(Role(message.role), parts, message.name, message.hidden, dict(message.metadata))


def _message_pb(message: Message) -> pb.Message:
    return pb.Message(
        role=pb.Role.Name(int(message.role)),
        name=message.name,
        parts=[_part_pb(part) for part in message.parts],
        hidden=message.hidden,
        metadata=message.metadata,
    )


def _part_pb(part: Part) -> pb.Part:
    match part:
        case File(media_type, uri, data, name):
            source = {"uri": uri} if uri else {"data": data}
            return pb.Part(file=pb.FilePart(media_type=media_type, name=name, **source))
        case ToolCall(call_id, name, arguments_json):
            call = pb.ToolCallPart(call_id=call_id, name=name, arguments_json=arguments_json)
            return pb.Part(tool_call=call)
        case ToolResult(call_id, content, is_error):
            result = pb.ToolResultPart(call_id=call_id, content=content, is_error=is_error)
            return pb.Part(tool_result=result)
        case Reasoning(text, signature):
            return pb.Part(reasoning=pb.ReasoningPart(text=text, signature=signature))
        case Text(text):
            return pb.Part(text=pb.TextPart(text=text))


def _part(part: pb.Part) -> Part:
    match part.WhichOneof("kind"):
        case "file":
            file = part.file
            return File(file.media_type, file.uri, file.data, file.name)
        case "tool_call":
            call = part.tool_call
            return ToolCall(call.call_id, call.name, call.arguments_json)
        case "tool_result":
            result = part.tool_result
            return ToolResult(result.call_id, result.content, result.is_error)
        case "reasoning":
            return Reasoning(part.reasoning.text, part.reasoning.signature)
        case _:
            return Text(part.text.text)


def _plain(message: pb.Message) -> bool:
    return not any(part.HasField("tool_call") or part.HasField("tool_result") for part in message.parts)


def _tokens(message: pb.Message) -> int:
    return max(1, sum(_part_tokens(part) for part in message.parts))


def _part_tokens(part: pb.Part) -> int:
    match part.WhichOneof("kind"):
        case "file":
            return FILE_TOKENS
        case "tool_call":
            return estimate(part.tool_call.name) + estimate(part.tool_call.arguments_json)
        case "tool_result":
            return estimate(part.tool_result.content)
        case "reasoning":
            return estimate(part.reasoning.text)
        case _:
            return estimate(part.text.text)
