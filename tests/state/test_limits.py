"""Limits of a path's state, and turns that change nothing but the state."""

import pytest

from tests.state.stage import Stage, fact, path, slot
from tests.support.client import user

pytestmark = pytest.mark.asyncio(loop_scope="session")

BIG = "x" * 60_000


async def test_a_paths_state_has_a_limit_and_room_again_after_a_deletion(stage: Stage) -> None:
    for turn in range(4):
        await stage.turn(*(path(f"{turn}.{n}", BIG) for n in range(4)))
    words = {"session_id": stage.session_id, "input": [user("x")]}
    more = {"variables": [path(f"5.{n}", BIG) for n in range(4)]}
    before = await stage.client.path_ids(stage.session_id)
    refusal = await stage.client.refused("AppendFloor", **words, effects=more)
    assert (refusal.code, refusal.reason) == ("RESOURCE_EXHAUSTED", "LIMIT")
    assert await stage.client.path_ids(stage.session_id) == before
    await stage.turn(*({"key": f"0.{n}", "delete": True} for n in range(4)))
    await stage.client.call("AppendFloor", **words, effects=more)
    assert len((await stage.state()).variables) == 16
    assert await stage.verified() == []


async def test_what_is_written_again_takes_no_more_room(stage: Stage) -> None:
    """The bound on the size is made exact before it refuses anything."""
    for _ in range(6):
        await stage.turn(*(path(f"k{n}", BIG) for n in range(4)))
    assert len((await stage.state()).variables) == 4
    assert await stage.verified() == []


async def test_floors_of_effects_alone_hold_no_message(stage: Stage) -> None:
    spoken = await stage.turn()
    here = {"session_id": stage.session_id}
    for number in range(40):
        effects = {"variables": [path("hp", number)], "slots": [slot("n", number)]}
        silent = (await stage.client.call("AppendFloor", **here, effects=effects)).floor
        assert not silent.HasField("input_page")
        assert not silent.HasField("output_page")
        assert silent.path_tokens == spoken.path_tokens
    edited = await stage.client.call("RegenerateFloor", floor_id=silent.floor_id, output=[user("hello")])
    said = edited.floor.output_page.messages[0]
    assert said.parent_message_id == spoken.output_page.messages[-1].message_id
    await stage.select(silent)
    found = (await stage.client.call("AssembleContext", **here)).messages
    assert len(found) == 2
    later = await stage.turn(memory=[fact("one")])
    assert later.input_page.messages[0].parent_message_id == spoken.output_page.messages[-1].message_id
    assert await stage.values() == {"P:hp": 39}
    assert await stage.verified() == []
