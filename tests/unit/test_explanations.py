"""Explanations as bytes against the generated classes, for whatever entries a context may have."""

from hypothesis import given
from hypothesis import strategies as st
from stemma.kernel.v1 import context_pb2

from kernel.prompt.assemble import (
    HIDDEN,
    INPUT,
    MEMORY,
    PATH,
    PENDING,
    SYSTEM_PROMPT,
    Context,
    Entry,
    LeftOut,
    Selection,
)
from kernel.runs.context import Assembled
from kernel.runs.head import Head
from kernel.tree.model import MessageFacts, Role
from kernel.wire.explanations import explanation_bytes, explanation_pb

ids = st.uuids().map(str)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
facts = st.builds(MessageFacts, st.sampled_from(Role), st.booleans(), st.integers(0, 2**31 - 1))
indexes = st.integers(0, 2_000)
entries = st.one_of(
    st.builds(Entry, ids, ids, indexes, facts, st.sampled_from([PATH, PENDING])),
    st.builds(Entry, st.just(""), st.just(""), indexes, facts, st.just(SYSTEM_PROMPT)),
    st.builds(Entry, st.just(""), st.just(INPUT), indexes, facts, st.just(INPUT)),
    st.builds(Entry, ids, st.just(MEMORY), indexes, facts, st.just(MEMORY), ids),
)
left_out = st.builds(LeftOut, ids, ids, indexes, st.integers(0, 2**20), st.just(HIDDEN))


@given(
    entries=st.lists(entries, max_size=6).map(tuple),
    left_out=st.lists(left_out, max_size=2).map(tuple),
    numbers=st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)),
    texts=st.tuples(words, words, words, words),
)
def test_an_explanation(
    entries: tuple[Entry, ...],
    left_out: tuple[LeftOut, ...],
    numbers: tuple[int, int],
    texts: tuple[str, str, str, str],
) -> None:
    selection = Selection(entries, left_out, numbers[0])
    config, live, counter, digest = texts
    context = Context(selection, b"", digest)
    assembled = Assembled(context, numbers[1], config, live, counter, Head(missing=("a", "b")))
    raw = explanation_bytes(assembled)
    message = explanation_pb(assembled)
    assert raw == message.SerializeToString(deterministic=True)
    found = context_pb2.Explanation.FromString(raw)
    assert [one.message_id for one in found.entries] == [entry.message_id for entry in entries]
    assert [one.tokens for one in found.entries] == [entry.fact.tokens for entry in entries]
    assert found.tokens_abandoned == numbers[1]
