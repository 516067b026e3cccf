"""Messages and their texts, safe to show in a terminal."""

import re

from stemma.kernel.v1 import message_pb2

# What a terminal would obey: everything below the space but tab and newline, DEL, the C1 controls, and
# the marks that turn the direction of writing around.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_ROLES = {
    message_pb2.ROLE_SYSTEM: "system",
    message_pb2.ROLE_USER: "user",
    message_pb2.ROLE_ASSISTANT: "assistant",
    message_pb2.ROLE_TOOL: "tool",
}


def printable(text: str) -> str:
    """`text` without what would steer the terminal: stored text comes from anywhere."""
    return _CONTROLS.sub("�", text.replace("\r\n", "\n"))


def shortened(text: str, width: int) -> str:
    """The first words on one line of at most `width` characters."""
    line = " ".join(printable(text[: 8 * width]).split())
    return line if len(line) <= width else f"{line[: width - 1].rstrip()}…"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def role_of(message: message_pb2.Message) -> str:
    """`user`, or `user Anna` with a name."""
    role = _ROLES.get(message.role, f"role {message.role}")
    return f"{role} {printable(message.name)}" if message.name else role


def part_text(part: message_pb2.Part) -> str:
    """A part as a person reads it; what is no text stands in brackets."""
    match part.WhichOneof("kind"):
        case "text":
            return part.text.text
        case "reasoning":
            return f"[reasoning: {part.reasoning.text}]"
        case "file":
            where = part.file.uri or f"{len(part.file.data)} bytes"
            return f"[file: {' '.join(filter(None, [part.file.name, part.file.media_type, where]))}]"
        case "tool_call":
            return f"[calls {part.tool_call.name}: {part.tool_call.arguments_json}]"
        case "tool_result":
            return f"[result of {part.tool_result.call_id}: {part.tool_result.content}]"
        case _:
            return "[a part that this version does not know]"


def message_text(message: message_pb2.Message) -> str:
    return "\n".join(part_text(part) for part in message.parts)


def page_text(page: message_pb2.Page) -> str:
    """What one side of a turn says, reasoning left out; empty for an absent side."""
    said = (p for message in page.messages for p in message.parts if p.WhichOneof("kind") != "reasoning")
    return "\n".join(map(part_text, said))


def reply_text(page: message_pb2.Page) -> str:
    """Only what a run's text frames carry: to compare with what was shown of them."""
    return "".join(part.text.text for message in page.messages for part in message.parts)


def user_message(text: str) -> message_pb2.Message:
    part = message_pb2.Part(text=message_pb2.TextPart(text=text))
    return message_pb2.Message(role=message_pb2.ROLE_USER, parts=[part])
