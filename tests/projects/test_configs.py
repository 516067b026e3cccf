"""Configuration: layers, presence, sources, versions."""

import asyncio
from typing import Any

import grpc
import pytest
from stemma.kernel.v1 import config_pb2 as pb

from tests.projects.stage import Stage, mask
from tests.support.client import Refusal, refusal_of, request_for, text_of, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

FULL: dict[str, Any] = {
    "system_prompt": "Be brief.",
    "model": {
        "provider": "scripted",
        "name": "m",
        "temperature": 0.1 + 0.2,
        "top_p": 0.5,
        "max_output_tokens": 7,
        "stop": ["a", "b"],
        "seed": 2**53 + 1,
        "extra_json": '{"z": 9007199254740993, "a": 1.10}',
    },
    "budget": {"max_input_tokens": 5000, "reserved_output_tokens": 0},
    "tools": [
        {
            "name": "t",
            "description": "d",
            "parameters_json": "{}",
            "side_effect": 1,
            "approval": 2,
            "owner": 3,
            "server": "s",
        }
    ],
    "pipeline": {
        "director": {"enabled": False, "prompt": "p", "model": {"stop": ["x"]}, "tools": ["t"]},
        "verifier": {"budget": {"max_input_tokens": 9}, "params_json": '{"k":[1, 2]}'},
    },
    "memory_policy": {"mode": 2, "min_importance": 0.0, "max_items_per_turn": 0, "kinds": [2, 1]},
    "greetings": ["hi", "there"],
    "variables_json": '{"mood":"glad"}',
    "extensions_json": '{ "é" : null }',
}


async def effective(stage: Stage, **target: str) -> Any:
    return await stage.call("GetEffectiveConfig", **target)


async def test_every_field_is_kept_exactly(stage: Stage) -> None:
    sent = pb.Config(**FULL, cleared=["pipeline.memory.tools"])
    project = await stage.project(config=sent)
    session = await stage.session(config=sent)
    for shown in (project.config, session.config):
        assert shown == sent
    assert (await stage.call("GetSession", session_id=session.session_id)).session.config == sent
    version = (await stage.call("GetConfigVersion", session_id=session.session_id, version=1)).config_version
    assert version.config == sent
    found = await effective(stage, session_id=session.session_id)
    expected = pb.Config(**FULL)
    expected.extensions_json = "{}"
    assert found.config == expected
    assert set(found.sources.values()) == {"session"}


async def test_the_default_adds_and_trims_nothing(stage: Stage) -> None:
    found = await effective(stage, project_id="default")
    assert (found.config, dict(found.sources)) == (pb.Config(), {})
    session_id = (await stage.session()).session_id
    for number in range(30):
        await stage.turn(session_id, f"{number} " + "many words " * 100)
    context = await stage.call("AssembleContext", session_id=session_id)
    assert len(context.messages) == 60
    assert not context.explanation.left_out
    assert (await effective(stage, session_id=session_id)).config == pb.Config()


async def test_layers_lie_over_each_other_field_by_field(stage: Stage) -> None:
    project = await stage.project(
        config={
            "system_prompt": "of the project",
            "model": {"temperature": 1, "top_p": 0.5, "stop": ["p"], "extra_json": '{"a":1,"b":{"c":2}}'},
            "greetings": ["one", "two"],
            "memory_policy": {"kinds": [1]},
        }
    )
    session = await stage.session(
        project_id=project.project_id,
        config={
            "system_prompt": "",
            "model": {"temperature": 0, "extra_json": '{"b":{"c":null,"d":9007199254740993}}'},
            "greetings": [],
            "cleared": ["memoryPolicy.kinds", "model.stop"],
        },
    )
    assert list(session.config.cleared) == ["memory_policy.kinds", "model.stop"]
    found = await effective(stage, session_id=session.session_id)
    assert found.config == pb.Config(
        system_prompt="",
        model={"temperature": 0, "top_p": 0.5, "extra_json": '{"a":1,"b":{"d":9007199254740993}}'},
        greetings=["one", "two"],
    )
    assert dict(found.sources) == {
        "system_prompt": "session",
        "model.temperature": "session",
        "model.top_p": "project",
        "model.stop": "session",
        "model.extra_json": "project+session",
        "greetings": "project",
        "memory_policy.kinds": "session",
    }


async def test_a_run_goes_by_project_then_session_then_call(own_stage: Stage) -> None:
    project = await own_stage.project(
        config={"system_prompt": "project", "model": {"temperature": 1, "seed": 1}}
    )
    session_id = (
        await own_stage.session(project_id=project.project_id, config={"model": {"seed": 2, "stop": ["s"]}})
    ).session_id
    await own_stage.client.respond(session_id, input={"messages": [user("a")]})
    overrides = {"system_prompt": "call", "cleared": ["model.stop"], "model": {"seed": 3}}
    await own_stage.client.respond(session_id, input={"messages": [user("b")]}, overrides=overrides)
    first, second = own_stage.service.sent
    assert [request.messages[0].text for request in (first, second)] == ["project", "call"]
    assert [(r.model.temperature, r.model.seed, r.model.stop) for r in (first, second)] == [
        (1, 2, ("s",)),
        (1, 3, ()),
    ]


async def test_the_version_names_every_layer(stage: Stage) -> None:
    project = await stage.project()
    session_id = (await stage.session(project_id=project.project_id)).session_id
    seen = [(await effective(stage, session_id=session_id)).version]

    async def of_context(**options: Any) -> str:
        answer = await stage.call("AssembleContext", session_id=session_id, options=options)
        return answer.explanation.config_version

    assert await of_context() == seen[0]
    for prompt in ("x", "y"):
        seen.append(await of_context(overrides={"system_prompt": prompt}))
        assert await of_context(overrides={"system_prompt": prompt}) == seen[-1]
    change = {"config": {"system_prompt": "p"}, "update_mask": mask("config")}
    await stage.call("UpdateProject", project_id=project.project_id, **change)
    seen.append(await of_context())
    await stage.call("UpdateSession", session_id=session_id, **change)
    seen.append(await of_context())
    assert len(set(seen)) == len(seen)
    assert (await effective(stage, session_id=session_id)).version == seen[-1]


async def test_a_projects_budget_trims_its_sessions(stage: Stage) -> None:
    project = await stage.project(config={"system_prompt": "p", "budget": {"max_input_tokens": 60}})
    session_id = (await stage.session(project_id=project.project_id)).session_id
    for number in range(5):
        await stage.turn(session_id, f"{number} " + "words " * 10)
    context = await stage.call("AssembleContext", session_id=session_id)
    sent = [text_of(message) for message in context.messages]
    assert sent[0] == "p"
    assert [text[0] for text in sent[1:]] == ["4", "r"]
    assert [out.why for out in context.explanation.left_out] == ["budget"] * 4


async def test_versions_are_listed_read_and_restored(stage: Stage) -> None:
    for kind in ("project", "session"):
        made = await getattr(stage, kind)(config={"greetings": ["1"]})
        target = {f"{kind}_id": getattr(made, f"{kind}_id")}
        project_id = made.project_id
        for number in (2, 3):
            config = {"greetings": [str(number)]}
            await stage.call(f"Update{kind.title()}", config=config, update_mask=mask("config"), **target)
        request = request_for("RestoreConfigVersion", version=1, expected_version=3, **target)
        restored = await stage.client.send("RestoreConfigVersion", request)
        assert restored.config_version.version == getattr(restored, kind).version == 4
        assert restored.config_version.restored_from == 1
        assert getattr(restored, kind).config == made.config
        assert await stage.client.send("RestoreConfigVersion", request) == restored
        found = await stage.client.everything("ListConfigVersions", "config_versions", page_size=3, **target)
        assert [(v.version, v.config.greetings[0], v.principal) for v in found] == [
            (number, text, "local") for number, text in ((4, "1"), (3, "3"), (2, "2"), (1, "1"))
        ]
        assert (await stage.call("GetConfigVersion", version=2, **target)).config_version == found[2]
        assert (await stage.client.refused("GetConfigVersion", version=5, **target)).code == "NOT_FOUND"
        refusal = await stage.client.refused("RestoreConfigVersion", version=9, **target)
        assert refusal.code == "NOT_FOUND"
        refusal = await stage.client.refused("RestoreConfigVersion", version=1, expected_version=3, **target)
        assert refusal == Refusal("ABORTED", "VERSION_MOVED", {"current_version": "4"})
        assert (await stage.facts(project_id))[-1] == ("config.changed", {"version": 4, "restored_from": 1})


@pytest.mark.parametrize("kind", ["project", "session"])
async def test_racing_changes_make_a_line_of_versions(stage: Stage, kind: str) -> None:
    project = await stage.project()
    made = project if kind == "project" else await stage.session(project_id=project.project_id)
    target = {f"{kind}_id": getattr(made, f"{kind}_id")}
    name = f"Update{kind.title()}"

    def change(number: int, **fields: Any) -> Any:
        config = {"model": {"seed": number}}
        return stage.call(name, config=config, update_mask=mask("config.model.seed"), **target, **fields)

    answers = await asyncio.gather(*(change(number) for number in range(16)))
    assert sorted(getattr(a, kind).version for a in answers) == list(range(2, 18))
    done = await asyncio.gather(
        *(change(100 + n, expected_version=17) for n in range(16)), return_exceptions=True
    )
    won = [answer for answer in done if not isinstance(answer, BaseException)]
    assert len(won) == 1
    for error in done:
        if isinstance(error, grpc.aio.AioRpcError):
            assert refusal_of(error) == Refusal("ABORTED", "VERSION_MOVED", {"current_version": "18"})
    found = await stage.client.everything("ListConfigVersions", "config_versions", **target)
    assert [version.version for version in found] == list(range(18, 0, -1))
    assert found[0].config == getattr(won[0], kind).config
    assert (await stage.types(made.project_id)).count("config.changed") == 17


async def test_different_fields_can_be_changed_at_once(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    paths = {"config.model.top_p": {"model": {"top_p": 0.5}}, "config.system_prompt": {"system_prompt": "p"}}
    calls = [
        stage.call("UpdateSession", session_id=session_id, config=config, update_mask=mask(path))
        for path, config in paths.items()
    ]
    await asyncio.gather(*calls)
    config = (await stage.call("GetSession", session_id=session_id)).session.config
    assert config == pb.Config(model={"top_p": 0.5}, system_prompt="p")


async def test_a_mask_takes_away_what_the_request_leaves_out(stage: Stage) -> None:
    session_id = (await stage.session(config=FULL)).session_id
    paths = ("config.model.temperature", "config.pipeline.director", "config.greetings", "config.tools")
    updated = await stage.call("UpdateSession", session_id=session_id, update_mask=mask(*paths))
    expected = pb.Config(**FULL)
    expected.model.ClearField("temperature")
    expected.pipeline.ClearField("director")
    del expected.greetings[:], expected.tools[:]
    assert updated.session.config == expected


async def test_a_list_is_given_or_cleared(stage: Stage) -> None:
    session_id = (await stage.session(config={"greetings": ["a"]})).session_id

    async def change(config: dict[str, Any], *paths: str) -> tuple[list[str], list[str]]:
        answer = await stage.call(
            "UpdateSession", session_id=session_id, config=config, update_mask=mask(*paths)
        )
        shown = answer.session.config
        return list(shown.greetings), list(shown.cleared)

    assert await change({"cleared": ["greetings"]}, "config.cleared") == ([], ["greetings"])
    assert await change({"greetings": ["b"]}, "config.greetings") == (["b"], [])
    refusal = await stage.client.refused(
        "UpdateSession",
        session_id=session_id,
        config={"greetings": ["c"], "cleared": ["greetings"]},
        update_mask=mask("config"),
    )
    assert refusal.reason == "INVALID"


BAD_MASKS: list[tuple[str, ...]] = [
    (),
    ("",),
    ("", ""),
    ("title", ""),
    ("*",),
    ("nothing",),
    ("version",),
    ("state",),
    ("create_time",),
    ("project_id",),
    ("rootFloorId",),
    ("title.x",),
    ("config.",),
    ("config.nothing",),
    ("config.model.nothing",),
    ("config.greetings.0",),
    ("config.system_prompt.x",),
    ("config.tools.name",),
    ("Config",),
    ("config..model",),
]


async def test_bad_input_42(stage: Stage) -> None:
    project_id = (await stage.project()).project_id
    session = await stage.session(project_id=project_id, title="before")
    for name, target in (
        ("UpdateProject", {"project_id": project_id}),
        ("UpdateSession", {"session_id": session.session_id}),
    ):
        for paths in BAD_MASKS:
            refusal = await stage.client.refused(name, title="after", update_mask=mask(*paths), **target)
            assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "INVALID"), paths
    assert (await stage.call("GetSession", session_id=session.session_id)).session == session
    assert (await stage.types(project_id)) == ["project.created", "session.created"]


NONSENSE: list[tuple[dict[str, Any], int]] = [
    ({"variables_json": "[]"}, 1),
    ({"variables_json": "{"}, 1),
    ({"extensions_json": '{"a":1,"a":2}'}, 1),
    ({"extensions_json": '{"a":NaN}'}, 1),
    ({"extensions_json": "[" * 100_000}, 1),
    ({"variables_json": '{"a":"' + "x" * 256 * 1024 + '"}'}, 1),
    ({"model": {"extra_json": "5"}}, 1),
    ({"pipeline": {"memory": {"params_json": "null", "model": {"top_p": 2}}}}, 2),
    ({"greetings": ["a", ""]}, 1),
    ({"greetings": ["a\0"]}, 1),
    ({"greetings": ["a"] * 65}, 1),
    ({"tools": [{"name": "a"}, {"name": "a"}]}, 1),
    ({"tools": [{"name": ""}]}, 1),
    ({"tools": [{"name": "a", "side_effect": 9, "parameters_json": "1"}]}, 2),
    ({"memory_policy": {"mode": 0}}, 1),
    ({"memory_policy": {"mode": 4, "min_importance": 1.5, "max_items_per_turn": -1, "kinds": [0]}}, 4),
    ({"cleared": ["system_prompt"]}, 1),
    ({"cleared": ["nothing", "model.stop"], "model": {"stop": ["a"]}}, 2),
    ({"model": {"provider": "nowhere"}}, 1),
]


async def test_nonsense_is_named(own_stage: Stage) -> None:
    """With how many fields are at fault."""
    for config, fields in NONSENSE:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await own_stage.call("CreateProject", config=config)
        assert refusal_of(caught.value).reason == "INVALID"
        assert (caught.value.details() or "").count("config.") >= fields, list(config)
    assert (await own_stage.rows())["project"] == 0


async def test_a_configuration_holds_at_most_a_mebibyte(own_stage: Stage) -> None:
    config = {"greetings": ["x" * 65_536] * 15}
    session_id = (await own_stage.session(config=config)).session_id
    refusal = await own_stage.client.refused(
        "UpdateSession",
        session_id=session_id,
        config={"system_prompt": "x" * 262_144},
        update_mask=mask("config.system_prompt"),
    )
    assert refusal.reason == "INVALID"
    for _ in range(3):
        await own_stage.session(config=config)
    sessions = await own_stage.client.everything("ListSessions", "sessions")
    assert len(sessions) == 4


@pytest.mark.parametrize("name", ["GetEffectiveConfig", "ListConfigVersions"])
async def test_one_of_project_and_session_is_named(stage: Stage, name: str) -> None:
    session = await stage.session()
    for target in ({}, {"project_id": "default", "session_id": session.session_id}, {"project_id": "x"}):
        assert (await stage.client.refused(name, **target)).reason == "INVALID"
    await stage.call(name, project_id="default")
