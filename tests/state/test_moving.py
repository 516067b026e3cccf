"""State goes with a path: forks, files, merges, erasure."""

from typing import Any

import grpc
import pytest
from stemma.conversation.v1 import session_service_pb2_grpc

from tests.state.stage import Stage, fact, own, path, shared, slot
from tests.support.client import assistant, user
from tests.transfers.files import Files

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def a_life(stage: Stage) -> list[Any]:
    """Twenty turns with every kind of effect: a copy of the state lies on their path."""
    floors = [await stage.turn(path("hp", 20), own("mood", "calm"), shared("season", "autumn"))]
    for number in range(18):
        floors.append(
            await stage.turn(path(f"k{number % 5}", number), memory=[fact(f"fact {number}", f"f{number}")])
        )
    first = (await stage.state()).memory[0].memory_id
    floors.append(
        await stage.turn(
            memory=[
                {"op": "MEMORY_OP_DEPRECATE", "memory_id": first},
                {
                    "op": "MEMORY_OP_ADD",
                    "kind": "MEMORY_KIND_SUMMARY",
                    "text": "so far",
                    "covers_floor_id": floors[7].floor_id,
                },
            ],
            slots=[slot("map", {"b": 1, "a": 2})],
        )
    )
    return floors


def told(state: Any, *, ids: bool = True) -> Any:
    """The state without what names floors, and without what belongs to a project."""
    variables = [(v.scope, v.key, v.value_json, v.version) for v in state.variables if v.scope != 3]
    memory = [(m.memory_id if ids else "", m.kind, m.fact_key, m.text, m.deprecated) for m in state.memory]
    return variables, memory, [(s.namespace, s.slot, s.value_json) for s in state.slots]


async def floors_of(stage: Stage, session_id: str) -> list[Any]:
    return await stage.client.everything("ListPath", "floors", session_id=session_id)


async def test_a_fork_has_the_state_of_its_floor(stage: Stage) -> None:
    floors = await a_life(stage)
    fork = await stage.client.call("ForkSession", session_id=stage.session_id, floor_id=floors[-1].floor_id)
    there = {"session_id": fork.session.session_id}
    mine, its = await stage.state(), await stage.state(**there)
    assert told(its) == told(mine)
    copies = await floors_of(stage, fork.session.session_id)
    assert [floor.digest for floor in copies] == [floor.digest for floor in floors]
    # What names floors names the copies.
    by_id = {old.floor_id: new.floor_id for old, new in zip(floors, copies, strict=True)}
    assert [m.floor_id for m in its.memory] == [by_id[m.floor_id] for m in mine.memory]
    assert its.memory[-1].covers_floor_id == copies[7].floor_id
    assert copies[-1].effects.memory[-1].covers_floor_id == copies[7].floor_id
    pages = {message.message_id for floor in copies for message in floor.output_page.messages}
    assert {m.message_id for m in its.memory} <= pages
    # From here on each goes its own way, but for the project's values.
    await stage.turn(own("mood", "wild"), shared("season", "winter"), path("hp", 1))
    after = await stage.values(**there)
    assert (after["S:mood"], after["J:season"], after["P:hp"]) == ("calm", "winter", 20)
    assert (await stage.client.call("VerifySession", **there)).problems == []


async def test_a_file_keeps_effects_and_live_values(stage: Stage) -> None:
    floors = await a_life(stage)
    other = await stage.regenerate(floors[10], effects={"variables": [path("hp", 3)]})
    await stage.select(floors[10])
    opened = (await stage.client.call("OpenFloor", session_id=stage.session_id, input=[user("and?")])).floor
    for text in ("one", "two"):
        page = {"slot": 2, "messages": [assistant(text)], "effects": {"variables": [path("said", text)]}}
        await stage.client.call("AddPage", floor_id=opened.floor_id, **page)
    async with grpc.aio.insecure_channel(stage.service.address) as channel:
        files = Files(stage.service, stage.client, session_service_pb2_grpc.SessionServiceStub(channel))
        made = await files.one("stemma", await files.exported(stage.session_id))
    there = {"session_id": made}
    assert told(await stage.state(**there)) == told(await stage.state())
    digests = [floor.digest for floor in await floors_of(stage, made)]
    assert digests == [floor.digest for floor in floors]
    # Versions have what they brought, siblings what is theirs.
    (branch,) = (await stage.client.call("ListBranches", **there)).branches
    pages = (await stage.client.call("ListPages", floor_id=branch.pending_floor_id)).pages
    await stage.client.call("CommitFloor", floor_id=branch.pending_floor_id, page_id=pages[-1].page_id)
    assert (await stage.values(**there))["P:said"] == "two"
    tree = await stage.client.everything("GetTree", "floors", **there)
    (sibling,) = [floor.floor_id for floor in tree if floor.digest == other.digest]
    assert (await stage.values(session_id=made, floor_id=sibling))["P:hp"] == 3
    assert {m.trust for m in (await stage.state(**there)).memory} == {"untrusted_import"}
    assert (await stage.client.call("VerifySession", **there)).problems == []


async def test_a_merge_brings_the_state_and_an_erasure_takes_all_of_it(stage: Stage) -> None:
    first = await stage.turn(path("hp", 1), own("mood", "calm"))
    await stage.client.call("CreateBranch", session_id=stage.session_id, name="side", floor_id=first.floor_id)
    for number in range(17):
        await stage.turn(path("hp", number), branch="side")
    assert (await stage.values())["P:hp"] == 1
    await stage.client.call("MergeBranch", session_id=stage.session_id, source_branch="side")
    assert (await stage.values())["P:hp"] == 16
    receipt = (await stage.client.call("DeleteSession", session_id=stage.session_id)).receipt
    rows = {one.store: one.rows for one in receipt}
    assert (rows["state_copy"], rows["live_value"], rows["live_layer"], rows["floor"]) == (1, 1, 1, 19)
    refusal = await stage.client.refused("GetState", session_id=stage.session_id)
    assert (refusal.code, refusal.reason) == ("NOT_FOUND", "NOT_FOUND")
