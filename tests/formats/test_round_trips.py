"""Random sessions, written in each format and read back."""

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversation_service.domain.exports.model import ExportTree
from conversation_service.domain.exports.write import export
from conversation_service.domain.imports.model import NativeConversation, PlannedTree
from conversation_service.domain.limits import size
from kernel.tree.blob import frame
from kernel.tree.message import Message
from tests.formats.sessions import session_of
from tests.formats.support import (
    encode,
    found,
    plan_head,
    plan_paths,
    plans,
    session_head,
    session_paths,
    without_provenance,
)
from tests.formats.trees import RICH, sessions

PLAIN_FORMATS = ("oasst", "chatgpt", "log-jsonl")


def written(format: str, tree: ExportTree) -> bytes:
    return b"".join(export(format, tree))


@pytest.mark.parametrize("format", PLAIN_FORMATS)
@given(tree=sessions())
@settings(max_examples=40, deadline=None)
def test_paths_and_head_come_back(format: str, tree: ExportTree) -> None:
    (read,) = plans(format, written(format, tree))
    assert isinstance(read, PlannedTree), read
    if any(floor.state == "committed" for floor in tree.floors):
        assert plan_paths(read) == session_paths(tree)
        assert without_provenance(plan_head(read)) == without_provenance(session_head(tree))
    else:
        assert read.floors == ()
    assert all(
        message.metadata["stemma.provenance"] == "untrusted_import"
        for floor in read.floors
        for page in (floor.input, floor.output)
        for message in page or ()
    )


@given(tree=sessions(), seed=st.integers())
@settings(max_examples=40, deadline=None)
def test_stemma_loses_nothing(tree: ExportTree, seed: int) -> None:
    data = written("stemma", tree)
    (read,) = found("stemma", data)
    assert isinstance(read, NativeConversation), read
    assert read.warnings == ()
    assert replace(read.tree, floors=()) == replace(tree, floors=())
    by_id = {floor.floor_id: floor for floor in tree.floors}
    assert {floor.floor_id: floor for floor in read.tree.floors} == by_id
    first, *rest = data.splitlines(keepends=True)
    random.Random(seed).shuffle(rest)
    (again,) = found("stemma", first + b"".join(rest))
    assert isinstance(again, NativeConversation)
    assert again.tree == read.tree


@given(tree=sessions(), seed=st.integers())
@settings(max_examples=25, deadline=None)
def test_the_order_of_a_mapping_means_nothing(tree: ExportTree, seed: int) -> None:
    data = written("chatgpt", tree)
    (conversation,) = json.loads(data)
    nodes = list(conversation["mapping"].items())
    random.Random(seed).shuffle(nodes)
    shuffled = json.dumps([conversation | {"mapping": dict(nodes)}]).encode()
    (left,), (right,) = plans("chatgpt", data), plans("chatgpt", shuffled)
    assert isinstance(left, PlannedTree)
    assert isinstance(right, PlannedTree)
    assert (left.floors, left.head) == (right.floors, right.head)


@given(tree=sessions(), seed=st.integers())
@settings(max_examples=25, deadline=None)
def test_the_order_of_replies_means_nothing_beside_their_rank(tree: ExportTree, seed: int) -> None:
    data = written("oasst", tree)
    line = json.loads(data)
    shuffle = random.Random(seed).shuffle
    waiting = [line["prompt"]]
    while waiting:
        message = waiting.pop()
        shuffle(message["replies"])
        waiting.extend(message["replies"])
    (left,), (right,) = plans("oasst", data), plans("oasst", json.dumps(line).encode())
    assert isinstance(left, PlannedTree)
    assert isinstance(right, PlannedTree)
    assert (left.floors, left.head) == (right.floors, right.head)


@pytest.mark.parametrize("format", PLAIN_FORMATS)
@given(tree=sessions())
@settings(max_examples=25, deadline=None)
def test_a_second_time_around_changes_nothing(format: str, tree: ExportTree) -> None:
    """What was imported, exported and imported again has the same floors, so equal digests."""
    if not any(floor.state == "committed" for floor in tree.floors):
        return
    (first,) = plans(format, written(format, tree))
    assert isinstance(first, PlannedTree)
    (second,) = plans(format, written(format, session_of(first)))
    assert isinstance(second, PlannedTree)
    assert (second.floors, second.head) == (first.floors, first.head)


@given(RICH)
def test_sizes_are_those_of_the_wire(message: Message) -> None:
    assert len(frame(bytes(size(message)))) == len(encode((message,)))
