"""An upload, unpacked: gzip and zip are known by their first bytes, anything else passes as it is.

At most 1 GiB comes out, whatever the archive claims, and little of it is held at any time. A zip
needs its end first, so it is kept in a temporary file; everything else is read as it comes.
"""

import struct
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, LargeZipFile, ZipFile, ZipInfo

from conversation_service.domain.imports.text import peeked
from kernel.errors import Exhausted, Invalid, invalid

MAX_BYTES = 1024 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_CHUNK = 256 * 1024
# A zip's directory is read in one piece, and each entry becomes an object of many times its size.
_MAX_DIRECTORY = 8 * 1024 * 1024

Pick = Callable[[Sequence[str]], Sequence[str]]
"""Which files of an archive to read, in which order, by their paths in it."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an upload. `name` is its path in the archive, empty when there is none."""

    name: str
    chunks: Iterator[bytes]


def members(chunks: Iterable[bytes], pick: Pick) -> Iterator[Member]:
    """The files of an upload, each to be read before the next.

    Raises: Invalid, for an archive that is broken, encrypted, packed in an unusual way, inside of
        another, or has a path that leads out of it; Exhausted (LIMIT) beyond 1 GiB. Both also from
        the chunks.
    """
    head, source = peeked(chunks, 4)
    if head.startswith(_ZIP):
        yield from _zip_members(source, pick)
    elif head.startswith(_GZIP):
        yield Member("", _flat(_limited(_gunzipped(source))))
    else:
        yield Member("", _limited(source))


def _limited(chunks: Iterable[bytes], budget: list[int] | None = None) -> Iterator[bytes]:
    """The chunks, counted against `budget` (one number, shared by all files of an archive)."""
    left = [MAX_BYTES] if budget is None else budget
    for chunk in chunks:
        left[0] -= len(chunk)
        if left[0] < 0:
            raise _too_large()
        yield chunk


def _too_large() -> Exhausted:
    return Exhausted("LIMIT", "The file is larger than 1 GiB unpacked. Split it.")


def _flat(chunks: Iterator[bytes]) -> Iterator[bytes]:
    head, source = peeked(chunks, 4)
    if head.startswith((_GZIP, *_ZIP)):
        raise invalid("file", "is an archive inside of an archive: unpack it first")
    yield from source


def _gunzipped(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """One gzip stream, or several one after the other."""
    unpack = zlib.decompressobj(wbits=31)
    try:
        for piece in _pieces(chunks):
            waiting = piece
            while waiting or unpack.unconsumed_tail:
                if unpack.eof:
                    unpack = zlib.decompressobj(wbits=31)
                yield unpack.decompress(unpack.unconsumed_tail + waiting, _CHUNK)
                waiting = unpack.unused_data
        while not unpack.eof and (rest := unpack.decompress(unpack.unconsumed_tail, _CHUNK)):
            yield rest
    except zlib.error:
        raise invalid("file", "is damaged: its gzip data cannot be unpacked") from None
    if not unpack.eof:
        raise invalid("file", "is damaged: its gzip data ends too early")


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Small enough that what a bomb leaves unread is cheap to carry over."""
    for chunk in chunks:
        for begin in range(0, len(chunk), _CHUNK):
            yield chunk[begin : begin + _CHUNK]


class _Guarded:
    """A file that gives no more at once than a sane archive needs."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, count: int = -1) -> bytes:
        if count > _MAX_DIRECTORY:
            raise Exhausted("LIMIT", "The archive holds too many files.")
        return self._file.read(count)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True


def _zip_members(chunks: Iterable[bytes], pick: Pick) -> Iterator[Member]:
    with tempfile.TemporaryFile() as file:
        for chunk in _limited(chunks):
            file.write(chunk)
        file.seek(0)
        archive = _opened(file)
        for name in archive.namelist():
            _check_path(name)
        entries = {entry.filename: entry for entry in archive.infolist() if not entry.is_dir()}
        chosen = [entries[name] for name in pick(list(entries))]
        for entry in chosen:
            _check_entry(entry)
        if sum(entry.file_size for entry in chosen) > MAX_BYTES:
            raise _too_large()
        budget = [MAX_BYTES]
        for entry in chosen:
            yield Member(entry.filename, _flat(_limited(_read(archive, entry), budget)))


def _opened(file: IO[bytes]) -> ZipFile:
    try:
        return ZipFile(_Guarded(file))
    except Exhausted:
        raise
    except _DAMAGED:
        raise _damaged() from None


def _read(archive: ZipFile, entry: ZipInfo) -> Iterator[bytes]:
    try:
        with archive.open(entry) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    except _DAMAGED:
        raise _damaged() from None


# What zipfile lets out for bytes that are no archive, besides its own errors.
_DAMAGED = (
    BadZipFile,
    LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    ArithmeticError,
    LookupError,
    OSError,
    RuntimeError,
)


def _damaged() -> Invalid:
    return invalid("file", "is damaged: its zip data cannot be unpacked")


def _check_path(name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or parts[0] == "" or ":" in parts[0] or "\0" in name:
        raise invalid("file", "is an archive with a path that leads out of it")


def _check_entry(entry: ZipInfo) -> None:
    if entry.flag_bits & 0x1:
        raise invalid("file", "is an encrypted archive: unpack it first")
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise invalid("file", "is an archive packed in an unusual way: use deflate")
