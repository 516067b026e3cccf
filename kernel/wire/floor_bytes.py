"""Floors, pages and positions as the contract's bytes, written by hand.

A floor is shown with every append and on every path. Its messages are most of it and need not be looked
at: stored messages are copied, and their ids and counts are added behind them (fields may stand in
any order). `tests/unit/test_floor_bytes.py` holds all this to the generated classes.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from stemma.kernel.v1 import floor_pb2, message_pb2

from kernel.errors import DataLoss
from kernel.tree.blob import split_bodies
from kernel.tree.model import Floor, FloorState, Page, Position, Usage
from kernel.verbs.answers import Shown
from kernel.wire.effects import effects_pb

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DELIMITED = (9, 11, 12)


def _long(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


# The times of one floor, and of calls at once, are mostly of the same second.
_seconds = lru_cache(maxsize=1024)(_long)
# Of most lengths, counts and ids' sizes.
_SHORT = [_long(value) for value in range(1 << 14)]


def varint(value: int) -> bytes:
    """A number that is not negative."""
    return _SHORT[value] if value < 0x4000 else _long(value)


def tags(descriptor: Any) -> dict[str, bytes]:
    """What stands before each field: a length follows for text and messages, else a varint."""
    return {
        field.name: varint(field.number << 3 | (2 if field.type in _DELIMITED else 0))
        for field in descriptor.fields
    }


def _template(tags: dict[str, bytes], *names: str) -> bytes:
    """Fields to be filled in with `%`: each with its value, or its length and its value."""
    return b"".join(tags[name] + b"%b" for name in names)


_FLOOR, _PAGE = tags(floor_pb2.Floor.DESCRIPTOR), tags(message_pb2.Page.DESCRIPTOR)
_MESSAGE, _USAGE = tags(message_pb2.Message.DESCRIPTOR), tags(floor_pb2.Usage.DESCRIPTOR)
_POSITION = tags(floor_pb2.Position.DESCRIPTOR)
_STATES = {state: varint(floor_pb2.FloorState.Value(f"FLOOR_STATE_{state.name}")) for state in FloorState}
_FLOOR_HEAD = _template(
    _FLOOR, "floor_id", "session_id", "depth", "ordinal", "state", "path_tokens", "create_time"
)
_PAGE_HEAD = _template(_PAGE, "page_id", "floor_id", "digest", "slot", "token_count", "source", "create_time")
_PAGE_PARTIAL = _PAGE["partial"] + b"\x01"
_MESSAGES = _PAGE["messages"]
_MESSAGE_TAIL = _template(_MESSAGE, "message_id", "token_count", "parent_message_id")
_INPUT, _OUTPUT = _FLOOR["input_page"], _FLOOR["output_page"]


def delimited(tag: bytes, body: bytes) -> bytes:
    return tag + varint(len(body)) + body


def _sized(value: str) -> bytes:
    raw = value.encode()
    return varint(len(raw)) + raw


def _number(tag: bytes, value: int) -> bytes:
    return tag + varint(value) if value else b""


def _stamp(value: datetime) -> bytes:
    """The Timestamp, with its length. (By `timestamp()`, a float, far times would be off by a second.)"""
    since = value - _EPOCH
    seconds = (since.days * 86_400 + since.seconds) & 0xFFFF_FFFF_FFFF_FFFF
    body = b"\x08%b\x10%b" % (_seconds(seconds), varint(since.microseconds * 1000))
    return _SHORT[len(body)] + body


def page_bytes(page: Page, before: str, *, bodies: bool = True) -> bytes:
    """`before` is the id of the message before the page's first. DATA_LOSS for bytes that are no page."""
    head = _PAGE_HEAD % (
        _sized(page.page_id),
        _sized(page.floor_id),
        _sized(page.digest.hex()),
        _SHORT[page.slot],
        varint(page.tokens),
        _sized(page.source),
        _stamp(page.create_time),
    )
    if page.partial:
        head += _PAGE_PARTIAL
    return head + _messages(page, before) if bodies else head


def _messages(page: Page, before: str) -> bytes:
    try:
        stored = split_bodies(page.content.blob)
    except ValueError:
        raise DataLoss("DIGEST_MISMATCH", "Stored bytes cannot be read: run `stemma verify`.") from None
    shown = []
    last = _sized(before)
    for index, (body, fact) in enumerate(zip(stored, page.content.facts, strict=True)):
        own = _sized(f"{page.page_id}.{index}")
        filled = body + _MESSAGE_TAIL % (own, varint(fact.tokens), last)
        shown.append(_MESSAGES + varint(len(filled)) + filled)
        last = own
    return b"".join(shown)


def floor_bytes(shown: Shown, *, bodies: bool = True) -> bytes:
    """A Floor. Raises as `page_bytes`."""
    floor = shown.floor
    parts = [
        _FLOOR_HEAD
        % (
            _sized(floor.floor_id),
            _sized(floor.session_id),
            varint(floor.place.depth),
            varint(floor.ordinal),
            _STATES[floor.state],
            varint(floor.path_tokens),
            _stamp(floor.create_time),
        )
    ]
    before = shown.before
    if floor.input is not None:
        page = page_bytes(floor.input, before, bodies=bodies)
        parts += (_INPUT, varint(len(page)), page)
        if count := len(floor.input.content.facts):
            before = f"{floor.input.page_id}.{count - 1}"
    if floor.output is not None:
        page = page_bytes(floor.output, before, bodies=bodies)
        parts += (_OUTPUT, varint(len(page)), page)
    if floor.effects is not None and bodies:
        parts.append(delimited(_FLOOR["effects"], effects_pb(floor.effects).SerializeToString()))
    parts += _ends(floor)
    return b"".join(parts)


def _ends(floor: Floor) -> list[bytes]:
    """What a root has not, and what a floor's end fixes."""
    parts = []
    if floor.parent_floor_id is not None:
        parts.append(_FLOOR["parent_floor_id"] + _sized(floor.parent_floor_id))
    if floor.digest is not None:
        parts.append(_FLOOR["digest"] + _sized(floor.digest.hex()))
    if floor.usage is not None:
        parts.append(delimited(_FLOOR["usage"], usage_bytes(floor.usage)))
    for name in ("run_id", "failure_reason", "principal"):
        if value := getattr(floor, name):
            parts.append(_FLOOR[name] + _sized(value))
    if floor.commit_time is not None:
        parts.append(_FLOOR["commit_time"] + _stamp(floor.commit_time))
    return parts


def usage_bytes(usage: Usage) -> bytes:
    """A Usage."""
    return (
        _number(_USAGE["tokens_in"], usage.tokens_in)
        + _number(_USAGE["tokens_out"], usage.tokens_out)
        + _number(_USAGE["estimated"], usage.estimated)
    )


def position_bytes(position: Position) -> bytes:
    """A Position."""
    return b"".join(
        (
            _POSITION["floor_id"] + _sized(position.floor_id),
            _number(_POSITION["input_index"], position.input_index),
            _number(_POSITION["input_count"], position.input_count),
            _number(_POSITION["output_index"], position.output_index),
            _number(_POSITION["output_count"], position.output_count),
        )
    )
