"""The contract's rules, one by one: what is a page, what is a floor, where the head is."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from conversation_service.domain.imports.model import (
    BEGINNING,
    BadConversation,
    Conversation,
    Node,
    PlannedTree,
)
from conversation_service.domain.imports.shape import plan
from kernel.tree.message import Message, Text
from kernel.tree.model import Role
from tests.formats.support import (
    counted,
    head_texts,
    node_path,
    node_paths,
    path_texts,
    plan_head,
    plan_paths,
)

ROLES = {"s": Role.SYSTEM, "u": Role.USER, "a": Role.ASSISTANT, "t": Role.TOOL}


def node(key: str, parent: str | None = None) -> Node:
    """The role is the first letter of the key; `-` is a node without content."""
    message = None if key[0] == "-" else Message(ROLES[key[0]], (Text(key),))
    return Node(key, parent, message)


def conversation(nodes: list[Node], current: str | None = None) -> Conversation:
    return Conversation(0, "T", tuple(nodes), current, (), "import:test", b"")


def shaped(*edges: str, current: str | None = None) -> PlannedTree:
    """From `child<parent` or `root`."""
    nodes = [node(child, parent or None) for child, _, parent in (edge.partition("<") for edge in edges)]
    tree = plan(conversation(nodes, current))
    assert isinstance(tree, PlannedTree), tree
    return tree


def drawn(tree: PlannedTree) -> list[str]:
    """Each floor as `parent:input/output`, with `=n` for the input page of floor n."""
    lines = []
    for floor in tree.floors:
        given = "".join(m.text for m in floor.input or ())
        if floor.shares_input_of is not None:
            given = f"={floor.shares_input_of}"
        output = "".join(m.text for m in floor.output or ())
        lines.append(f"{'' if floor.parent_index is None else floor.parent_index}:{given}/{output}")
    return lines


def test_runs_become_the_sides_of_a_floor() -> None:
    tree = shaped("s1", "u1<s1", "a1<u1", "t1<a1", "a2<t1", "u2<a2", current="u2")
    assert drawn(tree) == [":s1u1/a1t1a2", "0:u2/"]
    assert (tree.head, tree.warnings) == (1, ())


def test_several_replies_share_the_input_page() -> None:
    tree = shaped("u1", "a1<u1", "a2<u1", "u2<a1", "a3<u1", current="a2")
    assert drawn(tree) == [":u1/a1", "0:u2/", ":=0/a2", ":=0/a3"]
    assert tree.head == 2


def test_edits_become_siblings_with_their_own_input() -> None:
    tree = shaped("u1", "a1<u1", "u2<a1", "u3<a1", "a2<u2", "a3<u3", current="a3")
    assert drawn(tree) == [":u1/a1", "0:u2/a2", "0:u3/a3"]


def test_a_fork_inside_of_an_output_run_ends_the_page() -> None:
    tree = shaped("u1", "a1<u1", "t1<a1", "a2<a1", "u2<a1", current="t1")
    assert drawn(tree) == [":u1/a1", "0:/t1", "0:/a2", "0:u2/"]
    assert tree.head == 1


def test_a_fork_inside_of_an_input_run_ends_the_page() -> None:
    tree = shaped("s1", "u1<s1", "u2<s1", "a1<u1", "a2<u2", current="a1")
    assert drawn(tree) == [":s1/", "0:u1/a1", "0:u2/a2"]


def test_replies_and_more_input_after_one_input() -> None:
    tree = shaped("u1", "a1<u1", "u2<u1", "a2<u1", "u3<u1", "a3<u2", current="a1")
    assert drawn(tree) == [":u1/a1", ":=0/", "1:u2/a3", "1:u3/", ":=0/a2"]


def test_the_head_on_an_inner_message_ends_the_page_there() -> None:
    edges = ("s1", "u1<s1", "a1<u1", "t1<a1", "a2<t1")
    assert drawn(shaped(*edges, current="s1")) == [":s1/", "0:u1/a1t1a2"]
    assert drawn(shaped(*edges, current="u1")) == [":s1u1/", "0:/a1t1a2"]
    assert drawn(shaped(*edges, current="t1")) == [":s1u1/a1t1", "0:/a2"]
    for current in ("s1", "u1", "a1", "t1", "a2"):
        tree = shaped(*edges, current=current)
        assert head_texts(tree)[-1] == current
        assert path_texts(tree) == [("s1", "u1", "a1", "t1", "a2")]


def test_the_head_on_an_input_with_several_replies() -> None:
    tree = shaped("u1", "a1<u1", "a2<u1", current="u1")
    assert drawn(tree) == [":u1/", "0:/a1", "0:/a2"]
    assert tree.head == 0


def test_without_a_mark_the_head_is_the_files_last_leaf() -> None:
    tree = shaped("u1", "a1<u1", "a2<u1", "u2<a1")
    assert head_texts(tree) == ["u1", "a1", "u2"]
    assert tree.warnings == ("The file marks no message as current: the head is its last leaf.",)
    lost = shaped("u1", "a1<u1", current="a9")
    assert head_texts(lost) == ["u1", "a1"]
    assert "is not in the file" in lost.warnings[0]


def test_a_mark_before_the_first_message_is_the_root() -> None:
    tree = shaped("u1", "a1<u1", current=BEGINNING)
    assert (tree.head, tree.warnings) == (None, ())
    assert shaped("-", "u1<-", "a1<u1", current="-").head is None


def test_nodes_without_content_are_passed_over() -> None:
    tree = shaped("-0", "u1<-0", "-1<u1", "a1<-1", "a2<-1", "-2<a1", "-3<-2", "u2<-3", current="-3")
    assert drawn(tree) == [":u1/a1", "0:u2/", ":=0/a2"]
    assert head_texts(tree) == ["u1", "a1"]


def test_a_leaf_without_content_leaves_its_parent_the_leaf() -> None:
    tree = shaped("u1", "a1<u1", "-1<a1", "-2<a1", current="-2")
    assert drawn(tree) == [":u1/a1"]
    assert tree.head == 0


def test_bad_input_27_two_beginnings_and_a_missing_parent() -> None:
    tree = shaped("u1", "a1<u1", "u2", "u3<gone", current="a1")
    assert drawn(tree) == [":u1/a1", ":u2/", ":u3/"]
    assert sorted(tree.warnings) == [
        "A message's parent is not in the file: kept as a beginning of its own.",
        "The conversation has 3 beginnings: all are kept, beside each other.",
    ]


def test_bad_input_27_a_child_before_its_parent() -> None:
    assert drawn(shaped("a1<u1", "u1", current="a1")) == [":u1/a1"]


def test_bad_input_26_cycles() -> None:
    for edges in (["u1<u1"], ["u1<a1", "a1<u1"], ["u1", "a1<u1", "u2<a3", "a2<u2", "a3<a2"]):
        nodes = [node(child, parent or None) for child, _, parent in (edge.partition("<") for edge in edges)]
        result = plan(conversation(nodes))
        assert isinstance(result, BadConversation)
        assert (result.reason, result.title) == ("INVALID", "T")


def test_bad_input_28_one_id_twice() -> None:
    result = plan(conversation([node("u1"), node("u1")]))
    assert isinstance(result, BadConversation)
    assert (result.reason, result.message) == ("INVALID", "Messages 1 and 2 have the same id.")


def test_a_conversation_without_messages_is_an_empty_session() -> None:
    tree = plan(conversation([node("-1"), node("-2", "-1")], "-2"))
    assert isinstance(tree, PlannedTree)
    assert (tree.floors, tree.head, tree.warnings) == ((), None, ("The conversation has no message.",))


def test_a_run_longer_than_a_page_is_continued() -> None:
    keys = [f"u{number}" for number in range(2_500)]
    nodes = [node(key, parent) for key, parent in zip(keys, [None, *keys], strict=False)]
    tree = plan(conversation(nodes, keys[-1]))
    assert isinstance(tree, PlannedTree)
    assert [len(floor.input or ()) for floor in tree.floors] == [1_000, 1_000, 500]
    assert head_texts(tree) == keys
    assert "longer than a page" in tree.warnings[0]
    large = [Node(str(n), str(n - 1) if n else None, said("x" * 1_000_000)) for n in range(7)]
    tree = plan(conversation(large, "6"))
    assert isinstance(tree, PlannedTree)
    assert [len(floor.input or ()) for floor in tree.floors] == [3, 3, 1]


def said(text: str) -> Message:
    return Message(Role.USER, (Text(text),))


def test_a_message_may_have_a_mebibyte_and_no_more() -> None:
    # Role, and tag and length of the text, its part, and the message's part.
    room = 1024 * 1024 - 2 - 3 * 4
    assert isinstance(plan(conversation([Node("k", None, said("x" * room))])), PlannedTree)
    result = plan(conversation([Node("k", None, said("x" * (room + 1)))]))
    assert isinstance(result, BadConversation)
    assert (result.reason, result.message) == ("LIMIT", "Message 1 is larger than 1 MiB.")


@st.composite
def forests(draw: st.DrawFn) -> list[Node]:
    count = draw(st.integers(1, 30))
    parents = [draw(st.integers(max(-1, n - 4), n - 1)) for n in range(count)]
    kinds = [draw(st.sampled_from("ssuuuaaatt-")) for _ in range(count)]
    keys = [f"{kind}{n}" for n, kind in enumerate(kinds)]
    return [node(key, None if p < 0 else keys[p]) for key, p in zip(keys, parents, strict=True)]


@given(forests(), st.data(), st.integers())
@settings(max_examples=300, deadline=None)
def test_every_path_stays_and_the_head_is_its_own(nodes: list[Node], data: st.DataObject, seed: int) -> None:
    current = data.draw(st.sampled_from([one.key for one in nodes]))
    tree = plan(conversation(nodes, current))
    assert isinstance(tree, PlannedTree)
    assert plan_paths(tree) == counted(node_paths(nodes))
    assert plan_head(tree) == node_path(nodes, current)
    mixed = list(nodes)
    random.Random(seed).shuffle(mixed)
    again = plan(conversation(mixed, current))
    assert isinstance(again, PlannedTree)
    assert plan_paths(again) == plan_paths(tree)
    assert plan_head(again) == plan_head(tree)
