"""Which format a file has, by its beginning: only when there is no doubt."""

import codecs
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from stemma_cli.errors import UsageError
from stemma_cli.files.first_object import Cut, first_object
from stemma_cli.options import Format

# What is looked at of a file, unpacked, and of how many files of an archive.
_HEAD = 256 * 1024
_MEMBERS = 5
_TEXT = (".jsonl", ".ndjson", ".json", ".txt")
_CHATGPT = re.compile(r"(?:.*/)?conversations[-_ ]?\(?\d*\)?\.json", re.IGNORECASE)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Guess:
    """A format, and what shows it."""

    format: Format
    why: str


def guess(path: Path) -> Guess:
    """Raises UsageError when it is not clear, or the file cannot be read."""
    try:
        found = _guess(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or 'it is damaged'}.") from None
    if found is None:
        names = " | ".join(Format)
        raise UsageError(f"{path} does not show clearly which format it has: say --format {names}.")
    return found


def _guess(path: Path) -> Guess | None:
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if head.startswith(b"PK"):
        return _of_archive(path)
    if head.startswith(b"\x1f\x8b"):
        head = _gunzipped(head)
        return _of_text(head, path.name.removesuffix(".gz"))
    return _of_text(head, path.name)


def _gunzipped(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(head, _HEAD)
    except zlib.error:
        return b""


def _of_archive(path: Path) -> Guess | None:
    """What all the files that are looked at agree on."""
    try:
        with ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.lower().endswith(_TEXT)]
            shards = [name for name in names if _CHATGPT.fullmatch(name)]
            if shards:
                return Guess(Format.CHATGPT, f"it holds {shards[0]}")
            found: list[Guess | None] = []
            for name in names[:_MEMBERS]:
                with archive.open(name) as member:
                    found.append(_of_text(member.read(_HEAD), name))
    except (BadZipFile, zlib.error, EOFError, ValueError, RuntimeError):
        return None
    formats = {one.format if one else None for one in found}
    return found[0] if len(formats) == 1 else None


def _of_text(head: bytes, name: str) -> Guess | None:
    text = _decoded(head).lstrip()
    in_array = text.startswith("[")
    fields = first_object(text[1:] if in_array else text)
    if _is_object(fields.get("mapping")):
        return Guess(Format.CHATGPT, "its first conversation has a mapping")
    if in_array:
        named = _CHATGPT.fullmatch(name) and fields
        return Guess(Format.CHATGPT, "it is an array with the name of a ChatGPT export") if named else None
    if "stemma" in fields and fields.get("kind") == "session":
        return Guess(Format.STEMMA, "its first line is a session of Stemma's own")
    if _is_object(fields.get("prompt")):
        return Guess(Format.OASST, "its first line is a prompt with replies inside")
    if "rollback_to" in fields or ("role" in fields and fields.keys() & {"content", "stemma"}):
        return Guess(Format.LOG_JSONL, "its first line is a message with a role")
    return None


def _is_object(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, Cut) and value.begins == "{")


def _decoded(head: bytes) -> str:
    """What is no text becomes nothing, as at the end, where a character may be cut."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return head[len(mark) :].decode(encoding, errors="ignore")
    return head.decode(errors="ignore")
