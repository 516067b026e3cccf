"""How often a database makes its log durable: calls of fdatasync, counted while the service works.

A killed process loses nothing that it has written, synced or not: the kernel keeps it. So kills cannot show
that an acknowledged write would survive a loss of power; what can is that each has been waited for.

SQLite lives in the service's own process. Every loaded library's import of fdatasync and fsync is led over a
counter (by its table of addresses: no compiler, no tracer is needed). PostgreSQL counts for itself
(pg_stat_io; it calls what `wal_sync_method` names).
"""

from __future__ import annotations

import asyncio
import ctypes
import mmap
import os
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

_NAMES = (b"fdatasync", b"fsync")
_ADDRESS = struct.Struct("<Q")
_PT_DYNAMIC = 2
# Tags of the dynamic section: tables of names, symbols and relocations, and the sizes of the latter.
_STRTAB, _SYMTAB, _RELA, _RELASZ, _JMPREL, _PLTRELSZ = 5, 6, 7, 8, 23, 2
# R_X86_64_GLOB_DAT and JUMP_SLOT, R_AARCH64_GLOB_DAT and JUMP_SLOT: a plain address of a symbol.
_IMPORTS = {6, 7, 1025, 1026}

_Sync = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, use_errno=True)
_libc = ctypes.CDLL(None, use_errno=True)


class _Segment(ctypes.Structure):
    """Elf64_Phdr."""

    _fields_ = (
        ("type", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("offset", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("rest", ctypes.c_uint64 * 4),
    )


class _Loaded(ctypes.Structure):
    """The beginning of struct dl_phdr_info."""

    _fields_ = (
        ("base", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("segments", ctypes.POINTER(_Segment)),
        ("count", ctypes.c_uint16),
    )


_Visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Loaded), ctypes.c_size_t, ctypes.c_void_p)


def _dynamic_sections() -> list[tuple[int, int]]:
    """(base, address of the dynamic section) of every library of this process."""
    found: list[tuple[int, int]] = []

    def visit(loaded: ctypes._Pointer[_Loaded], _size: int, _data: int | None) -> int:
        library = loaded.contents
        for number in range(library.count):
            segment = library.segments[number]
            if segment.type == _PT_DYNAMIC:
                found.append((library.base, library.base + segment.address))
        return 0

    _libc.dl_iterate_phdr(_Visit(visit), None)
    return found


def _imports(base: int, dynamic: int) -> Iterator[tuple[bytes, int]]:
    """(name, where its address is kept) of the functions in _NAMES that one library imports."""
    tags: dict[int, int] = {}
    while True:
        tag, value = struct.unpack("<qQ", ctypes.string_at(dynamic, 16))
        if tag == 0:
            break
        tags[tag], dynamic = value, dynamic + 16

    def table(tag: int) -> int:
        # The loader has made an absolute address of it, except where the section is read-only.
        return tags[tag] if tags[tag] >= base else base + tags[tag]

    for start, size in ((_RELA, _RELASZ), (_JMPREL, _PLTRELSZ)):
        if start not in tags:
            continue
        for offset, info, _ in struct.iter_unpack("<QQq", ctypes.string_at(table(start), tags[size])):
            if info & 0xFFFFFFFF in _IMPORTS:
                (name,) = struct.unpack("<I", ctypes.string_at(table(_SYMTAB) + 24 * (info >> 32), 4))
                text = ctypes.string_at(table(_STRTAB) + name)
                if text in _NAMES:
                    yield text, base + offset


def _swap(place: int, address: int) -> int:
    """Writes an address, and returns the one that stood there."""
    page = place - place % mmap.PAGESIZE
    if _libc.mprotect(ctypes.c_void_p(page), mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE):
        raise OSError(ctypes.get_errno(), "an import cannot be led over the counter")
    (before,) = _ADDRESS.unpack(ctypes.string_at(place, 8))
    ctypes.memmove(place, _ADDRESS.pack(address), 8)
    return int(before)


@contextmanager
def counted_syncs() -> Iterator[Counter[str]]:
    """Counts this process's calls of fdatasync and fsync by the path of the file, while the block lasts.

    Linux with 64 bits. Import the libraries to be counted before. Raises OSError when nothing can be counted.
    """
    counts: Counter[str] = Counter()

    def counter(name: bytes) -> ctypes._CFunctionType:
        real = _Sync((name.decode(), _libc))

        def sync(descriptor: int) -> int:
            counts[os.readlink(f"/proc/self/fd/{descriptor}")] += 1
            return int(real(descriptor))

        return _Sync(sync)

    counters = {name: counter(name) for name in _NAMES}
    addresses = {name: ctypes.cast(counters[name], ctypes.c_void_p).value or 0 for name in _NAMES}
    found = [place for base, dynamic in _dynamic_sections() for place in _imports(base, dynamic)]
    if not found:
        raise OSError("no library of this process imports fdatasync")
    before = [(place, _swap(place, addresses[name])) for name, place in found]
    try:
        yield counts
    finally:
        for place, address in before:
            _swap(place, address)


async def postgres_syncs(url: str, *, at_least: int = 0) -> int:
    """How often the server at `url` has synced its log: once nobody else is connected (a process counts when
    it ends), and once there are `at_least` so many (the log's own writer counts a moment later).

    Raises TimeoutError when that takes 20 s.
    """
    connection = await asyncpg.connect(url)
    try:
        async with asyncio.timeout(20):
            while True:
                others, syncs = await connection.fetchrow(
                    "SELECT (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                    " AND pid <> pg_backend_pid()),"
                    " (SELECT coalesce(sum(fsyncs), 0)::int FROM pg_stat_io WHERE object = 'wal')"
                )
                if not others and syncs >= at_least:
                    return int(syncs)
                await asyncio.sleep(0.02)
    finally:
        await connection.close()
