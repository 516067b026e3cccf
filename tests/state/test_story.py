"""State follows the tree (C2): what one floor writes is visible exactly on paths through it."""

from typing import Any

import pytest

from tests.state.stage import Stage, fact, own, path, slot

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def seen(stage: Stage, **where: Any) -> tuple[dict[str, object], list[str], dict[str, object]]:
    return await stage.values(**where), await stage.texts(**where), await stage.slots(**where)


async def test_state_follows_regenerate_selection_rollback_and_return(stage: Stage) -> None:
    first = await stage.turn(
        path("hp", 10), own("mood", "calm"), memory=[fact("Ann is a smith")], slots=[slot("map", [1])]
    )
    before = ({"P:hp": 10, "S:mood": "calm"}, ["Ann is a smith"], {"game/map": [1]})
    assert await seen(stage) == before
    hit = await stage.turn(
        path("hp", 5), own("mood", "angry"), memory=[fact("Ann is hurt")], slots=[slot("map", [2])]
    )
    after = ({"P:hp": 5, "S:mood": "angry"}, ["Ann is a smith", "Ann is hurt"], {"game/map": [2]})
    assert await seen(stage) == after

    # The sibling inherits none of the effects; a live value is of no path.
    spared = await stage.regenerate(hit)
    without = ({"P:hp": 10, "S:mood": "angry"}, *before[1:])
    assert await seen(stage) == without
    await stage.select(hit)
    assert await seen(stage) == after
    await stage.select(spared)
    assert await seen(stage) == without

    await stage.move(first.parent_floor_id)
    assert await seen(stage) == ({"S:mood": "angry"}, [], {})
    await stage.move(hit.floor_id)
    assert await seen(stage) == after
    # At any floor, wherever the head is.
    assert await seen(stage, floor_id=spared.floor_id) == without
    assert await stage.verified() == []


async def test_a_floor_shows_its_effects_and_what_it_gave_an_id(stage: Stage) -> None:
    floor = await stage.turn(path("hp", 5), memory=[fact("Ann is a smith", importance=0.5)])
    (added,) = floor.effects.memory
    (item,) = (await stage.state()).memory
    assert added.memory_id == item.memory_id != ""
    assert item.floor_id == item.added_floor_id == floor.floor_id
    assert item.message_id == floor.output_page.messages[-1].message_id
    assert (item.source, item.trust, item.importance) == ("client", "trusted", 0.5)
    shown = (await stage.client.call("GetFloor", floor_id=floor.floor_id)).floor
    assert shown == floor
    (listed,) = (await stage.client.call("ListPath", session_id=stage.session_id)).floors
    assert listed == floor
