"""Checks a list of messages as a client sends it, before anything is done with it.

What is output only (message_id, parent_message_id, token_count) is not looked at: the stored form
has no place for it.
"""

import itertools
from collections.abc import Iterator, Sequence

from stemma.kernel.v1 import message_pb2

from kernel.errors import Invalid, Violation
from kernel.strict_json import NotJson, loads

MAX_MESSAGES = 1_000
MAX_MESSAGE_BYTES = 1024 * 1024
MAX_PAGE_BYTES = 3 * 1024 * 1024
MAX_NAME = 256
MAX_METADATA = 64
MAX_METADATA_KEY = 128

# Enough to see what is wrong; a list of a thousand bad messages has a thousand.
_MAX_VIOLATIONS = 20
_ROLES = frozenset(message_pb2.Role.DESCRIPTOR.values_by_number) - {message_pb2.ROLE_UNSPECIFIED}


def check_messages(messages: Sequence[message_pb2.Message], field: str, *, required: bool = False) -> None:
    """Raises Invalid with the first violations, by their path: `input[0].parts[1].text.text`.

    A list holds at most 1,000 messages, 1 MiB each and 3 MiB together, as serialised.
    """
    if len(messages) == 1 and _is_plain(messages[0]):
        return
    _refuse(_of_list(messages, field, required))


def check_message(message: message_pb2.Message, field: str) -> None:
    """The same for a field that holds a single one."""
    if not _is_plain(message):
        _refuse(_of_one(message, field))


def _refuse(violations: Iterator[Violation]) -> None:
    found = list(itertools.islice(violations, _MAX_VIOLATIONS))
    if found:
        raise Invalid(*found)


def _is_plain(message: message_pb2.Message) -> bool:
    """Whether it is a text and no more, as most are, and nothing is wrong with it."""
    parts = message.parts
    if message.role not in _ROLES or message.name or len(parts) != 1 or message.metadata:
        return False
    (part,) = parts
    return (
        part.WhichOneof("kind") == "text"
        and "\0" not in part.text.text
        and message.ByteSize() <= MAX_MESSAGE_BYTES
    )


def _of_list(messages: Sequence[message_pb2.Message], field: str, required: bool) -> Iterator[Violation]:
    if required and not messages:
        yield Violation(field, "is required")
    if len(messages) > MAX_MESSAGES:
        yield Violation(field, f"must have at most {MAX_MESSAGES} messages")
        return
    total = 0
    for index, message in enumerate(messages):
        total += message.ByteSize()
        yield from _of_one(message, f"{field}[{index}]")
    if total > MAX_PAGE_BYTES:
        yield Violation(field, "must be at most 3 MiB together")


def _of_one(message: message_pb2.Message, path: str) -> Iterator[Violation]:
    if message.ByteSize() > MAX_MESSAGE_BYTES:
        yield Violation(path, "must be at most 1 MiB")
    else:
        yield from _of_message(message, path)


def _of_message(message: message_pb2.Message, path: str) -> Iterator[Violation]:
    if message.role == message_pb2.ROLE_UNSPECIFIED:
        yield Violation(f"{path}.role", "is required")
    elif message.role not in _ROLES:
        yield Violation(f"{path}.role", "is not a known Role")
    yield from _text(message.name, f"{path}.name", maximum=MAX_NAME)
    if not message.parts:
        yield Violation(f"{path}.parts", "must have at least one part")
    for index, part in enumerate(message.parts):
        yield from _of_part(part, f"{path}.parts[{index}]")
    yield from _of_metadata(message, f"{path}.metadata")


def _of_part(part: message_pb2.Part, path: str) -> Iterator[Violation]:
    kind = part.WhichOneof("kind")
    if kind is None:
        yield Violation(path, "must be a text, file, tool_call, tool_result or reasoning")
    elif kind == "text":
        yield from _text(part.text.text, f"{path}.text.text")
    elif kind == "file":
        yield from _of_file(part.file, f"{path}.file")
    elif kind == "tool_call":
        yield from _of_tool_call(part.tool_call, f"{path}.tool_call")
    elif kind == "tool_result":
        yield from _text(part.tool_result.call_id, f"{path}.tool_result.call_id", required=True)
        yield from _text(part.tool_result.content, f"{path}.tool_result.content")
    else:
        yield from _text(part.reasoning.text, f"{path}.reasoning.text")
        yield from _text(part.reasoning.signature, f"{path}.reasoning.signature")


def _of_file(file: message_pb2.FilePart, path: str) -> Iterator[Violation]:
    source = file.WhichOneof("source")
    if source is None:
        yield Violation(path, "must have a uri or data")
    elif source == "uri":
        yield from _text(file.uri, f"{path}.uri", required=True)
    yield from _text(file.media_type, f"{path}.media_type", required=True, maximum=MAX_NAME)
    yield from _text(file.name, f"{path}.name", maximum=MAX_NAME)


def _of_tool_call(call: message_pb2.ToolCallPart, path: str) -> Iterator[Violation]:
    yield from _text(call.call_id, f"{path}.call_id", required=True, maximum=MAX_NAME)
    yield from _text(call.name, f"{path}.name", required=True, maximum=MAX_NAME)
    if call.arguments_json:
        try:
            loads(call.arguments_json)
        except NotJson as error:
            yield Violation(f"{path}.arguments_json", str(error))


def _of_metadata(message: message_pb2.Message, path: str) -> Iterator[Violation]:
    if len(message.metadata) > MAX_METADATA:
        yield Violation(path, f"must have at most {MAX_METADATA} entries")
    for key, value in message.metadata.items():
        # Keys are the client's text, of any length: none is quoted.
        if not 1 <= len(key) <= MAX_METADATA_KEY or "\0" in key:
            yield Violation(path, f"keys must have 1-{MAX_METADATA_KEY} characters, and no NUL")
            return
        if "\0" in value:
            yield Violation(path, "values must not contain NUL")
            return


def _text(
    value: str, path: str, *, required: bool = False, maximum: int = MAX_MESSAGE_BYTES
) -> Iterator[Violation]:
    if required and not value:
        yield Violation(path, "is required")
    if len(value) > maximum:
        yield Violation(path, f"must have at most {maximum} characters")
    if "\0" in value:
        yield Violation(path, "must not contain NUL")
