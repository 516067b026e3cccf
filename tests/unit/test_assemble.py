"""What a model is sent, as a pure function of the path, the configuration and the input (T4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.prompt.assemble import (
    BUDGET,
    HIDDEN,
    INPUT,
    PATH,
    PENDING,
    SYSTEM_PROMPT,
    Entry,
    LeftOut,
    Selection,
    Turn,
    render,
    select,
)
from kernel.prompt.config import BudgetConfig
from kernel.tree.digest import context_digest
from kernel.tree.model import MessageFacts, PageContent, Role
from tests.unit.builders import content, outline

NO_BUDGET = BudgetConfig()
SYSTEM = content("be brief", tokens=5)


def turn(name: str, tokens: int = 1, hidden: tuple[int, ...] = (), why: str = PATH) -> Turn:
    """A floor with a page of two messages and one of one."""
    pages = (
        outline(f"{name}.in", content("a", "b", tokens=tokens, hidden=hidden)),
        outline(f"{name}.out", content("c", tokens=tokens)),
    )
    return Turn(name, pages, why)


def sent(selection: Selection) -> list[tuple[str, int]]:
    return [(entry.page_id, entry.index) for entry in selection.entries]


def floors_sent(selection: Selection) -> list[str]:
    return list(dict.fromkeys(entry.floor_id for entry in selection.entries if entry.why != SYSTEM_PROMPT))


def test_the_order_is_system_path_pending_input() -> None:
    given_input = Turn("", (outline(INPUT, content("q")),), INPUT)
    turns = [turn("1"), turn("2"), turn("p", why=PENDING), given_input]
    chosen = select(turns, NO_BUDGET, SYSTEM)
    assert sent(chosen) == [
        ("", 0),
        *[(f"{name}.{side}", i) for name in "12p" for side, i in (("in", 0), ("in", 1), ("out", 0))],
        (INPUT, 0),
    ]
    assert [e.why for e in chosen.entries] == [SYSTEM_PROMPT, *[PATH] * 6, *[PENDING] * 3, INPUT]
    assert chosen.left_out == ()


def test_entries_name_floor_page_and_fact() -> None:
    (entry,) = select([Turn("f", (outline("p", content("x", tokens=3)),))], NO_BUDGET, None).entries
    assert entry == Entry("f", "p", 0, MessageFacts(Role.USER, False, 3), PATH)


def test_nothing_comes_from_nothing() -> None:
    empty = select([], BudgetConfig(1, 1), None)
    assert empty == Selection((), (), 0)
    assert render(empty, {}, None).blob == b""
    assert select([Turn("f", ())], NO_BUDGET, None) == Selection((), (), 0)


def test_hidden_messages_stay_out_and_are_told() -> None:
    chosen = select([turn("1", 4, hidden=(0,)), turn("2", 4)], NO_BUDGET, None)
    assert ("1.in", 0) not in sent(chosen)
    assert ("1.in", 1) in sent(chosen)
    assert chosen.left_out == (LeftOut("1", "1.in", 0, 4, HIDDEN),)
    assert (chosen.tokens_in, chosen.tokens_on_path) == (20, 24)


def test_a_hidden_message_takes_no_room() -> None:
    turns = [turn("1", 10, hidden=(0,)), turn("2", 10)]
    assert floors_sent(select(turns, BudgetConfig(50), None)) == ["1", "2"]
    assert floors_sent(select(turns, BudgetConfig(49), None)) == ["2"]


@pytest.mark.parametrize(
    ("budget", "kept"),
    [
        (BudgetConfig(), 4),
        (BudgetConfig(None, 1_000), 4),
        (BudgetConfig(125), 4),
        (BudgetConfig(124), 3),
        (BudgetConfig(124, 0), 3),
        (BudgetConfig(125, 1), 3),
        (BudgetConfig(95), 3),
        (BudgetConfig(94), 2),
        (BudgetConfig(40), 1),
        (BudgetConfig(1), 1),
        (BudgetConfig(10, 10_000), 1),
    ],
)
def test_whole_turns_leave_from_the_oldest(budget: BudgetConfig, kept: int) -> None:
    """Four turns of 30 tokens below a system prompt of 5, which stays like the last turn."""
    turns = [turn(str(n), 10) for n in range(4)]
    chosen = select(turns, budget, SYSTEM)
    assert floors_sent(chosen) == [str(n) for n in range(4 - kept, 4)]
    assert chosen.entries[0].why == SYSTEM_PROMPT
    assert chosen.left_out == tuple(LeftOut(str(n), "", 0, 30, BUDGET) for n in range(4 - kept))
    assert chosen.tokens_in == 5 + 30 * kept
    assert chosen.tokens_on_path == 120


TURNS = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=4), min_size=1, max_size=8
).map(lambda found: [_turn_of(str(number), facts) for number, facts in enumerate(found)])


def _turn_of(name: str, facts: list[tuple[int, bool]]) -> Turn:
    known = tuple(MessageFacts(Role.USER, hidden, tokens) for tokens, hidden in facts)
    return Turn(name, (outline(name, content())._replace(facts=known),))


@given(TURNS, st.integers(1, 60), st.integers(0, 20), st.sampled_from([None, SYSTEM]))
def test_the_budget_is_kept_by_the_fewest_turns_left_out(
    turns: list[Turn], most: int, reserved: int, system: PageContent | None
) -> None:
    room = most - reserved - (system.tokens if system else 0)
    kept = list(turns)
    while len(kept) > 1 and sum(one.sent_tokens for one in kept) > room:
        kept.pop(0)
    chosen = select(turns, BudgetConfig(most, reserved), system)
    gone = [one.floor_id for one in chosen.left_out if one.why == BUDGET]
    assert gone == [one.floor_id for one in turns[: len(turns) - len(kept)]]
    # Each message of the path is sent, or told of once.
    hidden = [(one.page_id, one.index) for one in chosen.left_out if one.why == HIDDEN]
    everything = [(page.page_id, i) for one in kept for page in one.pages for i in range(len(page.facts))]
    messages = [place for place in sent(chosen) if place[0]]
    assert sorted(messages + hidden) == sorted(everything)
    # And each token is counted once.
    system_tokens = system.tokens if system else 0
    left = sum(one.tokens for one in chosen.left_out)
    assert chosen.tokens_in - system_tokens + left == chosen.tokens_on_path
    assert chosen.tokens_on_path == sum(one.tokens for one in turns)


def path_of(names: list[str]) -> tuple[list[Turn], dict[str, bytes]]:
    bodies = {name: content(f"{name} first", f"{name} second", hidden=(1,)) for name in names}
    turns = [Turn(name, (outline(name, body),)) for name, body in bodies.items()]
    return turns, {name: body.blob for name, body in bodies.items()}


def test_rendering_joins_the_chosen_stored_bytes() -> None:
    turns, bodies = path_of(["1", "2", "3"])
    context = render(select(turns, BudgetConfig(7), SYSTEM), bodies, SYSTEM)
    assert context.blob == SYSTEM.blob + content("2 first").blob + content("3 first").blob
    assert context.digest == context_digest([context.blob]).hex()
    # Bodies that were not chosen need not be at hand.
    assert render(context.selection, {k: bodies[k] for k in ("2", "3")}, SYSTEM) == context


@given(st.lists(st.text(max_size=3), max_size=5, unique=True), st.integers(1, 40))
def test_abandoned_floors_change_nothing(abandoned: list[str], most: int) -> None:
    """T4: equal inputs give equal bytes, whatever else is stored."""
    turns, bodies = path_of(["1", "2", "3", "4"])
    others = {f"off the path {name}": content(name).blob for name in abandoned}
    plain = render(select(turns, BudgetConfig(most), SYSTEM), bodies, SYSTEM)
    again = render(select(tuple(turns), BudgetConfig(most), SYSTEM), others | bodies, SYSTEM)
    assert again == plain


def test_a_page_of_several_floors_is_sent_for_each() -> None:
    """A regenerated floor shares its sibling's input page; two floors of one path never do, but may."""
    shared = content("shared")
    turns = [Turn(name, (outline("p", shared),)) for name in "ab"]
    assert render(select(turns, NO_BUDGET, None), {"p": shared.blob}, None).blob == shared.blob * 2


def test_a_blob_that_is_none_is_refused() -> None:
    turns, bodies = path_of(["1"])
    with pytest.raises(ValueError, match="run of messages"):
        render(select(turns, NO_BUDGET, None), bodies | {"1": b"garbage"}, None)
