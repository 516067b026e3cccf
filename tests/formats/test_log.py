"""Plain logs: what the words in them do to the tree, and what the log would have cost."""

import json
from typing import Any

import pytest

from conversation_service.domain.imports.model import Conversation, LogTokens, PlannedTree
from tests.formats.support import bad, found, head_texts, path_texts, planned


def log_of(*lines: object) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def line(key: str | None, **more: Any) -> dict[str, Any]:
    """The role is the first letter of the id, the content the id."""
    role = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}[(key or "u")[0]]
    return {"id": key, "role": role, "content": key or "nameless", "time": "2026-01-01T00:00:00Z"} | more


def read(*lines: object) -> PlannedTree:
    return planned("log-jsonl", log_of(*lines))


def test_lines_follow_the_head() -> None:
    tree = read(line("u1"), line("a1"), line("u2"), line("a2"))
    assert path_texts(tree) == [("u1", "a1", "u2", "a2")]
    assert (head_texts(tree), tree.warnings) == (["u1", "a1", "u2", "a2"], ())
    assert tree.floors[0].input is not None
    assert tree.floors[0].input[0].metadata["time"] == "2026-01-01T00:00:00Z"


def test_edits_and_regenerates_become_siblings() -> None:
    tree = read(
        line("u1"), line("a1"), line("a2", regenerates="a1"), line("u2"), line("u3", edits="u2"), line("a3")
    )
    assert path_texts(tree) == [("u1", "a1"), ("u1", "a2", "u2"), ("u1", "a2", "u3", "a3")]
    assert head_texts(tree) == ["u1", "a2", "u3", "a3"]
    first = read(line("u1"), line("a1"), line("u2", edits="u1"))
    assert path_texts(first) == [("u1", "a1"), ("u2",)]


def test_a_rollback_moves_the_head() -> None:
    turns = [line("u1"), line("a1"), line("u2"), line("a2")]
    assert head_texts(read(*turns, {"id": "r", "rollback_to": "a1"})) == ["u1", "a1"]
    tree = read(*turns, {"id": "r", "rollback_to": "a1"}, line("u3"))
    assert path_texts(tree) == [("u1", "a1", "u2", "a2"), ("u1", "a1", "u3")]
    assert head_texts(read(*turns, line("u3", rollback_to="a1"))) == ["u1", "a1", "u3"]
    assert read(*turns, {"id": "r", "rollback_to": ""}).head is None


def test_a_parent_is_followed_instead() -> None:
    tree = read(line("u1"), line("a1"), line("u2"), line("a9", parent="u1"), line("u3", parent=""))
    assert path_texts(tree) == [("u1", "a1", "u2"), ("u1", "a9"), ("u3",)]


def test_nulls_are_nothing() -> None:
    nothing = {"parent": None, "edits": None, "regenerates": None, "rollback_to": None}
    assert path_texts(read(line("u1", **nothing), line("a1", **nothing))) == [("u1", "a1")]


def test_a_reference_to_a_later_line() -> None:
    tree = read(line("u1"), line("a2", regenerates="a1"), line("a1", parent="u1"))
    assert path_texts(tree) == [("u1", "a1"), ("u1", "a2")]
    chain = read(line("u0"), line("u1", edits="u2"), line("u2", edits="u3"), line("u3", parent="u0"))
    assert path_texts(chain) == [("u0", "u1"), ("u0", "u2"), ("u0", "u3")]


def test_bad_input_27_a_reference_to_no_line() -> None:
    tree = read(line("u1"), line("a1"), line("u2", edits="gone"), line("u3", parent="lost"))
    assert path_texts(tree) == [("u1", "a1", "u2"), ("u3",)]
    assert len(tree.warnings) == 3


@pytest.mark.parametrize(
    "lines",
    [
        [line("u1", edits="u1")],
        [line("u1", parent="u1")],
        [line("u1", edits="u2"), line("u2", edits="u1")],
        [line("u1", parent="u2"), line("u2", parent="u1")],
    ],
)
def test_bad_input_26_lines_in_a_circle(lines: list[object]) -> None:
    assert bad("log-jsonl", log_of(*lines)).reason == "INVALID"


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([line("u1"), line("u1")], "Line 2"),
        ([line("u1"), line("u2", edits="u1", parent="u1")], "more than one"),
        ([line("u1"), []], "not an object"),
        ([line("u1", role="king")], "no role"),
        ([line("u1", role=None)], "no role"),
        ([line("u1", id=1.5)], "id"),
    ],
)
def test_a_line_that_cannot_be_placed_refuses_the_log(lines: list[object], says: str) -> None:
    result = bad("log-jsonl", log_of(*lines))
    assert result.reason == "INVALID"
    assert says in result.message


def test_a_line_without_an_id_is_kept() -> None:
    tree = read(line("u1"), line(None), line("a1"))
    assert head_texts(tree) == ["u1", "nameless", "a1"]
    assert len(tree.warnings) == 1


def test_whole_numbers_are_ids() -> None:
    assert head_texts(read(line("u1", id=1), line("a1", id=2), line("a2", id=3, regenerates=2))) == [
        "u1",
        "a2",
    ]


def test_the_title_is_the_files_name() -> None:
    (one,) = found("log-jsonl", log_of(line("u1")), "C:\\logs\\talk of may.jsonl.gz")
    assert one.title == "talk of may"


def tokens_of(*lines: object) -> LogTokens:
    (one,) = found("log-jsonl", log_of(*lines))
    assert isinstance(one, Conversation)
    assert one.tokens is not None
    return one.tokens


def test_what_a_plain_log_would_have_sent() -> None:
    """Ten tokens a message. Before a1 both send u1; before a2 the log sends u1 and a1, the tree u1;
    before a3 the log sends four, the tree three. The next context: five against four."""
    text = "x" * 40
    cost = tokens_of(
        line("u1", content=text),
        line("a1", content=text),
        line("a2", content=text, regenerates="a1"),
        line("u2", content=text),
        line("a3", content=text),
    )
    assert cost == LogTokens(3, log_sent=10 + 20 + 40, tree_sent=10 + 10 + 30, log_next=50, tree_next=40)


def test_without_branches_both_cost_the_same() -> None:
    cost = tokens_of(line("u1"), line("a1"), line("u2"), line("a2"))
    assert (cost.log_sent, cost.log_next) == (cost.tree_sent, cost.tree_next)
    rolled = tokens_of(line("u1"), line("a1"), {"id": "r", "rollback_to": ""})
    assert (rolled.log_next, rolled.tree_next) == (2, 0)
