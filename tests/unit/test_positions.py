"""The numbers beside a floor, as in "2/3", against counting by hand."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from kernel.tree.model import Position
from kernel.tree.positions import Sibling, positions

# Ordinals are unique among siblings; pages are shared by regenerations.
SIBLINGS = st.lists(
    st.tuples(st.integers(0, 50), st.sampled_from([None, "x", "y", "z"]), st.booleans()),
    max_size=8,
    unique_by=lambda one: one[0],
).map(lambda found: [Sibling(f"floor {n}", n, page, has) for n, page, has in found])


def counted(siblings: list[Sibling], floor: Sibling) -> Position:
    """The contract's words: inputs among the distinct input pages by lowest ordinal, outputs among the
    siblings with the same input page by ordinal, 0 of 0 for an absent side. No input counts as one more."""
    lowest: dict[str | None, int] = {}
    for one in siblings:
        lowest[one.input_page_id] = min(one.ordinal, lowest.get(one.input_page_id, one.ordinal))
    inputs = sorted(lowest.values())
    same = sorted(one.ordinal for one in siblings if one.input_page_id == floor.input_page_id)
    found = Position(floor.floor_id)
    if floor.input_page_id is not None:
        index = 1 + inputs.index(lowest[floor.input_page_id])
        found = Position(floor.floor_id, index, len(inputs))
    if floor.has_output:
        return Position(
            found.floor_id, found.input_index, found.input_count, 1 + same.index(floor.ordinal), len(same)
        )
    return found


@given(SIBLINGS, st.randoms(use_true_random=False))
def test_positions_are_what_counting_gives(siblings: list[Sibling], random: Random) -> None:
    found = positions(siblings)
    assert found == {one.floor_id: counted(siblings, one) for one in siblings}
    random.shuffle(siblings)
    assert positions(siblings) == found  # T9: never by listing order


def test_two_inputs_of_three_replies_each() -> None:
    """Edits and regenerations in turn, so that ordinals and inputs interleave."""
    siblings = [Sibling(str(n), n, "ab"[n % 2], True) for n in range(6)]
    assert list(positions(siblings).values()) == [
        Position("0", 1, 2, 1, 3),
        Position("2", 1, 2, 2, 3),
        Position("4", 1, 2, 3, 3),
        Position("1", 2, 2, 1, 3),
        Position("3", 2, 2, 2, 3),
        Position("5", 2, 2, 3, 3),
    ]


def test_an_absent_side_is_zero_of_zero() -> None:
    found = positions([Sibling("in", 0, "x", False), Sibling("out", 1, None, True)])
    assert found["in"] == Position("in", 1, 2, 0, 0)
    assert found["out"] == Position("out", 0, 0, 1, 1)
    assert positions([]) == {}
