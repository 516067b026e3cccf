"""Ways to damage the bytes of a protobuf message that know how it is built."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
ODD_BYTES = [b"", b"\0", b"\xff", b"\xed\xa0\x80", b"\xe2\x80\xae", b"-1", b"..", b"x" * 5_000, b"[" * 5_000]
ODD_BYTES += [
    b"main",
    b"00000000-0000-0000-0000-000000000000",
    b"' OR 1=1 --",
    b"\xef\xbb\xbf",
    b"{}",
    b"1e999",
]
ODD_NUMBERS = [0, 1, 2, 127, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1]


@dataclass(frozen=True, slots=True)
class Field:
    """`value`: the bytes of what is length-delimited or fixed, the number of a varint."""

    number: int
    kind: int
    value: bytes | int


def fields(raw: bytes) -> list[Field]:
    """The message's fields, in their order. Raises ValueError for bytes that are no message."""
    return list(_fields(raw))


def joined(parts: list[Field]) -> bytes:
    return b"".join(map(_encoded, parts))


def mutated(dice: random.Random, raw: bytes) -> bytes:
    """The message with one to four changes."""
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        raw = dice.choice(_WAYS)(dice, raw)
    return raw


def _inside(dice: random.Random, raw: bytes) -> bytes:
    """Changes one field, or, where that holds a message, something in it."""
    try:
        parts = fields(raw)
    except ValueError:
        return _flip(dice, raw)
    if not parts:
        return _odd_field(dice, raw)
    at = dice.randrange(len(parts))
    part = parts[at]
    if isinstance(part.value, bytes) and part.value and dice.random() < 0.6:
        parts[at] = Field(part.number, part.kind, _inside(dice, part.value))
    else:
        parts[at : at + 1] = _changed(dice, part, parts)
    return joined(parts)


def _changed(dice: random.Random, part: Field, others: list[Field]) -> list[Field]:
    way = dice.randrange(6)
    if way == 0:
        return []
    if way == 1:
        return [part] * dice.choice((2, 3, 200))
    if way == 2:
        return [Field(dice.choice((1, 2, 3, 5, 9, 15, 16, 1000, 2**29 - 1)), part.kind, part.value)]
    if way == 3:
        return [Field(part.number, dice.choice(others).kind, dice.choice(others).value)]
    if way == 4:
        return [Field(part.number, _VARINT, dice.choice(ODD_NUMBERS))]
    return [Field(part.number, _BYTES, dice.choice(ODD_BYTES))]


def _flip(dice: random.Random, raw: bytes) -> bytes:
    held = bytearray(raw)
    for _ in range(dice.randint(1, 4) if held else 0):
        held[dice.randrange(len(held))] ^= 1 << dice.randrange(8)
    return bytes(held)


def _cut(dice: random.Random, raw: bytes) -> bytes:
    return raw[: dice.randint(0, len(raw))]


def _lie(dice: random.Random, raw: bytes) -> bytes:
    """A field whose length is another than what follows."""
    size = dice.choice((1, 127, 2**14, 2**31 - 1, 2**32, 2**63))
    return raw + _varint(dice.randint(1, 15) << 3 | _BYTES) + _varint(size) + b"abc"


def _deep(dice: random.Random, raw: bytes) -> bytes:
    """The message, or nothing, many levels down in one of its fields."""
    number = dice.randint(1, 15)
    inner = dice.choice((raw, b""))
    for _ in range(dice.choice((3, 99, 101, 1_000))):
        inner = _encoded(Field(number, _BYTES, inner))
    return raw + inner


def _odd_field(dice: random.Random, raw: bytes) -> bytes:
    value: bytes | int = dice.choice(ODD_BYTES)
    return raw + _encoded(Field(dice.randint(1, 20), _BYTES, value))


_WAYS: list[Callable[[random.Random, bytes], bytes]] = [_flip, _cut, _lie, _deep, _odd_field, *[_inside] * 7]


def _fields(raw: bytes) -> Iterator[Field]:
    at = 0
    while at < len(raw):
        tag, at = _read_varint(raw, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _read_varint(raw, at)
            yield Field(number, kind, value)
            continue
        if kind == _BYTES:
            size, at = _read_varint(raw, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError("no such kind of field")
        if number == 0 or at + size > len(raw):
            raise ValueError("no message")
        yield Field(number, kind, raw[at : at + size])
        at += size


def _encoded(part: Field) -> bytes:
    if isinstance(part.value, int):
        return _varint(part.number << 3 | _VARINT) + _varint(part.value)
    tag = _varint(part.number << 3 | part.kind)
    return (
        tag + part.value if part.kind in (_FIXED64, _FIXED32) else tag + _varint(len(part.value)) + part.value
    )


def _read_varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(raw) and shift < 70:
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at
    raise ValueError("no varint")


def _varint(value: int) -> bytes:
    digits = []
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])
