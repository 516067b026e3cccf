"""Effects and state, pure: the fold, and the canonical text that digests cover."""

from dataclasses import replace

import pytest

from kernel.prompt.merge_patch import members
from kernel.state.fold import KEPT_DEPRECATED, UnknownMemory, apply
from kernel.state.model import (
    EMPTY,
    Effects,
    LiveValue,
    MemoryItem,
    MemoryKind,
    MemoryOp,
    MemoryWrite,
    Origin,
    Scope,
    SlotWrite,
    State,
    Value,
    Variable,
    VariableWrite,
    VisibleState,
)
from kernel.state.text import effects_from, effects_text, state_from, state_text
from kernel.tree.digest import effects_digest

HERE = Origin("floor-1", "page-1.0", "client")
LATER = Origin("floor-2", "", "import:stemma", ("floor-0",))
FACT = MemoryWrite(MemoryOp.ADD, "m1", MemoryKind.FACT, "name", "Ann", 0.25, 1.0)
SUMMARY = MemoryWrite(MemoryOp.ADD, "m2", MemoryKind.SUMMARY, "", "so far", covers_depth=1)


def variables(**values: str | None) -> Effects:
    return Effects(tuple(VariableWrite(Scope.PATH, key, value) for key, value in values.items()))


def memory(*writes: MemoryWrite) -> Effects:
    return Effects(memory=writes)


def test_a_later_write_wins_and_a_deletion_is_remembered() -> None:
    first = apply(EMPTY, variables(a="1", b="2"), HERE)
    second = apply(first, variables(a="3", b=None), LATER)
    assert second.variables == {"a": Value("3", "floor-2")}
    assert second.deleted == {"b"}
    assert first.variables == {"a": Value("1", "floor-1"), "b": Value("2", "floor-1")}
    assert apply(second, variables(b="4"), HERE).deleted == frozenset()


def test_live_writes_are_no_part_of_a_path() -> None:
    live = Effects((VariableWrite(Scope.SESSION, "a", "1"), VariableWrite(Scope.PROJECT, "b", "1")))
    assert apply(EMPTY, live, HERE) == EMPTY
    assert live.live == live.variables


def test_slots_are_named_by_both_names() -> None:
    state = apply(EMPTY, Effects(slots=(SlotWrite("a", "x", "1"), SlotWrite("b", "x", "2"))), HERE)
    state = apply(state, Effects(slots=(SlotWrite("a", "x", None),)), LATER)
    assert state.slots == {("b", "x"): Value("2", "floor-1")}


def test_an_item_says_where_it_comes_from() -> None:
    state = apply(apply(EMPTY, memory(FACT), HERE), memory(SUMMARY), LATER)
    item, summary = state.memory.values()
    assert item == MemoryItem(
        "m1", MemoryKind.FACT, "name", "Ann", 0.25, 1.0, "", 0, "floor-1", "page-1.0", "client", "floor-1"
    )
    assert (item.trust, summary.trust) == ("trusted", "untrusted_import")
    assert (summary.covers_floor_id, summary.covers_depth) == ("floor-0", 1)
    assert replace(item, source="model").trust == "model"


def test_an_update_states_it_anew_and_keeps_what_is_left_out() -> None:
    state = apply(EMPTY, memory(FACT), HERE)
    state = apply(state, memory(MemoryWrite(MemoryOp.UPDATE, "m1", text="Bea")), replace(LATER, covers=()))
    (item,) = state.memory.values()
    assert (item.kind, item.fact_key, item.text, item.importance) == (MemoryKind.FACT, "name", "Bea", 0.0)
    assert (item.floor_id, item.added_floor_id, item.source) == ("floor-2", "floor-1", "import:stemma")


@pytest.mark.parametrize("op", [MemoryOp.UPDATE, MemoryOp.DEPRECATE])
def test_what_is_not_visible_can_not_be_changed(op: MemoryOp) -> None:
    write = MemoryWrite(op, "m1")
    with pytest.raises(UnknownMemory):
        apply(EMPTY, memory(write), HERE)
    state = apply(EMPTY, memory(FACT, MemoryWrite(MemoryOp.DEPRECATE, "m1")), HERE)
    assert state.memory["m1"].deprecated
    with pytest.raises(UnknownMemory):
        apply(state, memory(write), HERE)


def test_a_fact_takes_the_place_of_the_one_with_its_key() -> None:
    state = apply(EMPTY, memory(FACT, replace(FACT, memory_id="m3", fact_key="")), HERE)
    state = apply(state, memory(replace(FACT, memory_id="m4", text="Bea")), LATER)
    visible = [item.memory_id for item in state.memory.values() if not item.deprecated]
    assert visible == ["m3", "m4"]


def test_only_the_last_deprecated_items_stay() -> None:
    count = KEPT_DEPRECATED + 5
    added = [replace(FACT, memory_id=f"m{n}", fact_key="") for n in range(count)]
    state = apply(EMPTY, memory(*added), HERE)
    state = apply(state, memory(*(MemoryWrite(MemoryOp.DEPRECATE, f"m{n}") for n in range(count))), HERE)
    assert list(state.memory) == [f"m{n}" for n in range(5, count)]


EVERY_KIND = Effects(
    (VariableWrite(Scope.PATH, "hp", "9007199254740993"), VariableWrite(Scope.SESSION, 'a"b', None)),
    (FACT, SUMMARY, MemoryWrite(MemoryOp.DEPRECATE, "m1")),
    (SlotWrite("game", "map", '{"b":1,"a":[2.50]}'), SlotWrite("game", "old", None)),
)


def test_the_text_of_effects_is_canonical() -> None:
    """A golden vector: outsiders derive floor digests from it."""
    text = effects_text(EVERY_KIND)
    assert text.decode() == (
        '{"variables":[{"scope":"PATH","key":"hp","value":"9007199254740993"},{"scope":"SESSION","key":"a\\"b"}],'
        '"memory":[{"op":"ADD","memory_id":"m1","kind":"FACT","fact_key":"name","text":"Ann","importance":0.25,'
        '"confidence":1},{"op":"ADD","memory_id":"m2","kind":"SUMMARY","text":"so far","covers_depth":1},'
        '{"op":"DEPRECATE","memory_id":"m1"}],'
        '"slots":[{"namespace":"game","slot":"map","value":"{\\"b\\":1,\\"a\\":[2.50]}"},'
        '{"namespace":"game","slot":"old"}]}'
    )
    assert effects_digest(text).hex() == "663bed3ba0727d139e7302d5bd2f9982eb99269c958a8a4fe41817c2ebcf6363"
    assert effects_from(text) == EVERY_KIND
    assert effects_from(effects_text(Effects())) == Effects()


def test_the_text_of_a_state_keeps_everything() -> None:
    state = apply(EMPTY, EVERY_KIND, replace(LATER, covers=("floor-0",)))
    state = apply(state, variables(hp=None, x="1"), HERE)
    assert state_from(state_text(state)) == state
    assert list(state_from(state_text(state)).memory) == list(state.memory)
    assert state_from(state_text(EMPTY)) == State()


def visible(state: State, *live: LiveValue, **initial: str) -> VisibleState:
    return VisibleState(state, live, initial, "root", 3, 2)


def test_the_narrowest_scope_is_seen_and_initial_values_where_nobody_wrote() -> None:
    state = apply(EMPTY, variables(a="1", gone="1"), HERE)
    state = apply(state, variables(gone=None), HERE)
    found = visible(
        state,
        LiveValue(Scope.SESSION, "a", "2", 3),
        LiveValue(Scope.SESSION, "b", "2", 3),
        LiveValue(Scope.PROJECT, "b", "3", 2),
        a="0",
        b="0",
        c="0",
        gone="0",
    )
    assert found.values == {"a": "1", "b": "2", "c": "0"}
    assert [(v.key, v.scope) for v in found.variables] == [
        ("a", Scope.PATH),
        ("a", Scope.SESSION),
        ("b", Scope.SESSION),
        ("b", Scope.PROJECT),
        ("c", Scope.PATH),
    ]
    assert found.variables[-1] == Variable(Scope.PATH, "c", "0", "root")
    assert found.live_version == "project.2/session.3"


def test_members_of_an_object_are_texts_as_they_stand() -> None:
    text = ' { "a" : 9007199254740993 ,\n"b\\u00e9":{"y" : 1,"x":2},"c":[1.50 ] , "d":"}" } '
    assert members(text) == {"a": "9007199254740993", "bé": '{"y" : 1,"x":2}', "c": "[1.50 ]", "d": '"}"'}
    assert members("{}") == {}
