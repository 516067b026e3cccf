"""What a message and a page may be, for messages that come from files. Sizes are those on the wire."""

from collections.abc import Iterator

from kernel.strict_json import NotJson, loads
from kernel.tree.message import File, Message, Part, Reasoning, Text, ToolCall, ToolResult

MAX_MESSAGE_BYTES = 1024 * 1024
MAX_PAGE_BYTES = 3 * 1024 * 1024
MAX_PAGE_MESSAGES = 1_000
MAX_PATH_FLOORS = 100_000
MAX_TITLE = 500
MAX_NAME = 256
MAX_METADATA = 64
MAX_METADATA_KEY = 128

INVALID, LIMIT, DIGEST_MISMATCH = "INVALID", "LIMIT", "DIGEST_MISMATCH"


class Refused(ValueError):
    """Why one conversation of a file cannot be taken: an ErrorInfo reason and a sentence, which
    never quotes the file."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def refuse(message: str) -> Refused:
    return Refused(INVALID, message)


def check_message(message: Message, where: str) -> int:
    """Its size in bytes; raises Refused, beginning with `where`, for one that no call would accept either."""
    for reason, fault in _faults(message):
        raise Refused(reason, f"{where} {fault}")
    total = size(message)
    if total > MAX_MESSAGE_BYTES:
        raise Refused(LIMIT, f"{where} is larger than 1 MiB.")
    return total


def _faults(message: Message) -> Iterator[tuple[str, str]]:
    if not message.parts:
        yield INVALID, "has no part."
    if len(message.name) > MAX_NAME:
        yield LIMIT, f"has a name of more than {MAX_NAME} characters."
    if len(message.metadata) > MAX_METADATA:
        yield LIMIT, f"has more than {MAX_METADATA} metadata entries."
    if any(not 1 <= len(key) <= MAX_METADATA_KEY for key in message.metadata):
        yield LIMIT, f"has a metadata key of other than 1-{MAX_METADATA_KEY} characters."
    for part in message.parts:
        yield from _part_faults(part)


def _part_faults(part: Part) -> Iterator[tuple[str, str]]:
    match part:
        case File():
            if not 1 <= len(part.media_type) <= MAX_NAME or len(part.name) > MAX_NAME:
                yield (
                    INVALID,
                    f"has a file whose media type or name is missing or over {MAX_NAME} characters.",
                )
            if part.uri and part.data:
                yield INVALID, "has a file both by reference and by value."
        case ToolCall():
            if not (1 <= len(part.call_id) <= MAX_NAME and 1 <= len(part.name) <= MAX_NAME):
                yield INVALID, f"has a tool call whose id or name is missing or over {MAX_NAME} characters."
            if part.arguments_json and not _is_json(part.arguments_json):
                yield INVALID, "has a tool call whose arguments are not JSON."
        case ToolResult():
            if not part.call_id:
                yield INVALID, "has a tool result without the id of its call."


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except NotJson:
        return False
    return True


def size(message: Message) -> int:
    """Bytes of the message as it is stored and sent, exactly."""
    entries = sum(_field(_text(key, True) + _text(value, True)) for key, value in message.metadata.items())
    parts = sum(_field(_field(_part_size(part))) for part in message.parts)
    return 2 + _text(message.name) + parts + (2 if message.hidden else 0) + entries


def _part_size(part: Part) -> int:
    match part:
        case Text():
            return _text(part.text)
        case Reasoning():
            return _text(part.text) + _text(part.signature)
        case ToolCall():
            return _text(part.call_id) + _text(part.name) + _text(part.arguments_json)
        case ToolResult():
            return _text(part.call_id) + _text(part.content) + (2 if part.is_error else 0)
        case File():
            held = _text(part.uri) if part.uri else _field(len(part.data))
            return held + _text(part.media_type) + _text(part.name)


def _text(value: str, always: bool = False) -> int:
    if not value and not always:
        return 0
    return _field(len(value) if value.isascii() else len(value.encode()))


def _field(length: int) -> int:
    """Tag, length and content."""
    return 1 + max(1, -(-length.bit_length() // 7)) + length
