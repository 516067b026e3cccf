"""What is remembered reaches a model in one order, within its budget, item by item."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.prompt.assemble import (
    BUDGET,
    MEMORY,
    PATH,
    SUMMARY,
    SYSTEM_PROMPT,
    Turn,
    lay_out,
    render,
    select,
)
from kernel.prompt.config import BudgetConfig, MemoryPolicy
from kernel.prompt.memory import (
    DEFAULT_TOKENS,
    OVER_BUDGET,
    REFUSED,
    MemoryBlock,
    item_text,
    memory_block,
    memory_limit,
)
from kernel.prompt.memory_policy import MemoryMode, refused
from kernel.state.model import MemoryItem, MemoryKind
from kernel.tree.blob import split
from kernel.tree.model import PageContent
from tests.unit.builders import content, outline

FLOORS = {f"f{depth}": depth for depth in range(1, 10)}


def item(
    memory_id: str, importance: float = 0.5, floor: int = 1, text: str = "x", **fields: Any
) -> MemoryItem:
    values: dict[str, Any] = {
        "kind": MemoryKind.FACT,
        "fact_key": "",
        "confidence": 1.0,
        "covers_floor_id": "",
        "covers_depth": 0,
        "message_id": "",
        "source": "client",
        "added_floor_id": f"f{floor}",
    }
    return MemoryItem(
        memory_id=memory_id, importance=importance, floor_id=f"f{floor}", text=text, **(values | fields)
    )


def summary(
    memory_id: str, depth: int, importance: float = 0.0, text: str = "s", floor: int = 9
) -> MemoryItem:
    covers = {"covers_floor_id": f"f{depth}", "covers_depth": depth}
    return item(memory_id, importance, floor, text, kind=MemoryKind.SUMMARY, **covers)


def write(text: str) -> PageContent:
    """A token a character of the item's own words."""
    return content(text, tokens=len(text.partition(": ")[2]))


def block(*items: MemoryItem, limit: int = 1_000) -> MemoryBlock:
    return memory_block(items, FLOORS, limit, write)


def ids(refs: Any) -> list[str]:
    return [ref.memory_id for ref in refs]


def test_by_importance_then_the_latest_floor_then_the_latest_added() -> None:
    found = block(
        item("a", 0.1, 9), item("b", 0.9, 1), item("c", 0.9, 3), item("d", 0.9, 3), item("e", 0.1, 9)
    )
    assert ids(found.sent) == ["d", "c", "b", "e", "a"]


def test_the_summary_that_covers_the_most_comes_first() -> None:
    found = block(item("fact", 1.0), summary("short", 2, 0.5), summary("long", 6), summary("all", 0, 0.9))
    assert ids(found.sent) == ["long", "fact", "all", "short"]


def test_an_item_that_does_not_fit_lets_smaller_ones_pass() -> None:
    found = block(
        item("a", 0.9, text="1234"), item("b", 0.8, text="123456"), item("c", 0.7, text="12"), limit=6
    )
    assert (ids(found.sent), ids(found.left_out)) == (["a", "c"], ["b"])
    assert [ref.tokens for ref in (*found.sent, *found.left_out)] == [4, 2, 6]
    assert found.tokens == 6


def test_no_room_sends_nothing() -> None:
    found = block(item("a"), limit=0)
    assert (found.sent, found.blob, ids(found.left_out)) == ((), b"", ["a"])
    assert block() == MemoryBlock()


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (item("a", text="likes tea"), "Remembered: likes tea"),
        (item("a", text="tea", fact_key="drink"), "Remembered: drink: tea"),
        (item("a", text="tea", source="model"), "Remembered, unverified: tea"),
        (item("a", text="tea", source="import:chatgpt"), "Remembered, unverified: tea"),
        (item("a", text="who?", kind=MemoryKind.OPEN_LOOP), "Still open: who?"),
        (summary("a", 3, text="they met"), "Summary of what came before: they met"),
    ],
)
def test_an_item_says_what_it_is_and_whom_to_trust(one: MemoryItem, text: str) -> None:
    assert item_text(one) == text


@pytest.mark.parametrize(
    ("budget", "system", "limit"),
    [
        (BudgetConfig(), 10, DEFAULT_TOKENS),
        (BudgetConfig(max_memory_tokens=5), 10, 5),
        (BudgetConfig(max_memory_tokens=0), 10, 0),
        (BudgetConfig(100, 20), 40, 10),
        (BudgetConfig(100_000), 0, DEFAULT_TOKENS),
        (BudgetConfig(100, 20, 30), 40, 30),
        (BudgetConfig(100, 20, 300), 40, 40),
        (BudgetConfig(10, 20), 40, 0),
        (BudgetConfig(10, 20, 5), 40, 0),
    ],
)
def test_how_much_memory_may_take(budget: BudgetConfig, system: int, limit: int) -> None:
    assert memory_limit(budget, system) == limit


ITEMS = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(1, 9),
        st.text(min_size=1, max_size=8),
        st.booleans(),
        st.integers(0, 9),
    ),
    max_size=12,
)


@given(ITEMS, st.integers(0, 40))
def test_every_item_is_sent_or_left_out_and_the_budget_holds(drawn: list[Any], limit: int) -> None:
    items = [
        summary(str(i), depth, importance, text, floor)
        if is_summary
        else item(str(i), importance, floor, text)
        for i, (importance, floor, text, is_summary, depth) in enumerate(drawn)
    ]
    found = block(*items, limit=limit)
    assert sorted(ids(found.sent) + ids(found.left_out)) == sorted(one.memory_id for one in items)
    assert found.tokens <= limit
    assert sum(ref.tokens for ref in found.sent) == found.tokens
    assert len(split(found.blob)) == len(found.sent) == len(found.facts)
    free = limit - found.tokens
    assert all(ref.tokens > free for ref in found.left_out), "what is left out would not fit now either"
    assert block(*items, limit=limit) == found


def turns(*tokens: int) -> list[Turn]:
    return [
        Turn(f"f{depth}", (outline(f"p{depth}", content(f"turn {depth}", tokens=size)),), PATH)
        for depth, size in enumerate(tokens, 1)
    ]


def test_memory_stands_between_the_system_prompt_and_the_path() -> None:
    system, memory = (
        content("be brief", tokens=5),
        block(item("m", text="123"), item("n", text="1" * 99), limit=9),
    )
    chosen = select(turns(1, 1), BudgetConfig(), system, memory)
    assert [(e.why, e.floor_id, e.memory_id, e.message_id) for e in chosen.entries] == [
        (SYSTEM_PROMPT, "", "", ""),
        (MEMORY, "f1", "m", ""),
        (PATH, "f1", "", "p1.0"),
        (PATH, "f2", "", "p2.0"),
    ]
    (out,) = chosen.left_out
    assert (out.why, out.floor_id, out.memory_id, out.tokens) == (OVER_BUDGET, "f1", "n", 99)
    assert (chosen.tokens_in, chosen.tokens_on_path) == (10, 2)
    bodies = {f"p{depth}": content(f"turn {depth}").blob for depth in (1, 2)}
    context = render(chosen, bodies, system, memory)
    assert context.blob == system.blob + memory.blob + bodies["p1"] + bodies["p2"]


def test_turns_leave_for_memory_and_a_sent_summary_stands_for_them() -> None:
    memory = block(summary("s", 2, text="12345"))
    chosen = select(turns(10, 10, 10, 10), BudgetConfig(26), None, memory)
    assert chosen.dropped == 2
    assert [(out.floor_id, out.why) for out in chosen.left_out] == [("f1", SUMMARY), ("f2", SUMMARY)]
    tighter = select(turns(10, 10, 10, 10), BudgetConfig(15), None, memory)
    assert [(out.floor_id, out.why) for out in tighter.left_out] == [
        ("f1", SUMMARY),
        ("f2", SUMMARY),
        ("f3", BUDGET),
    ]
    assert select(turns(10, 10), BudgetConfig(25), None, memory).left_out == (), "nothing leaves without need"


def test_a_summary_that_was_left_out_stands_for_nothing() -> None:
    memory = block(summary("s", 2, text="12345"), limit=4)
    chosen = select(turns(10, 10), BudgetConfig(10), None, memory)
    assert [out.why for out in chosen.left_out] == [OVER_BUDGET, BUDGET]


@given(st.lists(st.integers(1, 9), max_size=6), st.integers(1, 60), ITEMS)
def test_laying_out_again_what_was_decided_gives_the_same(
    sizes: list[int], most: int, drawn: list[Any]
) -> None:
    """An explanation repeats the decision and not the deciding."""
    memory = block(*(item(str(i), one[0], one[1], one[2]) for i, one in enumerate(drawn)), limit=20)
    chosen = select(turns(*sizes), BudgetConfig(most), None, memory)
    assert lay_out(turns(*sizes), chosen.dropped, None, memory) == chosen


def proposed(memory_id: str, importance: float = 0.5, floor: int = 1, **fields: Any) -> MemoryItem:
    return item(memory_id, importance, floor, **({"source": "model"} | fields))


AUTO = MemoryPolicy(mode=MemoryMode.AUTO)


@pytest.mark.parametrize("mode", [None, MemoryMode.OFF, MemoryMode.PROPOSE])
@pytest.mark.parametrize("source", ["model", "import:stemma"])
def test_a_proposal_reaches_no_model_by_itself(mode: int | None, source: str) -> None:
    items = [item("mine"), proposed("theirs", 1.0, source=source)]
    assert refused(MemoryPolicy(mode=mode), items) == {"theirs"}
    assert refused(AUTO, items) == set()


def test_what_a_client_writes_no_policy_refuses() -> None:
    strict = MemoryPolicy(MemoryMode.OFF, 1.0, 0, (int(MemoryKind.SUMMARY),))
    assert refused(strict, [item("a", 0.0), item("b", source="accepted")]) == set()


def test_a_proposal_must_pass_every_rule() -> None:
    policy = MemoryPolicy(MemoryMode.AUTO, 0.5, 2, (int(MemoryKind.FACT), int(MemoryKind.OPEN_LOOP)))
    items = [
        proposed("weak", 0.4),
        proposed("kind", 0.9, kind=MemoryKind.SUMMARY),
        proposed("first", 0.5),
        item("mine", 0.9),
        proposed("second", 0.6, kind=MemoryKind.OPEN_LOOP),
        proposed("third", 1.0),
        proposed("elsewhere", 0.5, floor=2),
    ]
    assert refused(policy, items) == {"weak", "kind", "third"}
    assert refused(MemoryPolicy(MemoryMode.AUTO, max_items_per_turn=0), items) == {
        one.memory_id for one in items if one.trust == "model"
    }


def test_a_refused_item_is_left_out_with_its_reason_and_takes_no_room() -> None:
    items = [item("mine", 0.1, text="123"), proposed("theirs", 0.9, text="123")]
    found = memory_block(items, FLOORS, 4, write, frozenset({"theirs"}))
    assert ids(found.sent) == ["mine"]
    assert [(ref.memory_id, ref.why) for ref in found.left_out] == [("theirs", REFUSED)]


def test_a_refused_summary_does_not_come_first() -> None:
    found = memory_block([item("fact"), summary("s", 3)], FLOORS, 99, write, frozenset({"s"}))
    assert (ids(found.sent), ids(found.left_out)) == (["fact"], ["s"])
