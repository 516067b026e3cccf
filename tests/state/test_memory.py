"""Memory over a path: changing items, covering floors, listing; and which page brings effects."""

from typing import Any

import pytest

from tests.state.stage import Stage, fact, path
from tests.support.client import assistant, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNKNOWN = "0198a0f0-0000-7000-8000-000000000000"


def changed(op: str, memory_id: str, **more: Any) -> dict[str, Any]:
    return {"op": f"MEMORY_OP_{op}", "memory_id": memory_id, **more}


async def test_items_are_changed_only_where_they_are_visible(stage: Stage) -> None:
    first = await stage.turn(memory=[fact("Ann is a smith", "trade")])
    (item,) = (await stage.state()).memory
    await stage.turn(memory=[changed("UPDATE", item.memory_id, text="Ann was a smith")])
    assert await stage.texts() == ["Ann was a smith"]
    await stage.turn(memory=[changed("DEPRECATE", item.memory_id)])
    assert await stage.texts() == []
    words = {"session_id": stage.session_id, "input": [user("x")]}
    for effects in (
        {"memory": [changed("DEPRECATE", item.memory_id)], "variables": [path("hp", 1)]},
        {"memory": [changed("UPDATE", UNKNOWN, text="x")]},
    ):
        refusal = await stage.client.refused("AppendFloor", **words, effects=effects)
        assert (refusal.code, refusal.reason) == ("NOT_FOUND", "NOT_FOUND")
    assert await stage.values() == {}
    # Before it was added it is nowhere, after that it is where it was.
    await stage.move(first.parent_floor_id)
    refusal = await stage.client.refused(
        "AppendFloor", **words, effects={"memory": [changed("DEPRECATE", item.memory_id)]}
    )
    assert refusal.code == "NOT_FOUND"
    assert await stage.texts(floor_id=first.floor_id) == ["Ann is a smith"]


async def test_a_repeat_gives_the_same_ids_and_equal_content_equal_digests(stage: Stage) -> None:
    request = {
        "request_id": UNKNOWN,
        "session_id": stage.session_id,
        "input": [user("x")],
        "effects": {"memory": [fact("one"), fact("one")]},
    }
    first = await stage.client.call("AppendFloor", **request)
    assert await stage.client.call("AppendFloor", **request) == first
    ids = [write.memory_id for write in first.floor.effects.memory]
    assert len(set(ids)) == 2
    other = await stage.client.new_session()
    request |= {"request_id": UNKNOWN.replace("0198", "0199"), "session_id": other}
    elsewhere = (await stage.client.call("AppendFloor", **request)).floor
    assert elsewhere.digest == first.floor.digest
    assert [write.memory_id for write in elsewhere.effects.memory] == ids


async def test_a_summary_covers_a_floor_of_its_path(stage: Stage) -> None:
    first, second = await stage.turn(), await stage.turn()
    other = await stage.regenerate(second)
    summary = {"op": "MEMORY_OP_ADD", "kind": "MEMORY_KIND_SUMMARY", "text": "so far"}
    words = {"session_id": stage.session_id, "input": [user("x")]}
    for floor_id in (second.floor_id, first.parent_floor_id, UNKNOWN):
        effects = {"memory": [{**summary, "covers_floor_id": floor_id}]}
        refusal = await stage.client.refused("AppendFloor", **words, effects=effects)
        assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "INVALID")
    floor = await stage.turn(memory=[{**summary, "covers_floor_id": other.floor_id}])
    (item,) = (await stage.state()).memory
    assert item.covers_floor_id == floor.effects.memory[0].covers_floor_id == other.floor_id


async def test_a_list_is_paged_and_pins_its_floor(stage: Stage) -> None:
    await stage.turn(memory=[fact(f"fact {n}") for n in range(5)])
    loop = {"op": "MEMORY_OP_ADD", "kind": "MEMORY_KIND_OPEN_LOOP", "text": "the key"}
    head = await stage.turn(memory=[loop])
    first_id = (await stage.state()).memory[0].memory_id
    here = {"session_id": stage.session_id}
    page = await stage.client.call("ListMemory", **here, page_size=2)
    assert [item.text for item in page.memory] == ["fact 0", "fact 1"]
    assert page.as_of_floor_id == head.floor_id
    await stage.turn(memory=[changed("DEPRECATE", first_id)])
    rest = await stage.client.call("ListMemory", **here, page_size=2, page_token=page.next_page_token)
    assert [item.text for item in rest.memory] == ["fact 2", "fact 3"]
    kinds = await stage.client.call("ListMemory", **here, kind="MEMORY_KIND_OPEN_LOOP")
    assert [item.text for item in kinds.memory] == ["the key"]
    all_items = await stage.client.everything(
        "ListMemory", "memory", **here, include_deprecated=True, page_size=4
    )
    assert [(item.text, item.deprecated) for item in all_items][:2] == [("fact 0", True), ("fact 1", False)]
    assert len(all_items) == 6
    refusal = await stage.client.refused(
        "ListMemory", **here, kind="MEMORY_KIND_FACT", page_token=page.next_page_token
    )
    assert refusal.code == "INVALID_ARGUMENT"


async def add(stage: Stage, floor_id: str, text: str, **effects: Any) -> str:
    page = {"slot": 2, "messages": [assistant(text)], "effects": effects}
    return (await stage.client.call("AddPage", floor_id=floor_id, **page)).page.page_id


async def test_effects_belong_to_the_version_that_brought_them(stage: Stage) -> None:
    await stage.turn(path("hp", 10))
    opened = (await stage.client.call("OpenFloor", session_id=stage.session_id, input=[user("?")])).floor
    mild = await add(stage, opened.floor_id, "mild", variables=[path("hp", 9)])
    harsh = await add(stage, opened.floor_id, "harsh", variables=[path("hp", 1)])
    # Nothing is visible before the commit.
    assert await stage.values() == {"P:hp": 10}
    chosen = (await stage.client.call("ActivatePage", page_id=harsh)).floor
    assert [write.value_json for write in chosen.effects.variables] == ["1"]
    committed = (await stage.client.call("CommitFloor", floor_id=opened.floor_id, page_id=mild)).floor
    assert await stage.values() == {"P:hp": 9}
    # A candidate comes with its own; a new output has none; what is given replaces either.
    await stage.regenerate(committed, output=[], from_page_id=harsh)
    assert await stage.values() == {"P:hp": 1}
    await stage.regenerate(committed)
    assert await stage.values() == {"P:hp": 10}
    await stage.regenerate(committed, output=[], from_page_id=harsh, effects={"variables": [path("hp", 4)]})
    assert await stage.values() == {"P:hp": 4}
    await stage.regenerate(committed, output=[], from_page_id=harsh, effects={})
    assert await stage.values() == {"P:hp": 10}
    assert await stage.verified() == []


async def test_effects_at_the_commit_take_the_place_of_the_versions(stage: Stage) -> None:
    for given, seen in (({"variables": [path("hp", 5)]}, {"P:hp": 5}), ({}, {})):
        session = {"session_id": await stage.client.new_session()}
        opened = (await stage.client.call("OpenFloor", **session, input=[user("?")])).floor
        await add(stage, opened.floor_id, "one", variables=[path("hp", 1)])
        await stage.client.call("CommitFloor", floor_id=opened.floor_id, effects=given)
        assert await stage.values(**session) == seen
    # A floor of effects alone is one, and its digest says so.
    session = {"session_id": await stage.client.new_session()}
    opened = (await stage.client.call("OpenFloor", **session)).floor
    refusal = await stage.client.refused("CommitFloor", floor_id=opened.floor_id, effects={})
    assert refusal.code == "INVALID_ARGUMENT"
    await stage.client.call("CommitFloor", floor_id=opened.floor_id, effects={"variables": [path("hp", 2)]})
    assert await stage.values(**session) == {"P:hp": 2}


async def test_a_run_does_not_inherit_the_effects_of_a_version(stage: Stage) -> None:
    opened = (await stage.client.call("OpenFloor", session_id=stage.session_id, input=[user("?")])).floor
    await add(stage, opened.floor_id, "one", variables=[path("hp", 1)])
    floor = await stage.client.respond(stage.session_id, resume={"floor_id": opened.floor_id})
    assert not floor.HasField("effects")
    assert await stage.values() == {}
    assert await stage.verified() == []
