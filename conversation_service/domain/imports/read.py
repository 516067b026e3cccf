"""The way in: an upload in one of the formats, one conversation at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from conversation_service.domain.imports import chatgpt, log, oasst, stemma
from conversation_service.domain.imports.archive import members
from conversation_service.domain.imports.model import (
    BadConversation,
    Conversation,
    Encode,
    Found,
    NativeConversation,
    PlannedTree,
)
from conversation_service.domain.imports.shape import plan
from conversation_service.domain.imports.text import utf8
from kernel.errors import invalid

_Reader = Callable[[Iterable[bytes], int, str, Encode], Iterator[Found]]

_READERS: dict[str, _Reader] = {
    "stemma": lambda chunks, first, _name, encode: stemma.read(chunks, encode, first),
    "oasst": lambda chunks, first, _name, _encode: oasst.read(chunks, first),
    "chatgpt": lambda chunks, first, _name, _encode: chatgpt.read(chunks, first),
    "log-jsonl": lambda chunks, first, name, _encode: log.read(chunks, first, name),
}
FORMATS = tuple(_READERS)
_LINES = (".jsonl", ".ndjson", ".json", ".txt")


def read(format: str, chunks: Iterable[bytes], encode: Encode, file_name: str = "") -> Iterator[Found]:
    """What the file holds, in its order, numbered from 0. Lazily: one conversation is held at a time.

    Args:
        format: One of FORMATS.
        chunks: The upload as it comes, of any sizes; gzip, zip, BOMs and UTF-16 are recognised.
        encode: For the digests of `stemma` files.
        file_name: The upload's, for titles.

    Raises: Invalid for an unknown format, and for a file or an archive that cannot be read as a
        whole or holds nothing; Exhausted (LIMIT) beyond 1 GiB unpacked. Also in mid-iteration:
        what came before stands.
    """
    reader = _READERS.get(format)
    if reader is None:
        raise invalid("format", f"must be one of {', '.join(FORMATS)}")
    count = 0
    for member in members(chunks, chatgpt.pick if format == "chatgpt" else _pick):
        for found in reader(utf8(member.chunks), count, member.name or file_name, encode):
            count += 1
            yield found
    if count == 0:
        raise invalid("file", "holds no conversation of this format")


def plans(
    format: str, chunks: Iterable[bytes], encode: Encode, file_name: str = ""
) -> Iterator[PlannedTree | NativeConversation | BadConversation]:
    """`read`, with the floors of each conversation worked out."""
    for found in read(format, chunks, encode, file_name):
        yield plan(found) if isinstance(found, Conversation) else found


def _pick(names: Sequence[str]) -> list[str]:
    """The text files of an archive by their names, or its only file."""
    found = sorted(name for name in names if name.lower().endswith(_LINES))
    return found if found or len(names) != 1 else list(names)
