"""Bad input 59 for uploads: what is packed, how, and in which encoding."""

import codecs
import gzip
import io
import itertools
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator

import pytest

from conversation_service.domain.imports import archive
from conversation_service.domain.imports.archive import members
from conversation_service.domain.imports.model import BadConversation
from conversation_service.domain.imports.text import TooLong, lines, utf8
from kernel.errors import Exhausted, Invalid, StemmaError
from tests.formats.support import chatgpt_conversation, chatgpt_node, found, pieces


def conversation(name: str) -> dict[str, object]:
    return chatgpt_conversation(chatgpt_node("u1", "top", text="é" + name), current="u1", title=name)


def export_of(*names: str) -> bytes:
    return json.dumps([conversation(name) for name in names], ensure_ascii=False).encode()


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as into:
        for name, data in files.items():
            into.writestr(name, data)
    return held.getvalue()


def titles(data: bytes, format: str = "chatgpt") -> list[str]:
    return [result.title for result in found(format, data)]


def refused(data: bytes, says: str, format: str = "chatgpt") -> None:
    with pytest.raises(Invalid) as caught:
        found(format, data)
    assert says in str(caught.value)


def test_numbered_shards_in_a_zip_are_read_by_their_numbers() -> None:
    names = {"conversations-10.json": "c", "x/conversations-2.json": "b", "conversations-000.json": "a"}
    shards = {name: export_of(title, title + "2") for name, title in names.items()}
    results = found(
        "chatgpt", zipped({"chat.html": b"<html>", "user.json": b"{}", "dalle/1.png": b"\x89PNG"} | shards)
    )
    assert [result.title for result in results] == ["a", "a2", "b", "b2", "c", "c2"]
    assert [result.index for result in results] == list(range(6))


def test_a_gzip_and_several_in_a_row() -> None:
    whole = export_of("a", "b")
    assert titles(gzip.compress(whole)) == ["a", "b"]
    assert titles(gzip.compress(whole[:50]) + gzip.compress(whole[50:])) == ["a", "b"]
    (small,) = found("chatgpt", pieces(gzip.compress(export_of("a")), 1))
    assert small.title == "a"


def test_a_zip_of_lines_for_the_other_formats() -> None:
    line = b'{"id":"1","role":"user","content":"x"}\n'
    data = zipped({"readme.md": b"#", "b.jsonl": line, "a.jsonl": line})
    assert titles(data, "log-jsonl") == ["a", "b"]
    assert titles(zipped({"only": line}), "log-jsonl") == ["only"]


def test_a_byte_order_mark_and_its_encoding() -> None:
    text = export_of("a", "b").decode()
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ):
        data = mark + text.encode(encoding)
        assert titles(data) == ["a", "b"]
        assert [result.title for result in found("chatgpt", pieces(data, 3))] == ["a", "b"]
    refused(codecs.BOM_UTF16_LE + text.encode("utf-16-le") + b"\x00", "UTF-16-LE")
    refused(codecs.BOM_UTF16_LE + b"\x00\xd8" + text.encode("utf-16-le"), "UTF-16-LE")


def test_mixed_encodings_are_the_fault_of_their_conversation() -> None:
    latin = json.dumps(conversation("b"), ensure_ascii=False).encode("latin-1")
    data = export_of("a")[:-1] + b"," + latin + b"," + export_of("c")[1:]
    one, two, three = found("chatgpt", data)
    assert isinstance(two, BadConversation)
    assert "UTF-8" in two.message
    assert (one.title, three.title) == ("a", "c")


@pytest.mark.parametrize("name", ["../x.json", "/x.json", "a/../../x.json", "..\\x.json", "C:\\x.json"])
def test_a_path_out_of_the_archive(name: str) -> None:
    refused(zipped({"conversations.json": export_of("a"), name: b""}), "leads out")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_unusual_packing(method: int) -> None:
    refused(zipped({"conversations.json": export_of("a")}, method), "unusual")


def test_an_encrypted_archive() -> None:
    data = bytearray(zipped({"conversations.json": export_of("a")}))
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + offset] |= 1
    refused(bytes(data), "encrypted")


def test_an_archive_inside_of_an_archive() -> None:
    inner = zipped({"conversations.json": export_of("a")})
    for data in (
        zipped({"conversations.json": inner}),
        gzip.compress(inner),
        gzip.compress(gzip.compress(b"[]")),
    ):
        refused(data, "inside of an archive")


def test_damaged_archives() -> None:
    packed = gzip.compress(export_of("a", "b", "c"))
    for data in (packed[:-5], packed[:30], packed + b"rubbish", packed[:20] + b"\0\0\0" + packed[23:]):
        refused(data, "damaged")
    whole = zipped({"conversations.json": export_of("a", "b")})
    broken = bytearray(whole)
    broken[70] ^= 0xFF
    for data in (whole[:-30], whole[:40], b"PK\x03\x04", bytes(broken)):
        refused(data, "damaged")


def test_a_file_without_a_name() -> None:
    refused(zipped({"@@": b"x"}).replace(b"@@", b"\0\0"), "leads out")


def test_nothing_to_read() -> None:
    for data in (b"", b" \n", b"[]", gzip.compress(b""), zipped({}), zipped({"picture.png": b"x"})):
        refused(data, "no conversation")
    refused(b"]", "closes nothing")
    with pytest.raises(Invalid) as caught:
        found("papyrus", b"[]")
    assert "format" in str(caught.value)


def test_a_gibibyte_is_the_most_that_comes_out() -> None:
    """Bad input 9, for files: nothing of it is held."""
    block = zlib.compressobj(9, wbits=31)
    bomb = block.compress(bytes(32 * 1024 * 1024)) + block.flush()
    data = bomb * 33
    assert len(data) < 2 * 1024 * 1024
    with pytest.raises(Exhausted) as caught:
        found("oasst", data)
    assert caught.value.reason == "LIMIT"


def test_a_zip_that_lies_about_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 1_000_000)
    honest = zipped({"a.jsonl": bytes(600_000), "b.jsonl": bytes(600_000)})
    with pytest.raises(Exhausted):
        found("oasst", honest)
    lying = bytearray(zipped({"a.jsonl": b" " * 2_000_000}))
    at = lying.index(b"PK\x01\x02") + 24
    lying[at : at + 4] = struct.pack("<I", 10)
    with pytest.raises(StemmaError):
        found("oasst", bytes(lying))
    with pytest.raises(Exhausted):
        found("oasst", itertools.repeat(b"x" * 100_000))
    with pytest.raises(Exhausted):
        found("oasst", itertools.chain([b"PK\x03\x04"], itertools.repeat(b"x" * 100_000)))


def test_a_zip_with_too_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_MAX_DIRECTORY", 10_000)
    with pytest.raises(Exhausted):
        found("oasst", zipped({f"{number}.jsonl": b"" for number in range(500)}))


def test_a_long_line_is_let_go_and_the_next_is_read() -> None:
    data = [b"a" * 5, b"b" * 5 + b"\nshort\n\n \r\n" + b"c" * 4, b"\n" + b"d" * 10 + b"\n" + b"e" * 11]
    assert list(lines(data, 10)) == [
        (1, b"aaaaabbbbb"),
        (2, b"short"),
        (5, b"cccc"),
        (6, b"dddddddddd"),
        (7, TooLong()),
    ]
    assert list(lines([b"x" * 9, b"x" * 9, b"\nok"], 10)) == [(1, TooLong()), (2, b"ok")]


def test_a_plain_upload_is_read_as_it_comes() -> None:
    taken: list[int] = []

    def chunks() -> Iterator[bytes]:
        for number in range(100):
            taken.append(number)
            yield b"chunk"

    (member,) = members(chunks(), list)
    assert next(utf8(member.chunks)) == b"chunk"
    assert len(taken) == 1
