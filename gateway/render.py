"""Proto → JSON: lowerCamelCase; zero values and empty lists printed, unset messages and oneofs not;
int64 as strings."""

import json

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message


def to_text(message: Message) -> str:
    """One line."""
    fields = MessageToDict(message, always_print_fields_with_no_presence=True)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def to_json(message: Message) -> bytes:
    return to_text(message).encode()
