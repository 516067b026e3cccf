"""Chunks of bytes as UTF-8, and as lines. Bounded: nothing longer than a line is held."""

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kernel.errors import invalid

# Longest first: UTF-32's mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF8, ""),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LONGEST_MARK = 4


@dataclass(frozen=True, slots=True)
class TooLong:
    """Stands for a piece of the file that is longer than it may be, and was let go."""


def peeked(chunks: Iterable[bytes], count: int) -> tuple[bytes, Iterator[bytes]]:
    """The first `count` bytes, fewer when there are no more, and all chunks from the beginning."""
    source = iter(chunks)
    held = b""
    while len(held) < count and (chunk := next(source, None)) is not None:
        held += chunk
    return held[:count], _again(held, source)


def _again(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The text in UTF-8, without a byte order mark; UTF-16 and UTF-32 are known by theirs.

    Bytes without a mark pass as they are: their reader checks them, one conversation at a time.
    Raises: Invalid, for bytes that their mark contradicts.
    """
    head, source = peeked(chunks, _LONGEST_MARK)
    mark, encoding = next((m for m in _MARKS if head.startswith(m[0])), (b"", ""))
    pieces = _without(source, len(mark))
    if not encoding:
        yield from pieces
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", True).encode()
    except UnicodeError:
        raise invalid("file", f"is not the {encoding.upper()} that its byte order mark says") from None


def _without(chunks: Iterator[bytes], count: int) -> Iterator[bytes]:
    for chunk in chunks:
        if piece := chunk[count:]:
            yield piece
        count = max(0, count - len(chunk))


def lines(chunks: Iterable[bytes], maximum: int) -> Iterator[tuple[int, bytes | TooLong]]:
    """Each line that is not blank, with its number from 1; TooLong for one of more than `maximum` bytes."""
    held = bytearray()
    length, number = 0, 1
    for chunk in chunks:
        begin = 0
        while (end := chunk.find(b"\n", begin)) != -1:
            length += end - begin
            if length <= maximum:
                held += chunk[begin:end]
            yield from _line(number, held, length > maximum)
            held.clear()
            length, number, begin = 0, number + 1, end + 1
        length += len(chunk) - begin
        if length > maximum:
            held.clear()
        else:
            held += chunk[begin:]
    yield from _line(number, held, length > maximum)


def _line(number: int, held: bytearray, too_long: bool) -> Iterator[tuple[int, bytes | TooLong]]:
    if too_long:
        yield number, TooLong()
    elif line := bytes(held).strip():
        yield number, line
