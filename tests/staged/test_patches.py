"""Accepting changes of configuration and of state, alone and together."""

import json

import pytest
from stemma.kernel.v1 import floor_pb2

from tests.staged.stage import ACCEPTED, STAGED, Stage, add, effects, page, patch
from tests.state.stage import fact, own, path, shared, slot

pytestmark = pytest.mark.asyncio(loop_scope="session")
BIG = '{"big":9007199254740993}'


def project(stage: Stage) -> dict[str, str]:
    return {"project_id": stage.project_id}


async def config_of(stage: Stage) -> object:
    return (await stage.client.call("GetProject", project_id=stage.project_id)).project.config


async def test_a_project_gets_a_new_version(stage: Stage) -> None:
    """And the next turn runs with it: the loop is closed."""
    entry = await stage.staged(
        patch(
            add("/systemPrompt", "Slowly."),
            add("/model/temperature", 0.25),
            add("/model/seed", 9007199254740993),
            add("/memory_policy/mode", "MEMORY_MODE_AUTO"),
            add("/greetings/-", "Well met."),
            add("/variablesJson", BIG),
            add("/tools/-", {"name": "look", "side_effect": "TOOL_SIDE_EFFECT_NONE"}),
        ),
        target=project(stage),
    )
    count = len(await stage.types())
    answer = await stage.accept(entry, expected_version=1)
    assert (answer.project.version, answer.project.config.system_prompt) == (2, "Slowly.")
    assert await config_of(stage) == answer.project.config
    config = answer.project.config
    assert (config.model.temperature, config.model.seed) == (0.25, 9007199254740993)
    assert (config.variables_json, list(config.greetings)) == (BIG, ["Well met."])
    assert (config.memory_policy.mode, config.tools[0].side_effect) == (3, 1)
    assert await stage.types(count) == ["config.changed", "staged_write.accepted"]
    versions = await stage.client.call("ListConfigVersions", project_id=stage.project_id)
    assert [(one.version, one.principal) for one in versions.config_versions] == [(2, "local"), (1, "local")]
    context = await stage.client.call("AssembleContext", session_id=stage.session_id)
    assert context.messages[0].parts[0].text.text == "Slowly."
    assert not answer.HasField("floor")
    assert not answer.HasField("branch")


async def test_a_session_has_a_layer_of_its_own(stage: Stage) -> None:
    entry = await stage.staged(patch(add("/systemPrompt", "Here only.")))
    answer = await stage.accept(entry)
    assert (answer.session.version, answer.session.config.system_prompt) == (2, "Here only.")
    assert not answer.HasField("project")
    assert not (await config_of(stage)).HasField("system_prompt")  # type: ignore[attr-defined]


async def test_what_changes_nothing_makes_no_version(stage: Stage) -> None:
    await stage.accept(await stage.staged(patch(add("/systemPrompt", "x")), target=project(stage)))
    entry = await stage.staged(patch(add("/systemPrompt", "x")), target=project(stage))
    count = len(await stage.types())
    assert (await stage.accept(entry)).project.version == 2
    assert await stage.types(count) == ["staged_write.accepted"]


async def test_a_version_that_moved(stage: Stage) -> None:
    entry = await stage.staged(patch(add("/systemPrompt", "staged")), target=project(stage))
    await stage.client.call(
        "UpdateProject",
        project_id=stage.project_id,
        config={"model": {"temperature": 1.5}},
        update_mask={"paths": ["config"]},
    )
    refused = await stage.not_accepted(entry)
    assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "STALE")
    assert refused.metadata == {"base": "1", "current": "2"}
    refused = await stage.not_accepted(entry, expected_version=1, allow_stale=True)
    assert (refused.code, refused.reason) == ("ABORTED", "VERSION_MOVED")
    assert refused.metadata == {"current_version": "2"}
    assert (await stage.preview(entry)).stale
    answer = await stage.accept(entry, expected_version=2, allow_stale=True)
    assert (answer.project.config.system_prompt, answer.project.config.model.temperature) == ("staged", 1.5)
    assert answer.staged_write.accepted_stale


async def test_tests_and_the_schema_must_pass(stage: Stage) -> None:
    """Whatever is allowed; the entry stays staged, and its preview says why."""
    for operations, code, reason in (
        ([{"op": "test", "path": "/systemPrompt", "value": "other"}], "FAILED_PRECONDITION", "STALE"),
        ([{"op": "remove", "path": "/systemPrompt"}], "FAILED_PRECONDITION", "STALE"),
        ([{"op": "replace", "path": "/tools/0/name", "value": "x"}], "FAILED_PRECONDITION", "STALE"),
        ([add("/nonsense", 1)], "INVALID_ARGUMENT", "INVALID"),
        ([add("/model/nonsense", 1)], "INVALID_ARGUMENT", "INVALID"),
        ([add("/model/temperature", 99)], "INVALID_ARGUMENT", "INVALID"),
        ([add("/model/temperature", True)], "INVALID_ARGUMENT", "INVALID"),
        ([add("/model/maxOutputTokens", 1.5)], "INVALID_ARGUMENT", "INVALID"),
        ([add("/model", [])], "INVALID_ARGUMENT", "INVALID"),
        ([add("/systemPrompt", None)], "INVALID_ARGUMENT", "INVALID"),
        ([add("/systemPrompt", "{{")], "INVALID_ARGUMENT", "INVALID"),
        ([add("/model/provider", "nobody's")], "INVALID_ARGUMENT", "INVALID"),
        ([add("/memoryPolicy/mode", 77)], "INVALID_ARGUMENT", "INVALID"),
        ([add("/variablesJson", '{"a":1,"a":2}')], "INVALID_ARGUMENT", "INVALID"),
        ([add("", "no object")], "INVALID_ARGUMENT", "INVALID"),
    ):
        entry = await stage.staged(patch(*operations), target=project(stage))
        how = {"staged_write_id": entry.staged_write_id, "reason": "good", "allow_stale": True}
        refused = await stage.client.refused("AcceptStagedWrite", **how)
        assert (refused.code, refused.reason) == (code, reason), operations
        assert (await stage.entry(entry)).state == STAGED
        assert [c.reason for c in (await stage.preview(entry)).conflicts] == [reason]
    assert (await stage.client.call("GetProject", project_id=stage.project_id)).project.version == 1


async def test_state_goes_where_it_belongs(stage: Stage) -> None:
    """Live values by version; the path's as a floor of effects that no prompt shows as a message."""
    base = await stage.turn(path("mood", "calm"))
    entry = await stage.staged(
        effects(
            variables=[path("mood", "tense"), {**own("coins", 0), "value_json": "9007199254740993"}],
            memory=[fact("The door is open.", importance=1.0)],
            slots=[slot("place", "inn")],
        ),
        on_behalf_of="author",
    )
    shown = await stage.client.call("AssembleContext", session_id=stage.session_id)
    count = len(await stage.types())
    answer = await stage.accept(entry, expected_head=base.floor_id)
    floor = answer.floor
    assert (floor.parent_floor_id, floor.principal, await stage.head()) == (
        base.floor_id,
        "author",
        floor.floor_id,
    )
    assert (floor.HasField("input_page"), floor.HasField("output_page")) == (False, False)
    assert [write.key for write in floor.effects.variables] == ["mood"]
    assert await stage.types(count) == ["state.changed", "floor.committed", "staged_write.accepted"]
    assert await stage.values() == {"P:mood": "tense", "S:coins": 9007199254740993}
    (item,) = (await stage.state()).memory
    assert (item.text, item.trust, item.source) == ("The door is open.", "trusted", "staged")
    assert await stage.slots() == {"game/place": "inn"}
    again = await stage.client.call("AssembleContext", session_id=stage.session_id)
    said = [[m.role, m.parts[0].text.text] for m in again.messages]
    assert [one for one in said if one[0] != 1] == [[m.role, m.parts[0].text.text] for m in shown.messages]
    await stage.move(base.floor_id)
    assert await stage.values() == {"P:mood": "calm", "S:coins": 9007199254740993}
    assert await stage.verified() == []


async def test_live_values_go_by_their_layers_version(stage: Stage) -> None:
    entry = await stage.staged(effects(variables=[own("coins", 2)]))
    await stage.client.call("WriteState", session_id=stage.session_id, variables=[own("coins", 1)])
    refused = await stage.not_accepted(entry)
    assert (refused.reason, refused.metadata) == ("STALE", {"base": "1", "current": "2"})
    assert (await stage.preview(entry)).stale
    refused = await stage.not_accepted(entry, allow_stale=True, expected_version=1)
    assert (refused.reason, refused.metadata) == ("VERSION_MOVED", {"current_version": "2"})
    answer = await stage.accept(entry, allow_stale=True, expected_version=2)
    assert answer.staged_write.accepted_stale
    assert not answer.HasField("floor")
    assert await stage.values() == {"S:coins": 2}
    of_project = await stage.staged(effects(variables=[shared("season", "spring")]), target=project(stage))
    answer = await stage.accept(of_project, expected_version=1)
    assert answer.project.version == 1
    assert await stage.values() == {"S:coins": 2, "J:season": "spring"}


async def test_the_paths_state_and_a_head_that_moved(stage: Stage) -> None:
    """Stale, unless whoever accepts names the head that they mean."""
    base = await stage.turn()
    entries = [await stage.staged(effects(variables=[path("mood", n)])) for n in range(2)]
    moved = await stage.turn()
    refused = await stage.not_accepted(entries[0])
    assert (refused.reason, refused.metadata) == (
        "STALE",
        {"base": base.floor_id, "current": moved.floor_id},
    )
    assert (await stage.preview(entries[0])).stale
    named = await stage.accept(entries[0], expected_head=moved.floor_id)
    assert not named.staged_write.accepted_stale
    allowed = await stage.accept(entries[1], allow_stale=True)
    assert allowed.staged_write.accepted_stale
    assert await stage.values() == {"P:mood": 1}


async def test_memory_that_is_not_on_the_path(stage: Stage) -> None:
    base = await stage.turn()
    await stage.turn(memory=[fact("It rains.")])
    (item,) = (await stage.state()).memory
    change = {"op": "MEMORY_OP_DEPRECATE", "memory_id": item.memory_id}
    entry = await stage.staged(effects(memory=[change]))
    await stage.move(base.floor_id)
    refused = await stage.not_accepted(entry, allow_stale=True)
    assert refused.code == "NOT_FOUND"
    assert "NOT_FOUND" in [c.reason for c in (await stage.preview(entry)).conflicts]


async def opening(stage: Stage, *more: dict[str, object]) -> object:
    return await stage.staged(
        patch(add("/systemPrompt", "You keep the inn."), *more),
        effects(variables=[own("coins", 3), path("mood", "calm")], slots=[slot("place", "inn")]),
        page("Well met."),
    )


async def test_an_opening_is_accepted_whole(stage: Stage) -> None:
    """Configuration, state and greeting: one diff, one transaction, the greeting above the state."""
    entry = await opening(stage)
    seen = await stage.preview(entry)  # type: ignore[arg-type]
    assert [(c.part, c.path, c.before, c.after) for c in seen.diff.changes] == [
        (0, "/config/systemPrompt", "", '"You keep the inn."'),
        (1, "/variables/SESSION/coins", "", "3"),
        (1, "/variables/PATH/mood", "", '"calm"'),
        (1, "/slots/game/place", "", '"inn"'),
        (2, "/output", "", "assistant: Well met."),
    ]
    assert (seen.stale, list(seen.conflicts)) == (False, [])
    count = len(await stage.types())
    answer = await stage.accept(entry)  # type: ignore[arg-type]
    path_ids = await stage.client.path_ids(stage.session_id)
    assert len(path_ids) == 2
    assert answer.floor.floor_id == path_ids[-1] == answer.staged_write.result_floor_id
    assert answer.floor.output_page.messages[0].parts[0].text.text == "Well met."
    assert answer.branch.head_floor_id == path_ids[-1]
    assert answer.session.config.system_prompt == "You keep the inn."
    assert await stage.values() == {"P:mood": "calm", "S:coins": 3}
    assert await stage.types(count) == [
        "config.changed",
        "state.changed",
        "floor.committed",
        "floor.committed",
        "staged_write.accepted",
    ]
    assert (await stage.entry(entry)).state == ACCEPTED  # type: ignore[arg-type]
    assert await stage.verified() == []


async def test_an_opening_of_which_one_part_cannot_be_is_refused_whole(stage: Stage) -> None:
    bad = await opening(stage, {"op": "test", "path": "/greetings", "value": ["other"]})
    refused = await stage.not_accepted(bad)  # type: ignore[arg-type]
    assert refused.reason == "STALE"
    assert await stage.client.path_ids(stage.session_id) == []
    entry = await opening(stage)
    moved: floor_pb2.Floor = await stage.turn()
    refused = await stage.not_accepted(entry)  # type: ignore[arg-type]
    assert (refused.reason, refused.metadata["current"]) == ("STALE", moved.floor_id)


async def test_a_preview_says_what_is_and_what_would_be(stage: Stage) -> None:
    floor = await stage.turn(path("mood", "calm"), memory=[fact("It rains.")], slots=[slot("place", "inn")])
    (item,) = (await stage.state()).memory
    sibling = await stage.for_floor(floor.floor_id)
    seen = await stage.preview(sibling)
    assert seen.diff.text == "/output\n- assistant: done\n+ assistant: a better answer"
    entry = await stage.staged(
        effects(
            variables=[path("mood", "calm"), {"key": "gone", "delete": True}, path("a/b~c", 1)],
            memory=[
                {"op": "MEMORY_OP_UPDATE", "memory_id": item.memory_id, "text": "It pours."},
                {"op": "MEMORY_OP_DEPRECATE", "memory_id": item.memory_id},
            ],
            slots=[{"namespace": "game", "slot": "place", "delete": True}],
        )
    )
    changes = [(c.path, c.before, c.after) for c in (await stage.preview(entry)).diff.changes]
    assert changes == [
        ("/variables/PATH/a~1b~0c", "", "1"),
        ("/memory/0", "It rains.", "It pours."),
        ("/memory/1", "It rains.", ""),
        ("/slots/game/place", '"inn"', ""),
    ]
    lists = await stage.staged(
        patch(add("/greetings", ["one", "two"]), add("/model", {"top_p": 0.5})), target=project(stage)
    )
    changes = [(c.path, c.before, c.after) for c in (await stage.preview(lists)).diff.changes]
    assert changes == [("/config/model/topP", "", "0.5"), ("/config/greetings", "", '["one","two"]')]
    before = await stage.rows()
    await stage.preview(entry)
    assert await stage.rows() == before
    await stage.accept(lists)
    seen = await stage.preview(lists)
    assert (list(seen.diff.changes), seen.staged_write.state) == ([], ACCEPTED)
    assert "ALREADY_DECIDED" in [c.reason for c in seen.conflicts]
    assert json.loads((await stage.events())[-1].payload_json)["staged_write_id"] == lists.staged_write_id
