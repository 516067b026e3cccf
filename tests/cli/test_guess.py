"""Which format a file is taken for, and that nothing is guessed when it is not clear."""

import gzip
import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from stemma_cli.errors import UsageError
from stemma_cli.files.first_object import Cut, first_object
from stemma_cli.files.guess import guess
from stemma_cli.options import Format

from conversation_service.domain.exports.write import MEDIA_TYPES
from conversation_service.domain.imports.read import FORMATS
from tests.cli.files import tree

CHATGPT = json.dumps([{"title": "T", "create_time": 1.5, "mapping": {"a": {"message": None}}}])
STEMMA = json.dumps({"stemma": 1, "kind": "session", "title": "T"})
OASST = json.dumps(tree(1))
LOG = json.dumps({"id": 1, "role": "user", "content": "hi"})
LONG = {"message_tree_id": "x", "prompt": {"text": "x" * 400_000, "role": "prompter"}}


def test_the_names_are_the_services_own() -> None:
    assert set(Format) == set(FORMATS) == set(MEDIA_TYPES)


@pytest.mark.parametrize(
    ("text", "format"),
    [
        (CHATGPT, Format.CHATGPT),
        (CHATGPT[1:-1], Format.CHATGPT),
        (json.dumps([{"mapping": {"a": "x" * 400_000}}]), Format.CHATGPT),
        (f" {STEMMA}\n", Format.STEMMA),
        (f"\n{OASST}\n{OASST}\n", Format.OASST),
        (json.dumps(LONG), Format.OASST),
        (LOG, Format.LOG_JSONL),
        (json.dumps({"id": 1, "role": "user", "stemma": {}}), Format.LOG_JSONL),
        (json.dumps({"id": "head", "rollback_to": ""}), Format.LOG_JSONL),
    ],
)
def test_a_clear_beginning_is_taken(tmp_path: Path, text: str, format: Format) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    assert guess(plain).format is format
    assert guess(packed).format is format
    for encoding in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le"):
        plain.write_bytes(f"\ufeff{text}".encode(encoding))
        assert guess(plain).format is format


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"n": ' + b"9" * 5_000 + b"}",
        b"[1, 2]",
        b"[]",
        b'[{"title": "T"}]',
        b'{"mapping": 1}',
        b'{"prompt": "a", "completion": "b"}',
        b'{"messages": [{"role": "user", "content": "x"}]}',
        b'{"message_id": "1", "parent_id": null, "role": "prompter", "text": "x"}',
        b'{"stemma": 1}',
        bytes(range(256)),
        b"\x1f\x8bnonsense",
        b"PK\x03\x04nonsense",
    ],
)
def test_what_is_not_clear_is_not_guessed(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=r"say --format stemma \| oasst \| chatgpt \| log-jsonl"):
        guess(file)


@pytest.mark.parametrize(
    ("members", "format"),
    [
        ({"conversations.json": "[]", "user.json": "{}", "chat.html": ""}, Format.CHATGPT),
        ({"x/conversations-001.json": "[]", "conversations-000.json": "[]"}, Format.CHATGPT),
        ({"a.jsonl": OASST, "b.jsonl": OASST, "c.png": ""}, Format.OASST),
        ({"a.jsonl": OASST, "b.jsonl": LOG}, None),
        ({"a.jsonl": OASST, "b.jsonl": "?"}, None),
        ({"a.png": OASST}, None),
    ],
)
def test_an_archive_is_what_its_files_agree_on(
    tmp_path: Path, members: dict[str, str], format: Format | None
) -> None:
    file = tmp_path / "archive"
    with ZipFile(file, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    if format is None:
        with pytest.raises(UsageError):
            guess(file)
    else:
        assert guess(file).format is format


def test_the_name_helps_where_a_chatgpt_export_begins_oddly(tmp_path: Path) -> None:
    file = tmp_path / "conversations-002.json"
    file.write_text('[{"title": "no mapping"}]')
    assert guess(file).format is Format.CHATGPT


def test_the_fields_of_an_object_are_read_as_far_as_it_goes() -> None:
    assert first_object(' {"a" : [1, {}] , "b":"x"} rest') == {"a": [1, {}], "b": "x"}
    assert first_object('{"a": 1, "b": {"c') == {"a": 1, "b": Cut("{")}
    assert first_object('{"a": 1, "b') == {"a": 1}
    assert first_object('{"a" 1}') == {}
    assert first_object("{}") == {}
    assert first_object('["a"]') == {}
