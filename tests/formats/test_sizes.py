"""Bad input 28 and the limits: a million nodes, chains of 100,000, 100,000 siblings, files of any size."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conversation_service.domain import limits
from conversation_service.domain.exports.model import ExportTree
from conversation_service.domain.exports.write import export
from conversation_service.domain.imports import log, shape
from conversation_service.domain.imports.model import BadConversation, Conversation, Node, PlannedTree
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


@pytest.fixture(scope="module")
def long_talk() -> PlannedTree:
    tree = plan(chain(CHAIN))
    assert isinstance(tree, PlannedTree)
    return tree


def test_a_chain_of_100_000(long_talk: PlannedTree) -> None:
    assert len(long_talk.floors) == CHAIN // 2
    assert long_talk.head == CHAIN // 2 - 1
    assert long_talk.floors[-1].parent_index == CHAIN // 2 - 2


def test_a_path_longer_than_a_session_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.MAX_PATH_FLOORS == 100_000
    monkeypatch.setattr(shape, "MAX_PATH_FLOORS", 100)
    assert isinstance(plan(chain(200)), PlannedTree)
    result = plan(chain(201))
    assert isinstance(result, BadConversation)
    assert (result.reason, result.message) == ("LIMIT", "A path is longer than 100 turns.")


@pytest.fixture(scope="module")
def long_session(long_talk: PlannedTree) -> ExportTree:
    return session_of(long_talk)


@pytest.mark.parametrize("format", ["oasst", "chatgpt", "log-jsonl"])
def test_a_chain_of_100_000_in_each_format(format: str, long_session: ExportTree) -> None:
    """In oasst that is 200,000 levels of JSON: its depth is not the depth of a value."""
    read = planned(format, b"".join(export(format, long_session)))
    assert len(read.floors) == CHAIN // 2
    assert read.head == CHAIN // 2 - 1
    assert read.messages == len(plan_head(read)) == CHAIN


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


def log_lines(count: int) -> Iterator[bytes]:
    for start in range(0, count, 10_000):
        yield b"".join(b'{"id":%d,"role":"user"}\n' % n for n in range(start, start + 10_000))


def test_a_log_over_the_cap_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MAX_NODES", 10_000)
    chunks = log_lines(1_000_000)
    (result,) = plans("log-jsonl", chunks)
    assert isinstance(result, BadConversation)
    assert result.reason == "LIMIT"
    assert next(chunks).startswith(b'{"id":20000,')


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
