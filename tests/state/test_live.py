"""Live values: versions, both layers, the configuration below them, one event for each write."""

import asyncio
import json

import grpc
import pytest

from tests.state.stage import Stage, own, path, shared
from tests.support.client import refusal_of, request_for

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def write(stage: Stage, *variables: object, **fields: object) -> object:
    where = {} if "project_id" in fields else {"session_id": stage.session_id}
    return await stage.client.call("WriteState", variables=variables, **where, **fields)


async def test_a_layers_version_grows_with_each_write_and_guards_it(stage: Stage) -> None:
    assert (await stage.state()).session_version == 1
    done = await write(stage, own("mood", "calm"), path("luck", 1) | {"scope": 0}, expected_version=1)
    assert done.version == 2
    assert [(v.key, v.value_json, v.version, v.scope) for v in done.variables] == [
        ("luck", "1", 2, 2),
        ("mood", '"calm"', 2, 2),
    ]
    before = await stage.state()
    assert (before.session_version, before.project_version) == (2, 1)
    refusal = await stage.client.refused(
        "WriteState", session_id=stage.session_id, variables=[own("mood", "wild")], expected_version=1
    )
    assert (refusal.code, refusal.reason) == ("ABORTED", "VERSION_MOVED")
    assert refusal.metadata == {"current_version": "2"}
    assert await stage.state() == before
    gone = {"scope": "SCOPE_SESSION", "key": "mood", "delete": True}
    assert (await write(stage, gone, expected_version=2)).version == 3
    assert await stage.values() == {"S:luck": 1}
    # A floor's live writes are a version, too.
    await stage.turn(own("luck", 2), own("mood", "calm"))
    assert (await stage.state()).session_version == 4


async def test_a_projects_values_are_seen_in_its_sessions(stage: Stage) -> None:
    assert (await write(stage, shared("season", "autumn"), project_id=stage.project_id)).version == 2
    assert await stage.values() == {"J:season": "autumn"}
    await stage.turn(shared("season", "winter"), own("season", "spring"), path("season", "summer"))
    found = await stage.state()
    assert [(v.key, v.scope, json.loads(v.value_json)) for v in found.variables] == [
        ("season", 1, "summer"),
        ("season", 2, "spring"),
        ("season", 3, "winter"),
    ]
    alone = await stage.client.call("GetState", project_id=stage.project_id)
    assert [(v.scope, v.value_json) for v in alone.variables] == [(3, '"winter"')]
    assert (alone.project_version, alone.session_version, alone.as_of_floor_id) == (3, 0, "")
    fields = {"project_id": stage.project_id}
    other = (await stage.client.call("CreateSession", **fields)).session.session_id
    assert await stage.values(session_id=other) == {"J:season": "winter"}
    refusal = await stage.client.refused("GetState", project_id=stage.project_id, branch="main")
    assert refusal.code == "INVALID_ARGUMENT"


async def test_the_live_version_names_both_layers(stage: Stage) -> None:
    seen = [(await stage.state()).live_version]
    await write(stage, own("mood", "calm"))
    seen.append((await stage.state()).live_version)
    await write(stage, shared("season", "autumn"), project_id=stage.project_id)
    seen.append((await stage.state()).live_version)
    await stage.turn(path("hp", 1))
    assert len(set(seen)) == 3
    assert (await stage.state()).live_version == seen[-1]


async def test_initial_values_are_there_until_somebody_writes(stage: Stage) -> None:
    config = {"variables_json": '{"hp": 9007199254740993,"mood":{"b":1,"a":2}, "luck":0}'}
    created = (await stage.client.call("CreateSession", config=config)).session
    here = {"session_id": created.session_id}
    found = (await stage.state(**here)).variables
    assert {v.key: v.value_json for v in found} == {
        "hp": "9007199254740993",
        "mood": '{"b":1,"a":2}',
        "luck": "0",
    }
    assert {(v.scope, v.floor_id) for v in found} == {(1, created.root_floor_id)}
    effects = {"variables": [path("hp", 1), {"key": "luck", "delete": True}, own("mood", "calm")]}
    await stage.client.call("AppendFloor", **here, effects=effects)
    assert await stage.values(**here) == {"P:hp": 1, "S:mood": "calm"}
    # A path that nobody wrote on still has them, but for the live value.
    at_root = await stage.values(**here, floor_id=created.root_floor_id)
    assert at_root == {"P:hp": 9007199254740993, "P:luck": 0, "S:mood": "calm"}


async def test_each_write_has_one_event_with_counts_alone(stage: Stage) -> None:
    async def events() -> list[tuple[str, dict[str, object]]]:
        found = (await stage.client.call("ListEvents", project_id=stage.project_id)).events
        return [(event.type, json.loads(event.payload_json)) for event in found]

    known = len(await events())
    await write(stage, own("secret", "word"), own("other", 1))
    await stage.client.refused(
        "WriteState", session_id=stage.session_id, variables=[own("x", 1)], expected_version=9
    )
    await stage.turn(own("secret", "again"), path("hp", 1), slots=[], memory=[])
    changed, committed = (await events())[known:]
    assert changed == ("state.changed", {"scope": "session", "version": 2, "variable_writes": 2})
    assert committed[0] == "floor.committed"
    counts = {k: v for k, v in committed[1].items() if k.endswith("_writes")}
    assert counts == {"variable_writes": 2, "memory_writes": 0, "slot_writes": 0}
    assert "secret" not in json.dumps(committed[1])


async def test_a_layer_has_its_limits(stage: Stage) -> None:
    for number in range(3):
        await write(stage, *(own(f"{number}.{n}", n) for n in range(256)))
    await write(stage, *(own(f"3.{n}", n) for n in range(232)))
    refusal = await stage.client.refused(
        "WriteState", session_id=stage.session_id, variables=[own("one more", 1)]
    )
    assert (refusal.code, refusal.reason) == ("RESOURCE_EXHAUSTED", "LIMIT")
    await write(stage, own("3.0", "other"), {"scope": 2, "key": "3.1", "delete": True})
    assert len((await stage.state()).variables) == 999


async def test_of_writers_at_once_one_has_the_expected_version_and_none_is_lost(stage: Stage) -> None:
    async def guarded(number: int) -> str:
        request = request_for(
            "WriteState", session_id=stage.session_id, variables=[own("who", number)], expected_version=1
        )
        try:
            await stage.client.send("WriteState", request)
        except grpc.aio.AioRpcError as error:
            return refusal_of(error).reason
        return "written"

    outcomes = await asyncio.gather(*(guarded(number) for number in range(8)))
    assert sorted(outcomes) == ["VERSION_MOVED"] * 7 + ["written"]
    done = await asyncio.gather(
        *(write(stage, shared(f"k{n}", n), project_id=stage.project_id) for n in range(6)),
        *(stage.turn(shared(f"t{n}", n), own(f"t{n}", n), path("hp", n)) for n in range(6)),
    )
    assert len(done) == 12
    found = await stage.state()
    assert (found.session_version, found.project_version) == (8, 13)
    assert len([v for v in found.variables if v.scope == 3]) == 12
    assert await stage.verified() == []
