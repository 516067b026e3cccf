"""The digests of the design's section 5, computed from what was sent, apart from the service."""

import hashlib
from collections.abc import Iterable

from stemma.kernel.v1 import message_pb2

from tests.model.queries import Queries
from tests.model.values import Msg, Page, State

ABSENT = bytes(32)


def proto(message: Msg) -> message_pb2.Message:
    return message_pb2.Message(
        role=message.role,
        name=message.name,
        parts=[message_pb2.Part(text=message_pb2.TextPart(text=message.text))],
        hidden=message.hidden,
        metadata=dict(message.metadata),
    )


def blob(messages: Iterable[Msg]) -> bytes:
    """Field 1, length-delimited, once for each message; neither ids nor counts."""
    found = b""
    for message in messages:
        body = proto(message).SerializeToString(deterministic=True)
        found += b"\x0a" + _varint(len(body)) + body
    return found


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def page_digest(page: Page) -> bytes:
    prefix = b"stemma.page.1" + bytes([page.slot, page.partial])
    return hashlib.sha256(prefix + blob(page.messages)).digest()


def floor_digest(model: Queries, floor: int) -> bytes:
    """Only for committed floors and the root."""
    own = model.floors[floor]
    if own.state is not State.COMMITTED:
        raise ValueError("an uncommitted floor has no digest")
    if own.parent is None:
        return hashlib.sha256(b"stemma.root.1").digest()
    sides = [ABSENT if page is None else page_digest(model.pages[page]) for page in (own.input, own.output)]
    return hashlib.sha256(
        b"stemma.floor.1" + floor_digest(model, own.parent) + b"".join(sides) + ABSENT
    ).digest()
