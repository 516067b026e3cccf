"""Bad input 28 and the limits: a million nodes, chains of 100,000, 100,000 siblings, files of any size."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conversation_service.domain import limits
from conversation_service.domain.exports.write import export
from conversation_service.domain.imports import log, shape
from conversation_service.domain.imports.model import (
    BadConversation,
    Conversation,
    NativeConversation,
    Node,
    PlannedTree,
)
from conversation_service.domain.imports.shape import plan
from kernel.tree.message import Message, Text
from kernel.tree.model import Role
from tests.formats.sessions import session_of
from tests.formats.support import bad, plan_head, planned, plans

CHAIN = 100_000
WORDS = (Message(Role.USER, (Text("u"),)), Message(Role.ASSISTANT, (Text("a"),)))


def chain(count: int) -> Conversation:
    nodes = tuple(Node(str(n), str(n - 1) if n else None, WORDS[n % 2]) for n in range(count))
    return Conversation(0, "T", nodes, str(count - 1), (), "import:test", b"")


def test_a_chain_of_100_000() -> None:
    tree = plan(chain(CHAIN))
    assert isinstance(tree, PlannedTree)
    assert len(tree.floors) == CHAIN // 2
    assert tree.head == CHAIN // 2 - 1
    assert tree.floors[-1].parent_index == CHAIN // 2 - 2


def test_a_path_longer_than_a_session_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.MAX_PATH_FLOORS == 100_000
    monkeypatch.setattr(shape, "MAX_PATH_FLOORS", 100)
    assert isinstance(plan(chain(200)), PlannedTree)
    result = plan(chain(201))
    assert isinstance(result, BadConversation)
    assert (result.reason, result.message) == ("LIMIT", "A path is longer than 100 turns.")


def oasst_chain() -> bytes:
    """200,000 levels of JSON: its depth is not the depth of a value."""
    words = ('{"role":"prompter","text":"u","replies":[', '{"role":"assistant","text":"a","replies":[')
    return ('{"prompt":' + "".join(words) * (CHAIN // 2) + "]}" * CHAIN + "}").encode()


def chatgpt_chain() -> bytes:
    words = ('{"author":{"role":"user"},"content":"u"}', '{"author":{"role":"assistant"},"content":"a"}')
    nodes = (f'"{n}":{{"parent":"{n - 1}","message":{words[n % 2]}}}' for n in range(1, CHAIN))
    first = f'"0":{{"parent":null,"message":{words[0]}}}'
    return f'[{{"current_node":"{CHAIN - 1}","mapping":{{{first},{",".join(nodes)}}}}}]'.encode()


def log_chain() -> bytes:
    words = ('"role":"user","content":"u"', '"role":"assistant","content":"a"')
    return "\n".join(f'{{"id":{n},{words[n % 2]}}}' for n in range(CHAIN)).encode()


@pytest.mark.parametrize(
    ("format", "data"),
    [("oasst", oasst_chain()), ("chatgpt", chatgpt_chain()), ("log-jsonl", log_chain())],
    ids=["oasst", "chatgpt", "log-jsonl"],
)
def test_a_chain_of_100_000_in_each_format(format: str, data: bytes) -> None:
    read = planned(format, data)
    assert len(read.floors) == CHAIN // 2
    assert read.head == CHAIN // 2 - 1
    assert read.messages == len(plan_head(read)) == CHAIN


@pytest.mark.parametrize("format", ["oasst", "chatgpt", "log-jsonl", "stemma"])
def test_a_long_session_is_written_without_recursion(format: str) -> None:
    tree = plan(chain(6_000))
    assert isinstance(tree, PlannedTree)
    (read,) = plans(format, export(format, session_of(tree)))
    if format == "stemma":
        assert isinstance(read, NativeConversation)
        assert len(read.tree.floors) == 3_000
    else:
        assert isinstance(read, PlannedTree)
        assert len(plan_head(read)) == 6_000


@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT])
def test_100_000_siblings(role: Role) -> None:
    nodes = [Node("top", None, WORDS[0])]
    nodes += [Node(str(n), "top", Message(role, (Text("x"),)), rank=-n) for n in range(CHAIN)]
    tree = plan(Conversation(0, "T", tuple(nodes), "0", (), "import:test", b""))
    assert isinstance(tree, PlannedTree)
    shared = role is Role.ASSISTANT
    assert len(tree.floors) == CHAIN + (not shared)
    assert tree.head == len(tree.floors) - 1
    assert sum(floor.shares_input_of == 0 for floor in tree.floors) == (CHAIN - 1) * shared


def many_nodes() -> Iterator[bytes]:
    good = json.dumps({"title": "T", "mapping": {"a": {"message": None}}}).encode()
    yield b"[" + good + b',{"title":"Huge","mapping":{"x":null'
    for start in range(0, 1_000_000, 10_000):
        nodes = (f'"{n}":{{"parent":"{n - 1}","message":null}}' for n in range(start, start + 10_000))
        yield b"," + ",".join(nodes).encode()
    yield b"}}," + good + b"]"


def test_a_million_nodes_are_over_the_cap() -> None:
    one, two, three = plans("chatgpt", many_nodes())
    assert isinstance(one, PlannedTree)
    assert isinstance(two, BadConversation)
    assert isinstance(three, PlannedTree)
    assert (two.reason, two.index) == ("LIMIT", 1)


def test_a_log_over_the_cap_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MAX_NODES", 10_000)
    taken: list[int] = []

    def chunks() -> Iterator[bytes]:
        for start in range(0, 1_000_000, 1_000):
            taken.append(start)
            yield b"".join(b'{"id":%d,"role":"user"}\n' % n for n in range(start, start + 1_000))

    (result,) = plans("log-jsonl", chunks())
    assert isinstance(result, BadConversation)
    assert result.reason == "LIMIT"
    assert len(taken) == 11


def test_a_million_replies_are_over_the_cap() -> None:
    assert bad("oasst", b'{"prompt":{"replies":[' + b"{}," * 999_999 + b"{}]}}").reason == "LIMIT"


def test_an_endless_conversation_is_let_go() -> None:
    def chunks() -> Iterator[bytes]:
        yield b'[{"title":"'
        for _ in range(65):
            yield b"x" * 1024 * 1024
        yield b'"},{"title":"T","mapping":{}}]'

    one, two = plans("chatgpt", chunks())
    assert isinstance(one, BadConversation)
    assert (one.reason, one.title) == ("LIMIT", "conversation 1")
    assert isinstance(two, PlannedTree)


@pytest.mark.parametrize("format", ["chatgpt", "oasst"])
def test_memory_does_not_grow_with_the_file(format: str) -> None:
    """A process of its own reads 100 MB in conversations of 1 MB; its peak stays far below the file."""
    script = Path(__file__).with_name("read_much.py")
    done = subprocess.run(
        [sys.executable, str(script), format, "100"], capture_output=True, text=True, check=True
    )
    megabytes, conversations = map(int, done.stdout.split())
    assert conversations == 100
    assert megabytes < 40
