"""Request bytes that no library would write."""

from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor, FieldDescriptor

Numbers = tuple[int, ...]
_LENGTH_DELIMITED = 2


def string_fields(kind: Descriptor, above: tuple[Descriptor, ...] = ()) -> Iterator[Numbers]:
    """Every string in a message, however deep: the field numbers that lead to it. A message inside itself
    is not entered again."""
    for field in kind.fields:
        if field.type == FieldDescriptor.TYPE_STRING:
            yield (field.number,)
        elif field.message_type is not None and field.message_type not in (*above, kind):
            for inner in string_fields(field.message_type, (*above, kind)):
                yield (field.number, *inner)


def at(numbers: Numbers, payload: bytes) -> bytes:
    """A message with `payload` in the length-delimited field that the numbers lead to."""
    for number in reversed(numbers):
        payload = _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(payload)) + payload
    return payload


def nested(levels: int) -> bytes:
    """Unknown groups, one in the other: field 1000, which no message has."""
    return b"\xc3\x3e" * levels + b"\xc4\x3e" * levels


def filler(size: int) -> bytes:
    """Exactly `size` bytes, from 8 on, of a field that no message has."""
    header = _varint(1000 << 3 | _LENGTH_DELIMITED)
    for length in range(size - len(header) - 5, size):
        whole = header + _varint(length)
        if len(whole) + length == size:
            return whole + bytes(length)
    raise ValueError("no such field has this size")


def _varint(value: int) -> bytes:
    digits = []
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])
