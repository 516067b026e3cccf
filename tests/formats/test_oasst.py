"""The real trees, and the format's quirks."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conversation_service.domain.imports.model import BadConversation, PlannedTree
from kernel.tree.model import Role
from tests.formats.support import (
    bad,
    head_texts,
    path_texts,
    pieces,
    plan_paths,
    planned,
    plans,
    spoken,
)

FILE = Path(__file__).parents[1] / "fixtures" / "imports" / "oasst_en_100_trees.jsonl.gz"
ROLES = {"prompter": "user", "assistant": "assistant"}


def file_paths(prompt: dict[str, Any]) -> Iterator[tuple[tuple[str, str], ...]]:
    """Root-to-leaf (role, text) of a nested tree, in document order."""
    waiting: list[tuple[dict[str, Any], tuple[tuple[str, str], ...]]] = [(prompt, ())]
    while waiting:
        message, above = waiting.pop()
        path = (*above, (ROLES[message["role"]], message["text"]))
        if not message["replies"]:
            yield path
        waiting.extend((reply, path) for reply in reversed(message["replies"]))


def messages(prompt: dict[str, Any]) -> Iterator[dict[str, Any]]:
    waiting = [prompt]
    while waiting:
        yield waiting[-1]
        waiting.extend(waiting.pop()["replies"])


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(FILE.read_bytes()).splitlines()]


@pytest.fixture(scope="module")
def trees() -> list[PlannedTree]:
    return [tree for tree in plans("oasst", FILE.read_bytes()) if isinstance(tree, PlannedTree)]


def test_every_real_tree_keeps_every_path(lines: list[dict[str, Any]], trees: list[PlannedTree]) -> None:
    assert len(trees) == 100
    assert sum(tree.messages for tree in trees) == 1_167
    leaves = forks = 0
    for line, tree in zip(lines, trees, strict=True):
        expected = Counter(file_paths(line["prompt"]))
        leaves += expected.total()
        forks += sum(len(message["replies"]) > 1 for message in messages(line["prompt"]))
        texts = Counter(
            tuple((role.name.lower(), parts[0].text) for role, parts, *_ in path)
            for path in plan_paths(tree).elements()
        )
        assert texts == expected
    assert (leaves, forks) == (626, 260)


def test_replies_share_their_input_page(lines: list[dict[str, Any]], trees: list[PlannedTree]) -> None:
    for line, tree in zip(lines, trees, strict=True):
        prompt = line["prompt"]
        firsts = [floor for floor in tree.floors if floor.parent_index is None]
        assert len(firsts) == max(1, len(prompt["replies"]))
        assert [floor.shares_input_of for floor in firsts] == [None] + [firsts[0].index] * (len(firsts) - 1)


def test_siblings_stand_by_rank(lines: list[dict[str, Any]], trees: list[PlannedTree]) -> None:
    for line, tree in zip(lines, trees, strict=True):
        replies = line["prompt"]["replies"]
        ranked = [r for r in replies if isinstance(r.get("rank"), int)]
        rest = [r for r in replies if not isinstance(r.get("rank"), int)]
        expected = [r["text"] for r in sorted(ranked, key=lambda r: r["rank"]) + rest]
        firsts = [
            floor.output[0].text for floor in tree.floors if floor.parent_index is None and floor.output
        ]
        assert firsts == expected


def test_the_head_is_the_files_last_leaf(lines: list[dict[str, Any]], trees: list[PlannedTree]) -> None:
    for line, tree in zip(lines, trees, strict=True):
        *_, last = file_paths(line["prompt"])
        assert head_texts(tree) == [text for _, text in last]
        assert any("last leaf" in warning for warning in tree.warnings)


def test_imported_messages_say_so(trees: list[PlannedTree]) -> None:
    """Bad input 46, for what a file claims about roles."""
    for tree in trees:
        assert tree.conversation.source == "import:oasst"
        for path in (floor.input or () for floor in tree.floors):
            assert all(message.metadata["stemma.provenance"] == "untrusted_import" for message in path)


def message(key: str, *replies: dict[str, Any], role: str = "prompter", **more: Any) -> dict[str, Any]:
    return {"message_id": key, "text": key, "role": role, "replies": list(replies)} | more


def line_of(prompt: object, **more: Any) -> bytes:
    return json.dumps({"message_tree_id": "t", "prompt": prompt} | more).encode() + b"\n"


def test_a_parent_counts_more_than_where_a_message_stands() -> None:
    strayed = message("c", parent_id="a", role="assistant")
    tree = planned("oasst", line_of(message("a", message("b", strayed, role="assistant"))))
    assert path_texts(tree) == [("a", "b"), ("a", "c")]
    assert any("inside of another than its parent" in warning for warning in tree.warnings)


def test_bad_input_26_parents_in_a_cycle() -> None:
    cycle = line_of(message("a", message("b", parent_id="b", role="assistant")))
    far = line_of(message("a", message("b", message("c"), parent_id="c", role="assistant")))
    good = line_of(message("a", message("b", role="assistant")))
    results = plans("oasst", cycle + far + good)
    assert [result.reason for result in results[:2] if isinstance(result, BadConversation)] == ["INVALID"] * 2
    assert isinstance(results[2], PlannedTree)


def test_bad_input_27_a_missing_parent_is_kept_and_warned_about() -> None:
    tree = planned("oasst", line_of(message("a", message("b", parent_id="gone", role="assistant"))))
    assert path_texts(tree) == [("a", "b")]
    assert any("parent is not in the tree" in warning for warning in tree.warnings)


def test_bad_input_28_one_id_twice() -> None:
    result = bad("oasst", line_of(message("a", message("a", role="assistant"))))
    assert (result.reason, result.title) == ("INVALID", "a")


def test_a_message_without_text_is_passed_over() -> None:
    hollow = message("b", message("c", role="assistant"), message("d", role="assistant"), text="")
    tree = planned("oasst", line_of(message("a", hollow, message("e", role="assistant"))))
    assert path_texts(tree) == [("a", "c"), ("a", "d"), ("a", "e")]
    assert len([f for f in tree.floors if f.parent_index is None]) == 3


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"{}",
        b'{"prompt":null}',
        b'{"prompt":{"message_id":"a","text":"a","role":"king","replies":[]}}',
        b'{"prompt":{"message_id":"a","text":1,"role":"prompter","replies":[]}}',
        b'{"prompt":{"message_id":[],"text":"a","role":"prompter"}}',
        b'{"prompt":{"text":"a","role":"prompter","replies":[1]}}',
        b'{"prompt":{"text":"a","role":"prompter","replies":[0]}}',
        b'{"prompt":{"text":"a","role":"prompter","replies":{"replies":[]}}}',
        b'{"replies":[{"text":"b"}],"prompt":{"text":"a","role":"prompter"}}',
        b'{"prompt":{"text":"a","role":"prompter","replies":[{"text":"b","role":"prompter"}',
        b'{"prompt":{"text":"a","role":"prompter","replies":[{"text":"b","role":"prompter"}}]}',
        b'{"prompt":{"text":"a","role":"prompter","x":"\xff"}}',
    ],
)
def test_a_line_that_is_no_tree_is_reported_alone(line: bytes) -> None:
    first, second = plans("oasst", line + b"\n" + line_of(message("a")))
    assert isinstance(first, BadConversation)
    assert first.reason == "INVALID"
    assert isinstance(second, PlannedTree)


def test_a_marked_head_and_a_title_are_taken() -> None:
    prompt = message("a", message("b", message("c"), role="assistant"))
    tree = planned("oasst", line_of(prompt, current_message_id="b", title="Talk"))
    assert head_texts(tree) == ["a", "b"]
    assert (tree.conversation.title, tree.warnings) == ("Talk", ())


def test_every_size_of_chunk_reads_the_same() -> None:
    data = gzip.decompress(FILE.read_bytes())[:40_000]
    for size in (1, 7, 4_096):
        assert plans("oasst", pieces(data, size)) == plans("oasst", data)


def test_roles_are_the_files(lines: list[dict[str, Any]], trees: list[PlannedTree]) -> None:
    first = trees[0].floors[0]
    assert first.input is not None
    assert spoken(first.input[0]) == ("user", lines[0]["prompt"]["text"])
    assert {m.role for tree in trees for f in tree.floors for m in f.output or ()} == {Role.ASSISTANT}
