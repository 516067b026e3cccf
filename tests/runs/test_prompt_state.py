"""Variables and memory in what a model is sent: they follow the path, within a budget, and are explained."""

from typing import Any

import pytest
from stemma.kernel.v1 import config_pb2, effects_pb2, floor_pb2

from tests.runs.stage import Stage, end_of
from tests.support.client import assistant, text_of, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

SESSION, PROJECT = effects_pb2.SCOPE_SESSION, effects_pb2.SCOPE_PROJECT
ADD, UPDATE, DEPRECATE = (
    effects_pb2.MEMORY_OP_ADD,
    effects_pb2.MEMORY_OP_UPDATE,
    effects_pb2.MEMORY_OP_DEPRECATE,
)
FACT, SUMMARY, OPEN_LOOP = (
    effects_pb2.MEMORY_KIND_FACT,
    effects_pb2.MEMORY_KIND_SUMMARY,
    effects_pb2.MEMORY_KIND_OPEN_LOOP,
)


def sets(**values: str) -> dict[str, Any]:
    return {"variables": [{"key": key, "value_json": value} for key, value in values.items()]}


def fact(text: str, importance: float = 0.5, **fields: Any) -> dict[str, Any]:
    return {"op": ADD, "kind": FACT, "text": text, "importance": importance, **fields}


async def new_session(stage: Stage, **config: Any) -> str:
    return (await stage.client.call("CreateSession", config=config)).session.session_id


async def turn(stage: Stage, session: str, text: str = "said", **fields: Any) -> floor_pb2.Floor:
    spoken = {"input": [user(text)], "output": [assistant(f"re: {text}")]}
    return (await stage.client.call("AppendFloor", session_id=session, **(spoken | fields))).floor


async def assembled(stage: Stage, session: str, **fields: Any) -> Any:
    return await stage.other.call("AssembleContext", session_id=session, **fields)


async def heads(stage: Stage, session: str, **fields: Any) -> list[str]:
    """The SYSTEM messages: the prompt and what is remembered."""
    answer = await assembled(stage, session, **fields)
    whys = [entry.why for entry in answer.explanation.entries]
    return [
        text_of(m) for m, why in zip(answer.messages, whys, strict=True) if why in ("system_prompt", "memory")
    ]


async def test_a_template_sees_what_is_visible_on_the_path(stage: Stage) -> None:
    prompt = "HP {{hp|unknown}}. {{#if hero.name}}You are {{hero.name}}.{{else}}Who are you?{{/if}} {{mood}}"
    session = await new_session(stage, system_prompt=prompt, variables_json='{"mood": "calm"}')
    assert await heads(stage, session) == ["HP unknown. Who are you? calm"]
    first = await turn(stage, session, effects=sets(hp="5", hero='{"name": "Ada", "age": 36}'))
    assert await heads(stage, session) == ["HP 5. You are Ada. calm"]

    sibling = await stage.client.call(
        "RegenerateFloor",
        floor_id=first.floor_id,
        output=[assistant("otherwise")],
        effects=sets(hp="9007199254740993"),
    )
    assert await heads(stage, session) == ["HP 9007199254740993. Who are you? calm"]
    part = stage.part()
    run = end_of(await stage.watch(session, part).end())
    assert part.sent[0].messages[0].text == "HP 9007199254740993. Who are you? calm"

    select = {"session_id": session, "floor_id": first.floor_id}
    await stage.client.call("SelectSibling", **select)
    assert await heads(stage, session) == ["HP 5. You are Ada. calm"]
    root = (await stage.other.call("GetSession", session_id=session)).session.root_floor_id
    await stage.client.call("MoveHead", session_id=session, floor_id=root)
    assert await heads(stage, session) == ["HP unknown. Who are you? calm"]
    assert await heads(stage, session, floor_id=run.floor_id) == await heads(
        stage, session, floor_id=sibling.floor.floor_id
    )


async def test_a_live_value_stays_on_rollback_and_an_explanation_stays_whatever_it_becomes(
    stage: Stage,
) -> None:
    session = await new_session(stage, system_prompt="Volume {{volume}}.")
    root = (await stage.other.call("GetSession", session_id=session)).session.root_floor_id
    await turn(
        stage, session, effects={"variables": [{"scope": SESSION, "key": "volume", "value_json": "7"}]}
    )
    floor = end_of(await stage.play(session))
    sent = await stage.other.call("ExplainFloor", floor_id=floor.floor_id)
    await stage.client.call("MoveHead", session_id=session, floor_id=root)
    assert await heads(stage, session) == ["Volume 7."]

    before = await assembled(stage, session)
    write = {"session_id": session, "variables": [{"key": "volume", "value_json": '"loud"'}]}
    await stage.client.call("WriteState", **write)
    after = await assembled(stage, session)
    assert await heads(stage, session) == ["Volume loud."]
    assert before.explanation.live_version != after.explanation.live_version
    assert before.explanation.config_version == after.explanation.config_version
    assert await stage.other.call("ExplainFloor", floor_id=floor.floor_id) == sent
    assert sent.explanation.live_version == before.explanation.live_version


async def test_the_narrowest_scope_wins(stage: Stage) -> None:
    project = (await stage.client.call("CreateProject")).project.project_id
    session = (
        await stage.client.call("CreateSession", project_id=project, config={"system_prompt": "{{x}}"})
    ).session.session_id
    await stage.client.call("WriteState", project_id=project, variables=[{"key": "x", "value_json": "1"}])
    assert await heads(stage, session) == ["1"]
    await stage.client.call("WriteState", session_id=session, variables=[{"key": "x", "value_json": "2"}])
    assert await heads(stage, session) == ["2"]
    await turn(stage, session, effects=sets(x="3"))
    assert await heads(stage, session) == ["3"]


async def test_what_is_missing_is_named(stage: Stage) -> None:
    session = await new_session(stage, system_prompt="{{a}}, {{b.c}} and {{d|e}}{{#if f}}!{{/if}}")
    answer = await assembled(stage, session)
    assert text_of(answer.messages[0]) == ",  and e"
    assert list(answer.explanation.missing_variables) == ["a", "b.c", "d"]
    floor = end_of(await stage.play(session))
    await turn(stage, session, effects=sets(a="1"))
    explained = await stage.other.call("ExplainFloor", floor_id=floor.floor_id)
    assert list(explained.explanation.missing_variables) == ["a", "b.c", "d"]
    nothing = await new_session(stage, system_prompt="{{a}}")
    assert len((await assembled(stage, nothing)).messages) == 0, "an empty system prompt is none"


async def test_a_bad_template_is_refused_wherever_a_configuration_is_written(
    stage: Stage, session: str
) -> None:
    bad = {"system_prompt": "Hello {{#if name}}you"}
    mask = {"paths": ["config.system_prompt"]}
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("CreateProject", "config", {"config": bad}),
        ("CreateSession", "config", {"config": bad}),
        ("UpdateSession", "config", {"session_id": session, "config": bad, "update_mask": mask}),
        ("AssembleContext", "options.overrides", {"session_id": session, "options": {"overrides": bad}}),
        ("Respond", "overrides", {"session_id": session, "input": {}, "overrides": bad}),
    ]
    for name, field, fields in calls:
        refusal = await stage.client.refused(name, **fields)
        assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "INVALID"), (name, field)
    assert await stage.other.path_ids(session) == []


async def test_a_prompt_that_its_values_make_too_long_is_refused_before_a_floor_is_opened(
    stage: Stage,
) -> None:
    session = await new_session(stage, system_prompt="{{x}}" * 40)
    await turn(stage, session, effects=sets(x='"' + "y" * 32_000 + '"'))
    for name, fields in {"AssembleContext": {}, "Respond": {"input": {}}}.items():
        refusal = await stage.client.refused(name, session_id=session, **fields)
        assert (refusal.code, refusal.reason) == ("RESOURCE_EXHAUSTED", "LIMIT")
    assert (await stage.branch(session)).pending_floor_id == ""


async def test_memory_follows_the_path(stage: Stage, session: str) -> None:
    first = await turn(stage, session, effects={"memory": [fact("likes tea", fact_key="drink")]})
    second = await turn(
        stage,
        session,
        effects={
            "memory": [
                fact("likes coffee", 0.9, fact_key="drink"),
                {"op": ADD, "kind": OPEN_LOOP, "text": "which cup?"},
            ]
        },
    )
    now = ["Remembered: drink: likes coffee", "Still open: which cup?"]
    assert await heads(stage, session) == now
    answer = await assembled(stage, session)
    items = [e for e in answer.explanation.entries if e.why == "memory"]
    assert [(e.floor_id, e.page_id, e.message_id) for e in items] == [(second.floor_id, "", "")] * 2
    assert all(e.memory_id and e.tokens for e in items)

    part = stage.part()
    run = end_of(await stage.watch(session, part).end())
    assert [m.text for m in part.sent[0].messages if m.role.name == "SYSTEM"] == now
    await stage.client.call("MoveHead", session_id=session, floor_id=first.floor_id)
    assert await heads(stage, session) == ["Remembered: drink: likes tea"]
    await turn(
        stage,
        session,
        effects={"memory": [{"op": DEPRECATE, "memory_id": (await item_ids(stage, session))[0]}]},
    )
    assert await heads(stage, session) == []
    await stage.client.call("MoveHead", session_id=session, floor_id=run.floor_id)
    assert await heads(stage, session) == now
    difference = await stage.other.call(
        "DiffContexts", left_floor_id=second.floor_id, right_floor_id=run.floor_id
    )
    assert [entry.why for entry in difference.removed] == ["memory"], "the fact that was superseded"
    assert [entry.why for entry in difference.added][:2] == ["memory", "memory"]


async def item_ids(stage: Stage, session: str) -> list[str]:
    entries = (await assembled(stage, session)).explanation.entries
    return [entry.memory_id for entry in entries if entry.memory_id]


async def test_memory_keeps_to_its_budget_and_says_what_was_left_out(stage: Stage) -> None:
    session = await new_session(stage, budget={"max_memory_tokens": 12})
    items = [fact(f"item {i} " + "x" * 12, i / 10) for i in range(5)]
    floor = await turn(stage, session, effects={"memory": items})
    answer = await assembled(stage, session)
    sent = [e for e in answer.explanation.entries if e.why == "memory"]
    assert sum(e.tokens for e in sent) <= 12
    out = [o for o in answer.explanation.left_out if o.why == "memory_budget"]
    assert len(sent) + len(out) == 5
    assert {o.floor_id for o in out} == {floor.floor_id}
    assert all(o.memory_id and not o.message_id for o in out)
    assert text_of(answer.messages[0]).startswith("Remembered: item 4"), "the most important one"
    none = {"budget": {"max_memory_tokens": 0}}
    assert await heads(stage, session, options={"overrides": none}) == []


async def test_a_summary_stands_for_the_turns_that_leave(stage: Stage, session: str) -> None:
    floors = [await turn(stage, session, f"turn {i} " + "words " * 20) for i in range(6)]
    covering = {"op": ADD, "kind": SUMMARY, "text": "they talked", "covers_floor_id": floors[2].floor_id}
    await turn(stage, session, "so", effects={"memory": [fact("trivia", 1.0), covering]})
    whole = await assembled(stage, session)
    assert len(whole.explanation.left_out) == 0
    tight = config_pb2.Config(budget={"max_input_tokens": whole.explanation.tokens_in // 2})
    trimmed = await assembled(stage, session, options={"overrides": tight})
    out = [(o.floor_id, o.why) for o in trimmed.explanation.left_out]
    assert out[:3] == [(floor.floor_id, "summary") for floor in floors[:3]]
    assert {why for _, why in out[3:]} <= {"budget"}
    assert text_of(trimmed.messages[0]) == "Summary of what came before: they talked"
    assert trimmed.explanation.tokens_in <= tight.budget.max_input_tokens
    frames = await stage.watch(session, stage.part(), overrides=tight).end()
    explained = await stage.other.call("ExplainFloor", floor_id=end_of(frames).floor_id)
    assert explained.explanation.context_digest == frames[0].started.context_digest
    assert [o.why for o in explained.explanation.left_out][:3] == ["summary"] * 3


async def test_the_same_path_versions_and_options_give_the_same_bytes(stage: Stage) -> None:
    """T4, and the explanation names all that it is a function of."""
    session = await new_session(stage, system_prompt="{{hp}}")
    floor = await turn(stage, session, effects={**sets(hp="1"), "memory": [fact("a"), fact("b"), fact("c")]})
    await turn(stage, session, "later", effects=sets(hp="2"))
    one = await assembled(stage, session, floor_id=floor.floor_id)
    await turn(stage, session, "and later", effects={"memory": [fact("d")]})
    again = await assembled(stage, session, floor_id=floor.floor_id)
    for answer in (one, again):
        answer.explanation.tokens_abandoned = 0
    assert again == one
    assert one.explanation.config_version
    assert one.explanation.live_version
