"""Bytes as text, a character each: Python puts text together faster, and encodes it at once."""

from typing import Any

from kernel.wire.floor_bytes import tags, varint

BYTES = "latin-1"


def text_of(raw: bytes) -> str:
    return raw.decode(BYTES)


def text_tags(descriptor: Any) -> dict[str, str]:
    """As `floor_bytes.tags`."""
    return {name: text_of(tag) for name, tag in tags(descriptor).items()}


# The varints of two bytes at most: below TWO_BYTES.
TWO_BYTES = 1 << 14
NUMBERS = [text_of(varint(number)) for number in range(TWO_BYTES)]
# Fourteen bits of a longer one, which goes on.
LOW_BITS = [text_of(bytes((number & 0x7F | 0x80, number >> 7 | 0x80))) for number in range(TWO_BYTES)]


def number(value: int) -> str:
    """A varint that is not negative."""
    if value < TWO_BYTES:
        return NUMBERS[value]
    if value < 1 << 28:
        return LOW_BITS[value & 0x3FFF] + NUMBERS[value >> 14]
    if value < 1 << 42:
        return f"{LOW_BITS[value & 0x3FFF]}{LOW_BITS[value >> 14 & 0x3FFF]}{NUMBERS[value >> 28]}"
    return text_of(varint(value))
