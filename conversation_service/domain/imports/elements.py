"""The elements of a huge JSON array, one at a time, without reading any of them.

Only strings and brackets are looked at. So an element that is not valid JSON still has an end, and
the ones after it are found; a parser of the whole would stop there.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from conversation_service.domain.imports.text import TooLong
from kernel.errors import invalid

# Whole strings and what is no bracket. Possessive: nothing is tried twice.
_SKIP = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_STRING_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_QUOTE, _BACKSLASH, _OPENS = b'"'[0], b"\\"[0], b"[{"


@dataclass(frozen=True, slots=True)
class Element:
    """The bytes of one element, and how deep its brackets go. `cut`: the file ends inside it."""

    data: bytes
    depth: int
    cut: bool = False


def elements(chunks: Iterable[bytes], maximum: int) -> Iterator[Element | TooLong]:
    """The elements of one array, or of several values one after the other.

    What stands between elements and is no object or array (`null`, say) is an element too. A file
    that ends before its array does gives a last element that is `cut`.

    Raises: Invalid, for a bracket that closes nothing: there is no telling where anything is.
    """
    scanner = _Scanner(maximum)
    for chunk in chunks:
        yield from scanner.feed(chunk)
    yield from scanner.finish()


@dataclass(slots=True)
class _Scanner:
    _maximum: int
    _depth: int = 0
    _deepest: int = 0
    _in_array: bool = False
    _in_string: bool = False
    _escaped: bool = False
    _held: bytearray = field(default_factory=bytearray)
    _length: int = 0

    @property
    def _base(self) -> int:
        return 1 if self._in_array else 0

    def feed(self, chunk: bytes) -> Iterator[Element | TooLong]:
        begin = at = 0
        while True:
            if self._in_string:
                at = self._string(chunk, at)
                if self._in_string:
                    break
            at = self._inside(chunk, at)
            if at == len(chunk):
                break
            byte, at = chunk[at], at + 1
            if byte == _QUOTE:
                self._in_string = True
            elif byte in _OPENS:
                yield from self._open(chunk, begin, at)
                begin = at if self._depth == self._base else at - 1
            else:
                yield from self._close(chunk, begin, at)
                begin = at
        self._keep(chunk[begin:])

    def _inside(self, chunk: bytes, at: int) -> int:
        """Passes what changes nothing but the depth: to a bracket that begins or ends an element or an
        array, to a string that goes on in the next chunk, or to the chunk's end."""
        depth, deepest, base, end = self._depth, self._deepest, self._base, len(chunk)
        while (at := _skipped(chunk, at)) < end:
            byte = chunk[at]
            if byte == _QUOTE or depth == base or (depth == base + 1 and byte not in _OPENS):
                break
            if byte in _OPENS:
                depth += 1
                deepest = max(deepest, depth - base)
            else:
                depth -= 1
            at += 1
        self._depth, self._deepest = depth, deepest
        return at

    def finish(self) -> Iterator[Element | TooLong]:
        if self._depth > self._base or self._in_string:
            yield self._taken(cut=True)
            return
        yield from self._between()
        if self._in_array:
            yield Element(b"", 0, cut=True)

    def _string(self, chunk: bytes, at: int) -> int:
        """Where the string goes on to; sets whether it has ended."""
        if self._escaped:
            if not chunk:
                return at
            at += 1
            self._escaped = False
        match = _STRING_REST.match(chunk, at)
        assert match is not None
        end = match.end()
        if end == len(chunk):
            return end
        self._in_string = chunk[end] == _BACKSLASH
        self._escaped = self._in_string
        return end + 1

    def _open(self, chunk: bytes, begin: int, at: int) -> Iterator[Element | TooLong]:
        """A bracket outside of any element: it begins one, or the array."""
        self._keep(chunk[begin : at - 1])
        yield from self._between()
        if not self._in_array and chunk[at - 1 : at] == b"[":
            self._in_array = True
        else:
            self._deepest = 1
        self._depth += 1

    def _close(self, chunk: bytes, begin: int, at: int) -> Iterator[Element | TooLong]:
        """A bracket that ends an element, or the array."""
        if self._depth > self._base:
            self._depth -= 1
            self._keep(chunk[begin:at])
            yield self._taken()
            return
        self._keep(chunk[begin : at - 1])
        yield from self._between()
        if not self._in_array:
            raise invalid("file", "has a bracket that closes nothing: it is not JSON")
        self._in_array = False
        self._depth = 0

    def _between(self) -> Iterator[Element | TooLong]:
        """What was kept outside of brackets, when it is more than commas and space."""
        taken = self._taken()
        if isinstance(taken, TooLong):
            yield taken
        elif data := taken.data.strip(b" \t\r\n,"):
            yield Element(data, 0)

    def _keep(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self._maximum:
            self._held.clear()
        else:
            self._held += piece

    def _taken(self, cut: bool = False) -> Element | TooLong:
        element = Element(bytes(self._held), self._deepest, cut)
        too_long = self._length > self._maximum
        self._held.clear()
        self._length = self._deepest = 0
        return TooLong() if too_long else element


def _skipped(chunk: bytes, at: int) -> int:
    match = _SKIP.match(chunk, at)
    assert match is not None
    return match.end()
