"""Good files of each format, and ways to damage them: by bytes, and by members of their JSON."""

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conversation_service.domain.exports.write import export
from conversation_service.domain.imports.model import PlannedTree
from kernel.tree.message import File, Message, Reasoning, Text, ToolCall, ToolResult
from kernel.tree.model import Role
from tests.formats.sessions import session_of
from tests.formats.support import chatgpt_conversation, chatgpt_node, planned, plans

FILE = Path(__file__).parents[1] / "fixtures" / "imports" / "oasst_en_100_trees.jsonl.gz"

TOKENS = [b"null", b"{}", b"[]", b'"', b"\\", b",", b":", b"{", b"}", b"[", b"]", b"\n", b"1e999", b"NaN"]
TOKENS += [b"-0", b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\xff", b'"\\ud800"', b"\\u0000", b'"replies":[']
TOKENS += [b'"parent":', b'"children":', b'"id":', b'"edits":"', b'"rollback_to":"', b'"mapping":']
TOKENS += [b"[" * 40, b"9" * 5000, b'{"stemma":', b'"kind":"end"', b"\x1f\x8b", b"PK\x03\x04"]

ODD: list[Any] = [None, True, 0, -1, 1.5, 2**70, "", "x", "\u0000", "\ud800", [], {}, [None], {"": 0}]

PARTS = (
    Text("t"),
    File("image/png", "", b"\x89PNG"),
    ToolCall("c", "f", '{"a":1}'),
    ToolResult("c", "r", True),
    Reasoning("why", "sig"),
)
FULL = {"role": "tool", "parts": [{"text": "x"}], "name": "n", "hidden": True, "metadata": {"a": "b"}}
SEEN = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://f"}
LOOK = {"content_type": "multimodal_text", "parts": [SEEN, "see", {"odd": 1}]}
WHY = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}]}


def _chatgpt() -> bytes:
    """A talk with the format's quirks."""
    nodes = [
        chatgpt_node("s", "top", "system", ""),
        chatgpt_node("u", "s", content=LOOK),
        chatgpt_node("a", "u", "assistant", recipient="python"),
        chatgpt_node("t", "a", "tool", metadata={"stemma": FULL}),
        chatgpt_node("b", "u", "assistant", content=WHY),
    ]
    return json.dumps([chatgpt_conversation(*nodes, current="t")]).encode()


def _stemma() -> bytes:
    """The same talk as a session, with one more message of every kind of part."""
    tree = planned("chatgpt", _chatgpt())
    first, *rest = tree.floors
    message = Message(Role.ASSISTANT, PARTS, "n", True, {"k": "v"})
    first = replace(first, output=(*(first.output or ()), message))
    return b"".join(export("stemma", session_of(replace(tree, floors=(first, *rest)))))


LOG = b"""{"id":"1","role":"user","content":"a","time":"2026-01-01"}
{"id":"2","role":"assistant","content":"b"}
{"id":"3","role":"assistant","content":"c","regenerates":"2"}
{"id":"4","role":"user","content":["d",{"type":"text","text":"e"}]}
{"id":"5","role":"user","content":"f","edits":"4"}
{"id":"6","rollback_to":"3"}
{"id":7,"role":"tool","content":"g","parent":"1","stemma":{"role":"tool","parts":[{"text":"x"}]}}
"""


def seeds(format: str) -> list[bytes]:
    """Small good files: real trees, written in the format, and some with its quirks."""
    real = gzip.decompress(FILE.read_bytes()).splitlines(keepends=True)
    real = sorted(real, key=len)[:16:2]
    trees = [tree for line in real for tree in plans("oasst", line) if isinstance(tree, PlannedTree)]
    found = [b"".join(export(format, session_of(tree))) for tree in trees]
    own = {"oasst": real, "chatgpt": [_chatgpt()], "stemma": [_stemma()], "log-jsonl": [LOG]}[format]
    name = "conversations.json" if format == "chatgpt" else "a.jsonl"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as into:
        into.writestr(name, own[0])
    return [*own, *own, *found, gzip.compress(own[0]), packed.getvalue(), own[0].decode().encode("utf-16")]


def mutated(dice: random.Random, corpus: Sequence[bytes]) -> bytes:
    data = dice.choice(corpus)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        data = dice.choice(_WAYS)(dice, data, corpus)
    return data


def _flip(dice: random.Random, data: bytes, _corpus: Sequence[bytes]) -> bytes:
    held = bytearray(data)
    for _ in range(dice.randint(1, 8) if held else 0):
        held[dice.randrange(len(held))] ^= 1 << dice.randrange(8)
    return bytes(held)


def _token(dice: random.Random, data: bytes, _corpus: Sequence[bytes]) -> bytes:
    at, gone = dice.randint(0, len(data)), dice.choice((0, 0, 1, 8))
    return data[:at] + dice.choice(TOKENS) + data[at + gone :]


def _cut(dice: random.Random, data: bytes, _corpus: Sequence[bytes]) -> bytes:
    begin, end = sorted((dice.randint(0, len(data)), dice.randint(0, len(data))))
    return dice.choice((data[:end], data[begin:], data[:begin] + data[end:], data[:end] + data[begin:]))


def _splice(dice: random.Random, data: bytes, corpus: Sequence[bytes]) -> bytes:
    other = dice.choice(corpus)
    return data[: dice.randint(0, len(data))] + other[dice.randint(0, len(other)) :]


def _lines(dice: random.Random, data: bytes, _corpus: Sequence[bytes]) -> bytes:
    lines = data.splitlines(keepends=True)
    dice.shuffle(lines)
    return b"".join(lines[: dice.randint(0, len(lines))] + lines[:1])


def _members(dice: random.Random, data: bytes, _corpus: Sequence[bytes]) -> bytes:
    """Changes one value somewhere in the JSON: to something odd, or to one from elsewhere in it."""
    lines = data.splitlines() if data[:1] == b"{" else [data]
    number = dice.randrange(len(lines)) if lines else 0
    try:
        value = json.loads(lines[number])
    except (ValueError, IndexError, RecursionError):
        return _token(dice, data, ())
    places = _places(value)
    if not places:
        return data
    holder, key = dice.choice(places)
    way = dice.randrange(4)
    if way == 0:
        holder[key] = dice.choice(ODD)
    elif way == 1:
        other, name = dice.choice(places)
        holder[key] = json.loads(json.dumps(other[name]))
    elif way == 2:
        del holder[key]
    elif isinstance(holder, dict):
        holder[dice.choice(["parent", "id", "parent_id", "edits", "stemma", "kind"])] = holder[key]
    lines[number] = json.dumps(value).encode()
    return b"\n".join(lines)


def _places(value: object) -> list[tuple[Any, Any]]:
    places: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        keys = (
            list(holder)
            if isinstance(holder, dict)
            else range(len(holder))
            if isinstance(holder, list)
            else ()
        )
        for key in keys:
            places.append((holder, key))
            waiting.append(holder[key])  # type: ignore[index]
    return places


_WAYS: list[Callable[[random.Random, bytes, Sequence[bytes]], bytes]] = [
    _flip,
    _token,
    _cut,
    _splice,
    _lines,
    *[_members] * 5,
]
