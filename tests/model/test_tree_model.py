"""The model itself, against trees worked out by hand: what checks must be right first."""

import pytest

from tests.model.digests import blob, floor_digest
from tests.model.tree_model import TreeModel
from tests.model.values import ROOT, Aim, Msg, Position, Refused, State

Q, A = (Msg(2, "q"),), (Msg(3, "a"),)
MAIN = Aim()


@pytest.fixture
def model() -> TreeModel:
    return TreeModel()


def line(model: TreeModel, length: int) -> list[int]:
    return [model.append(MAIN, Q, A).key for _ in range(length)]


def path(model: TreeModel) -> list[int]:
    return model.path(model.branches["main"].head)[1:]


def test_a_head_comes_back_to_where_it_left_even_in_the_middle(model: TreeModel) -> None:
    first, second, third = line(model, 3)
    model.move_head(MAIN, second)
    other = model.edit(MAIN, first, Q, A).key
    model.select_sibling(MAIN, first)
    assert path(model) == [first, second]
    assert [move.kind for move in model.head_moves("main")] == [
        "sibling",
        "commit",
        "rollback",
        *["commit"] * 3,
    ]
    model.move_head(MAIN, third)
    model.select_sibling(MAIN, other)
    model.select_sibling(MAIN, first)
    assert path(model) == [first, second, third]


def test_what_another_branch_left_is_not_remembered(model: TreeModel) -> None:
    (first,) = line(model, 1)
    model.create_branch("side", first)
    side = Aim("side")
    low = model.append(side, Q, A).key
    high = model.regenerate(side, low, A).key
    model.select_sibling(side, low)
    other = model.edit(MAIN, first, Q, A).key
    assert path(model) == [other]
    model.select_sibling(MAIN, first)
    assert path(model) == [first]
    model.append(MAIN, Q, A)
    model.select_sibling(MAIN, high)
    assert path(model) == [first, high]


def test_positions_of_two_inputs_and_of_absent_sides(model: TreeModel) -> None:
    first = model.append(MAIN, Q, A).key
    again = model.regenerate(MAIN, first, A).key
    edited = model.edit(MAIN, first, Q, A).key
    model.move_head(MAIN, ROOT)
    alone = model.append(MAIN, (), A).key
    assert [model.position(key) for key in (first, again, edited, alone)] == [
        Position(1, 3, 1, 2),
        Position(1, 3, 2, 2),
        Position(2, 3, 1, 1),
        Position(0, 0, 1, 1),
    ]
    pending = model.regenerate(MAIN, first).key
    assert model.position(pending) == Position()


def test_a_pending_floor_blocks_until_it_is_abandoned(model: TreeModel) -> None:
    (first,) = line(model, 1)
    pending = model.open(MAIN, Q).key
    with pytest.raises(Refused, match="FLOOR_PENDING"):
        model.append(MAIN, Q, A)
    with pytest.raises(Refused, match="HEAD_MOVED"):
        model.append(Aim(expected=ROOT, abandon=True), Q, A)
    assert model.floors[pending].state is State.OPEN
    model.move_head(Aim(abandon=True), first)
    branch = model.branches["main"]
    assert (branch.head, branch.pending, branch.failed) == (first, None, pending)
    assert model.append(MAIN, Q, A).ordinal == 1
    assert branch.failed is None


def test_a_refused_call_leaves_no_trace(model: TreeModel) -> None:
    line(model, 2)
    before = repr(vars(model))
    for call in (
        lambda: model.append(Aim(expected=ROOT), Q, A),
        lambda: model.append(Aim("gone"), Q, A),
        lambda: model.regenerate(MAIN, 1, (), from_page=1),
        lambda: model.edit(MAIN, ROOT, Q, A),
        lambda: model.commit(1),
        lambda: model.select_sibling(MAIN, 99),
    ):
        with pytest.raises(Refused):
            call()
    assert repr(vars(model)) == before


def test_digests_fix_the_history_and_nothing_else(model: TreeModel) -> None:
    line(model, 2)
    other = TreeModel()
    other.append(MAIN, Q, ())
    other.regenerate(MAIN, 1, A)
    other.append(MAIN, Q, A)
    assert floor_digest(model, 2) == floor_digest(other, 3)
    assert floor_digest(model, 1) != floor_digest(other, 1)
    # role 2; one part of one text of one letter
    assert blob(Q) == b"\x0a\x09" + b"\x18\x02" + b"\x2a\x05" + b"\x0a\x03" + b"\x0a\x01q"
