"""GetSnapshot: what a draft is made from, as one consistent and checked copy."""

import json
from dataclasses import replace

import pytest
from stemma.kernel.v1 import floor_pb2

from conversation_service.app import snapshots as app
from kernel.errors import DataLoss
from kernel.state.text import state_text
from kernel.tree.model import Floor
from kernel.verbs.snapshots import Snapshot, check_snapshot
from kernel.verbs.state import path_state
from tests.snapshots.taking import Taken, take
from tests.staged.stage import Stage
from tests.state.stage import fact, own, path, shared, slot
from tests.support.client import assistant, user

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def a_session(stage: Stage) -> list[floor_pb2.Floor]:
    """Two turns with effects of every kind, a sibling beside the second, and configuration in two layers."""
    await stage.client.call(
        "UpdateProject",
        project_id=stage.project_id,
        config={"system_prompt": "Be kind.", "variables_json": '{"big":9007199254740993}'},
        update_mask={"paths": ["config"]},
    )
    await stage.client.call(
        "UpdateSession",
        session_id=stage.session_id,
        config={"model": {"temperature": 0.3}},
        update_mask={"paths": ["config"]},
    )
    first = await stage.turn(path("mood", "calm"), memory=[fact("It rains.", "weather")])
    second = await stage.turn(own("coins", 3), shared("season", "autumn"), slots=[slot("place", "inn")])
    await stage.regenerate(second)
    await stage.select(second)
    return [first, second]


async def test_a_session_at_its_head(stage: Stage) -> None:
    first, second = await a_session(stage)
    taken = await take(stage.client, session_id=stage.session_id, include_history=True)
    header = taken.header
    assert (header.project_id, header.session_id) == (stage.project_id, stage.session_id)
    assert header.base_floor_id == header.source_floor_id == second.floor_id
    assert (header.base_digest, header.base_depth) == (second.digest, 2)
    assert (header.floor_count, header.path_tokens) == (2, second.path_tokens)
    assert taken.path_ids == [first.floor_id, second.floor_id]
    assert not header.HasField("input_page")
    config = await stage.client.call("GetEffectiveConfig", session_id=stage.session_id)
    assert header.config == config.config
    state = await stage.state()
    assert (header.versions.config_version, header.versions.live_version) == (
        config.version,
        state.live_version,
    )
    assert (header.versions.project_version, header.versions.session_version) == (2, 2)
    live = taken.snapshot.session_live, taken.snapshot.project_live
    assert [(row.key, row.value_json) for layer in live for row in layer.values] == [
        ("coins", "3"),
        ("season", '"autumn"'),
    ]
    assert (live[0].version, live[1].version) == (state.session_version, state.project_version)


async def test_its_state_is_what_the_kernel_folds(stage: Stage) -> None:
    _, second = await a_session(stage)
    taken = await take(stage.client, session_id=stage.session_id)
    async with stage.service.service.env.store.reading("local") as tx:
        floor = await tx.floor(second.floor_id)
        assert floor is not None
        folded = await path_state(tx, floor)
    assert taken.snapshot.state == folded
    assert json.loads(state_text(folded))["slots"] == [["game", "place", '"inn"', second.floor_id]]
    assert taken.snapshot.config.variables_json == '{"big":9007199254740993}'


async def test_pages_are_the_stored_bytes_and_floors_their_digests(stage: Stage) -> None:
    _, second = await a_session(stage)
    taken = await take(stage.client, session_id=stage.session_id, include_history=True)
    async with stage.service.service.env.store.reading("local") as tx:
        stored = await tx.floor(second.floor_id)
    assert stored is not None
    got = taken.path[-1]
    assert (got.input, got.output, got.digest) == (stored.input, stored.output, stored.digest)
    assert got.effects == stored.effects
    assert (got.principal, got.create_time, got.commit_time) == (
        stored.principal,
        stored.create_time,
        stored.commit_time,
    )


async def test_a_reply_has_the_input_and_ends_at_the_parent(stage: Stage) -> None:
    first, second = await a_session(stage)
    fields = {"session_id": stage.session_id, "floor_id": second.floor_id, "include_history": True}
    taken = await take(stage.client, reply_to_floor=True, **fields)
    assert (taken.header.source_floor_id, taken.header.base_floor_id) == (second.floor_id, first.floor_id)
    assert taken.path_ids == [first.floor_id]
    assert taken.snapshot.input is not None
    assert taken.snapshot.input.page_id == second.input_page.page_id
    assert taken.snapshot.input.digest.hex() == second.input_page.digest
    assert taken.snapshot.state.slots == {}
    assert taken.digest != (await take(stage.client, **fields)).digest


async def test_a_reply_to_an_open_floor(stage: Stage) -> None:
    """Candidates are drafted for a floor that waits for its answer."""
    opened = await stage.client.call("OpenFloor", session_id=stage.session_id, input=[user("well?")])
    here = {"session_id": stage.session_id, "floor_id": opened.floor.floor_id}
    taken = await take(stage.client, reply_to_floor=True, **here)
    assert taken.snapshot.input is not None
    assert taken.header.base_depth == 0
    refused = await stage.client.refused("GetSnapshot", **here)
    assert refused.reason == "FLOOR_PENDING"
    await stage.client.call("AbandonFloor", floor_id=opened.floor.floor_id)
    refused = await stage.client.refused("GetSnapshot", reply_to_floor=True, **here)
    assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "FLOOR_FAILED")


async def test_a_project_has_no_path(stage: Stage) -> None:
    await a_session(stage)
    taken = await take(stage.client, project_id=stage.project_id)
    header = taken.header
    assert (header.session_id, header.base_floor_id, header.floor_count, taken.path) == ("", "", 0, [])
    assert header.config.system_prompt == "Be kind."
    assert not header.config.HasField("model")
    assert (header.versions.project_version, header.versions.session_version) == (2, 0)
    assert [row.key for row in taken.snapshot.project_live.values] == ["season"]
    assert (await take(stage.client, project_id="default")).header.title == "default"


async def test_the_root_is_a_base_like_any_other(stage: Stage) -> None:
    taken = await take(stage.client, session_id=stage.session_id, include_history=True)
    assert (taken.header.base_depth, taken.path) == (0, [])
    refused = await stage.client.refused("GetSnapshot", session_id=stage.session_id, reply_to_floor=True)
    assert refused.code == "INVALID_ARGUMENT"


async def test_equal_content_has_equal_digests(stage: Stage) -> None:
    """A fork's ids are others; what it says is not. And every part that a draft goes by counts."""
    first, second = await a_session(stage)
    fork = await stage.client.call("ForkSession", session_id=stage.session_id, floor_id=second.floor_id)
    forked = fork.session.session_id

    async def digest(**fields: object) -> bytes:
        return (await take(stage.client, **{"session_id": stage.session_id, **fields})).digest

    whole, bare = await digest(include_history=True), await digest()
    assert whole == await digest(session_id=forked, include_history=True)
    assert bare == await digest(session_id=forked)
    earlier = await digest(floor_id=first.floor_id, include_history=True)
    assert len({whole, bare, earlier}) == 3
    await stage.client.call("WriteState", session_id=forked, variables=[own("coins", 4)])
    assert bare != await digest(session_id=forked)
    await stage.client.call(
        "UpdateSession",
        session_id=stage.session_id,
        config={"model": {"temperature": 0.4}},
        update_mask={"paths": ["config.model.temperature"]},
    )
    assert bare != await digest()


async def test_a_changed_copy_is_not_what_its_digest_says(stage: Stage) -> None:
    await a_session(stage)
    taken = await take(stage.client, session_id=stage.session_id, include_history=True)
    snapshot, floors = taken.snapshot, taken.path

    def refused(snapshot: Snapshot, path: list[Floor]) -> None:
        with pytest.raises(DataLoss):
            check_snapshot(snapshot, taken.digest, path)

    output = floors[1].output
    assert output is not None
    other = replace(output, content=replace(output.content, blob=floors[1].input.content.blob))  # type: ignore[union-attr]
    refused(snapshot, [floors[0], replace(floors[1], output=other)])
    refused(snapshot, [floors[0], replace(floors[1], output=None)])
    refused(snapshot, [floors[0], replace(floors[1], effects=None)])
    refused(snapshot, floors[:1])
    refused(snapshot, floors[::-1])
    refused(snapshot, [])
    refused(replace(snapshot, config=replace(snapshot.config, system_prompt="Be rude.")), floors)
    refused(replace(snapshot, state=replace(snapshot.state, deleted=frozenset({"mood"}))), floors)
    refused(replace(snapshot, session_live=snapshot.project_live), floors)


async def test_a_long_path_comes_in_pieces(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "_CHUNK_FLOORS", 2)
    ids = [(await stage.turn()).floor_id for _ in range(5)]
    assert (await take(stage.client, session_id=stage.session_id, include_history=True)).path_ids == ids


async def test_what_is_too_large_is_refused_before_it_is_read(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stage.turn()
    monkeypatch.setattr(app, "MAX_BYTES", 100)
    refused = await stage.client.refused("GetSnapshot", session_id=stage.session_id, include_history=True)
    assert (refused.code, refused.reason) == ("RESOURCE_EXHAUSTED", "SNAPSHOT_TOO_LARGE")


async def test_large_parts_fit_into_messages(stage: Stage) -> None:
    """A header of more than 4 MiB: a large prompt, large live values and a large input in one snapshot."""
    rain = "雨" * 87_000
    for key in ("one", "two"):
        for scope in (own, shared):
            writes = [scope(f"{key}{n}", "雨" * 10_000) for n in range(3)]
            where = {"session_id": stage.session_id} if scope is own else {"project_id": stage.project_id}
            await stage.client.call("WriteState", variables=writes, **where)
    await stage.client.call(
        "UpdateProject",
        project_id=stage.project_id,
        config={
            "system_prompt": rain,
            "pipeline": {name: {"prompt": rain} for name in ("director", "verifier")},
        },
        update_mask={"paths": ["config"]},
    )
    words = [user("雨" * 300_000) for _ in range(3)]
    floor = await stage.client.call(
        "AppendFloor", session_id=stage.session_id, input=words, output=[assistant("wet")]
    )
    taken: Taken = await take(
        stage.client, session_id=stage.session_id, floor_id=floor.floor.floor_id, reply_to_floor=True
    )
    assert taken.header.ByteSize() > 4 * 1024 * 1024


async def test_a_session_that_is_deleted_meanwhile(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path is read in pieces: one that is gone ends the call, it does not end the path."""
    monkeypatch.setattr(app, "_CHUNK_FLOORS", 1)
    for _ in range(2):
        await stage.turn()
    env, caller = stage.service.service.env, app.Caller("local", "local", frozenset({"service"}))
    source = app.Source(session_id=stage.session_id, history=True)
    pieces = app.path_of(env, caller, await app.take_snapshot(env, caller, source))
    assert len(await anext(pieces)) == 1
    await stage.client.call("DeleteSession", session_id=stage.session_id)
    with pytest.raises(app.NotFound):
        await anext(pieces)
    refused = await stage.client.refused("GetSnapshot", session_id=stage.session_id)
    assert refused.code == "NOT_FOUND"


async def test_what_a_project_has_not(stage: Stage) -> None:
    for fields in (
        {"floor_id": stage.session_id},
        {"include_history": True},
        {"reply_to_floor": True},
        {"session_id": stage.session_id},
    ):
        refused = await stage.client.refused("GetSnapshot", project_id=stage.project_id, **fields)
        assert refused.code == "INVALID_ARGUMENT", fields
    assert (await stage.client.refused("GetSnapshot")).code == "INVALID_ARGUMENT"


async def test_with_auth_off_everybody_is_the_owner(stage: Stage) -> None:
    found = await stage.client.call("Introspect", authorization="Bearer whatever")
    assert (found.tenant_id, found.principal) == ("local", "local")
    assert found.role == 3
    assert found.scopes == ["admin", "service"]


async def test_where_models_are_asked_stays_behind(stage: Stage) -> None:
    model = {"base_url": "https://1.1.1.1/v1", "api_key": "sk-canary", "temperature": 0.5}
    await stage.client.call(
        "UpdateSession",
        session_id=stage.session_id,
        config={"model": model},
        update_mask={"paths": ["config"]},
    )
    taken = await take(stage.client, session_id=stage.session_id)
    found = taken.header.config.model
    assert (found.base_url, found.api_key_set, found.temperature) == ("", False, 0.5)
    assert list(taken.header.own_endpoints) == ["model"]
    plain = await take(stage.client, project_id=stage.project_id)
    assert not plain.header.own_endpoints
