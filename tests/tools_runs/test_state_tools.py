"""The built-in tools of the state: what a page sees, and that what they accept can be committed."""

import json
from typing import Any

import pytest

from kernel.prompt.config import Config, MemoryPolicy
from kernel.prompt.memory_policy import MemoryMode
from kernel.state.fold import apply
from kernel.state.model import Origin, State
from kernel.state.text import effects_from
from kernel.tools.effects import effects_of
from kernel.tree.message import Message, ToolCall, ToolResult
from kernel.tree.model import Role
from kernel.verbs.effects import checked
from kernel.verbs.state import path_state
from tests.tools_runs.desk import ASKING, BOXED, Desk, call


async def state(desk: Desk, box: Any, page: str = "", **arguments: Any) -> Any:
    (result,) = await desk.played(box, call("get_state", **arguments), page=page)
    assert not result.is_error, result
    return json.loads(result.content, parse_float=str)


async def committed(desk: Desk, page: str = "") -> State:
    """The state below the floor, were it committed with this page: what the run's sink does."""
    rows = [row for row in await desk.calls() if row.page_id == (page or desk.pages[0])]
    calls = tuple(ToolCall(row.call_id, row.name, row.arguments) for row in rows)
    results = tuple(ToolResult(row.call_id, row.content, row.is_error) for row in rows)
    messages = [Message(Role.ASSISTANT, calls), Message(Role.TOOL, results)]

    async def work(tx: Any) -> State:
        found = await checked(tx, desk.parent, effects_of(messages, Config(tools=BOXED)))
        assert found is not None
        return apply(await path_state(tx, desk.parent), effects_from(found.blob), Origin(desk.floor.floor_id))

    return await desk.world.read(work)


async def test_the_state_is_that_of_the_floors_parent(desk: Desk) -> None:
    found = await state(desk, desk.box(*BOXED))
    assert found == {
        "variables": {"hp": 9007199254740993},
        "memory": [
            {"memory_id": desk.memory_ids[0], "kind": "fact", "fact_key": "ann", "text": "Ann is well"},
            {"memory_id": desk.memory_ids[1], "kind": "open_loop", "text": "Find Bob"},
        ],
        "slots": {"game": {"map": ["1.0"]}},
    }
    assert await state(desk, desk.box(*BOXED), keys=["hp", "none"]) == {"variables": {"hp": 9007199254740993}}


async def test_a_page_sees_what_it_wrote_and_no_other_page_does(desk: Desk) -> None:
    box, (here, there, _) = desk.box(*BOXED), desk.pages
    results = await desk.played(
        box,
        call("set_variable", "1", key="hp", value=1.5),
        call("delete_slot", "2", namespace="game", slot="map"),
        call("remember", "3", text="Ann is hurt", fact_key="ann"),
        call("forget", "4", memory_id=desk.memory_ids[1]),
        page=here,
    )
    assert [result.is_error for result in results] == [False] * 4
    assert await state(desk, box, here) == {
        "variables": {"hp": "1.5"},
        "memory": [{"kind": "fact", "fact_key": "ann", "text": "Ann is hurt"}],
        "slots": {},
    }
    assert (await state(desk, box, there))["variables"] == {"hp": 9007199254740993}
    below = await committed(desk)
    assert below.variables["hp"].value_json == "1.5"
    assert below.slots == {}
    assert [item.text for item in below.memory.values() if not item.deprecated] == ["Ann is hurt"]


async def test_calls_of_one_answer_see_each_other_in_their_order(desk: Desk) -> None:
    calls = [
        call("set_variable", "1", key="a", value=1),
        call("get_state", "2", keys=["a"]),
        call("set_variable", "3", key="a", value=2),
        call("get_state", "4", keys=["a"]),
    ]
    results = await desk.played(desk.box(*BOXED), *calls)
    assert [json.loads(results[n].content)["variables"] for n in (1, 3)] == [{"a": 1}, {"a": 2}]


async def test_what_could_not_be_committed_is_an_error(desk: Desk) -> None:
    """An item that is unknown, or that the page has taken back."""
    box, known = desk.box(*BOXED), desk.memory_ids[0]
    results = await desk.played(
        box,
        call("update_memory", "1", memory_id=desk.world.new_id(), text="x"),
        call("update_memory", "2", memory_id="no id", text="x"),
        call("forget", "3", memory_id=known),
        call("update_memory", "4", memory_id=known, text="x"),
        call("set_variable", "5", key="a", value=[0] * 40_000),
        call("set_variable", "6", key="b", value=1),
    )
    assert [result.is_error for result in results] == [True, True, False, True, True, False]
    assert "64 KiB" in results[4].content
    below = await committed(desk)
    assert below.memory[known].deprecated
    assert set(below.variables) == {"hp", "b"}


async def test_a_call_that_acts_late_still_stands_where_it_was_called(desk: Desk) -> None:
    """The first call is approved after the second has acted: done in their order they would contradict each
    other, so the late one is refused, and what was accepted can be committed."""
    known = desk.memory_ids[0]
    tools = (*(tool for tool in BOXED if tool.name != "forget"), *(t for t in ASKING if t.name == "forget"))
    box = desk.box(*tools)
    calls = await box.record(
        desk.pages[0],
        [call("forget", "1", memory_id=known), call("update_memory", "2", memory_id=known, text="x")],
    )
    assert len((await box.act(calls)).waiting) == 1
    await desk.decide("1", True)
    await desk.next_epoch()
    late, early = (await desk.box(*tools).act(calls)).results
    assert (late.is_error, early.is_error) == (True, False)
    assert (await committed(desk)).memory[known].text == "x"


async def test_one_turn_writes_only_so_much(desk: Desk) -> None:
    large = [call("set_variable", str(n), key=f"k{n}", value="x" * 60_000) for n in range(5)]
    results = await desk.played(desk.box(*BOXED), *large)
    assert [result.is_error for result in results] == [False] * 4 + [True]
    assert "256 KiB" in results[4].content
    assert len((await committed(desk)).variables) == 1 + 4


@pytest.mark.parametrize(
    ("mode", "least", "texts"),
    [
        (MemoryMode.PROPOSE, None, ["Ann is well", "Find Bob", "Cat is here"]),
        (MemoryMode.AUTO, 0.7, ["Ann is well", "Find Bob", "Cat is here"]),
    ],
)
async def test_a_page_knows_what_it_proposed_itself(
    desk: Desk, mode: MemoryMode, least: float | None, texts: list[str]
) -> None:
    """Whatever the policy says of proposals on the path."""
    box = desk.box(config=Config(tools=BOXED, memory_policy=MemoryPolicy(mode, least)))
    await desk.played(box, call("remember", text="Cat is here"))
    assert [item["text"] for item in (await state(desk, box))["memory"]] == texts
