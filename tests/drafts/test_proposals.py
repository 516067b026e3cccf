"""Models propose in drafts; somebody exports, somebody accepts, and canon goes by it (design 9)."""

import json
from typing import Any

import pytest
from stemma.conversation.v1 import run_service_pb2
from stemma.draft.v1 import draft_pb2
from stemma.kernel.v1 import floor_pb2

from kernel.errors import Unavailable
from tests.drafts.stage import Replica, Stage
from tests.support.client import request_for, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

BUILT_IN = "TOOL_OWNER_BUILT_IN"
NAMES = ("get_config", "get_state", "propose_config_patch", "propose_state_patch")
HELPER = {
    "system_prompt": "You help to change a configuration.",
    "tools": [{"name": name, "owner": BUILT_IN} for name in NAMES],
}
FAST = {"system_prompt": "Keep a fast pace.", "memory_policy": {"max_items_per_turn": 8}}
SLOW = [
    {"op": "replace", "path": "/systemPrompt", "value": "Keep a slow pace."},
    {"op": "test", "path": "/memoryPolicy/maxItemsPerTurn", "value": 8},
    {"op": "replace", "path": "/memory_policy/max_items_per_turn", "value": 2},
]


def calls(*steps: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Replies that call one tool after the other, and end with words."""
    made = [
        {"after_results": number, "tool_calls": [{"name": name, "arguments": arguments}]}
        for number, (name, arguments) in enumerate(steps)
    ]
    return [*made, {"after_results": len(steps), "text": "Done."}]


def results(floor: floor_pb2.Floor) -> list[tuple[bool, str]]:
    """(is an error, content) of each tool result, in their order."""
    parts = [part for message in floor.output_page.messages for part in message.parts]
    return [
        (part.tool_result.is_error, part.tool_result.content)
        for part in parts
        if part.HasField("tool_result")
    ]


async def asked(
    replica: Replica, draft_id: str, *steps: tuple[str, dict[str, Any]]
) -> list[tuple[bool, str]]:
    part = replica.part(*calls(*steps))
    return results(await replica.respond(draft_id, part.text))


async def proposals(replica: Replica, draft_id: str) -> list[Any]:
    return list((await replica.call("ListProposals", draft_id=draft_id)).proposals)


async def helper(stage: Stage, **source: str) -> draft_pb2.Draft:
    return await stage.draft.draft(config=HELPER, replace_system_prompt=True, **source)


async def project_of(stage: Stage, **config: Any) -> str:
    project_id: str = (await stage.client.call("CreateProject", title="p", config=config)).project.project_id
    return project_id


async def test_slow_the_pacing_remember_less(stage: Stage) -> None:
    """Asked in a draft of the project, it ends as a reviewed version, and the next turn runs with it."""
    project_id = await project_of(stage, **FAST)
    session_id = await stage.session(1, project_id=project_id)
    draft = await helper(stage, project_id=project_id)
    read, bad, good = await asked(
        stage.draft,
        draft.draft_id,
        ("get_config", {}),
        ("propose_config_patch", {"operations": [{"op": "replace", "path": "/pacing", "value": "slow"}]}),
        ("propose_config_patch", {"operations": SLOW}),
    )
    shown = json.loads(read[1])
    assert shown["config"]["systemPrompt"] == FAST["system_prompt"]
    assert shown["sources"] == {"system_prompt": "project", "memory_policy.max_items_per_turn": "project"}
    assert shown["schema"]["properties"]["memoryPolicy"]["description"]
    assert bad[0]
    assert "Operation 0 does not apply" in bad[1]
    assert not good[0], good
    (kept,) = await proposals(stage.draft, draft.draft_id)
    assert kept.proposal_id == json.loads(good[1])["proposal_id"]
    assert json.loads(kept.config_patch.operations_json) == SLOW
    exported = await stage.draft.call(
        "ExportDraft",
        draft_id=draft.draft_id,
        target={},
        parts=[{"proposal_id": kept.proposal_id}],
        finalize=True,
    )
    entry = {"staged_write_id": exported.staged_write_id}
    preview = await stage.client.call("PreviewStagedWrite", **entry)
    assert not preview.stale
    assert '+ "Keep a slow pace."' in preview.diff.text
    accepted = await stage.client.call("AcceptStagedWrite", reason="calmer", **entry)
    assert accepted.project.config.memory_policy.max_items_per_turn == 2
    await stage.client.frames(
        "Respond",
        request_for(
            "Respond", session_id=session_id, input=run_service_pb2.RespondInput(messages=[user("on")])
        ),
    )
    assert stage.canon.sent[-1].messages[0].parts[0].text == "Keep a slow pace."  # type: ignore[union-attr]


async def test_a_proposal_that_its_target_moved_away_from_is_stale(stage: Stage) -> None:
    project_id = await project_of(stage, **FAST)
    draft = await helper(stage, project_id=project_id)
    await asked(stage.draft, draft.draft_id, ("propose_config_patch", {"operations": SLOW}))
    (kept,) = await proposals(stage.draft, draft.draft_id)
    await stage.client.call(
        "UpdateProject", project_id=project_id, title="other", update_mask={"paths": ["title"]}
    )
    exported = await stage.draft.call(
        "ExportDraft", draft_id=draft.draft_id, target={}, parts=[{"proposal_id": kept.proposal_id}]
    )
    entry = {"staged_write_id": exported.staged_write_id, "reason": "x"}
    refusal = await stage.client.refused("AcceptStagedWrite", **entry)
    assert refusal.reason == "STALE"
    assert (
        await stage.client.call("AcceptStagedWrite", allow_stale=True, **entry)
    ).staged_write.accepted_stale


@pytest.mark.parametrize(
    ("operations", "why"),
    [
        ([{"op": "add", "path": "/model/temperature", "value": "hot"}], "config.model.temperature"),
        ([{"op": "add", "path": "/pace", "value": 1}], "config has a field that there is not"),
        ([{"op": "add", "path": "/model/apiKey", "value": "k"}], "sets no key"),
        ([{"op": "add", "path": "/model/provider", "value": "nobody"}], "is not configured here"),
        ([{"op": "test", "path": "/systemPrompt", "value": "other"}], "Operation 0 does not apply"),
        ([{"op": "add", "path": "systemPrompt", "value": "x"}], "operations[0]"),
    ],
)
async def test_a_bad_patch_is_explained_to_the_model_and_not_kept(
    stage: Stage, operations: list[dict[str, Any]], why: str
) -> None:
    draft = await helper(stage, project_id=await project_of(stage, **FAST))
    ((is_error, content),) = await asked(
        stage.draft, draft.draft_id, ("propose_config_patch", {"operations": operations})
    )
    assert is_error
    assert why in content
    assert not await proposals(stage.draft, draft.draft_id)


async def test_state_is_proposed_for_where_the_draft_was_made(stage: Stage) -> None:
    session_id = await stage.session(1)
    fact = {"memory": [{"op": "MEMORY_OP_ADD", "kind": "MEMORY_KIND_FACT", "text": "The door is red."}]}
    await stage.client.call("AppendFloor", session_id=session_id, effects=fact)
    draft = await helper(stage, session_id=session_id)
    (shown,) = await asked(stage.draft, draft.draft_id, ("get_state", {}))
    (item,) = json.loads(shown[1])["memory"]
    unknown, kept = await asked(
        stage.draft,
        draft.draft_id,
        ("propose_state_patch", {"memory": [{"op": "deprecate", "memory_id": draft.draft_id}]}),
        (
            "propose_state_patch",
            {
                "variables": [{"key": "door", "value": 2**53 + 1}, {"key": "mood", "value": "calm"}],
                "memory": [
                    {"op": "update", "memory_id": item["memory_id"], "text": "The door is blue."},
                    {"op": "add", "text": "It rains.", "fact_key": "weather"},
                ],
                "slots": [{"namespace": "map", "slot": "here", "value": {"x": 1}}],
            },
        ),
    )
    assert unknown == (
        True,
        "There is no such remembered item where the draft was made: see get_state for the ids.",
    )
    assert not kept[0], kept
    (proposal,) = await proposals(stage.draft, draft.draft_id)
    exported = await stage.draft.call(
        "ExportDraft", draft_id=draft.draft_id, target={}, parts=[{"proposal_id": proposal.proposal_id}]
    )
    head = (await stage.client.call("ListBranches", session_id=session_id)).branches[0].head_floor_id
    await stage.client.call(
        "AcceptStagedWrite", staged_write_id=exported.staged_write_id, expected_head=head, reason="yes"
    )
    state = await stage.client.call("GetState", session_id=session_id)
    assert {v.key: v.value_json for v in state.variables} == {"door": str(2**53 + 1), "mood": '"calm"'}
    assert {m.text for m in state.memory} == {"The door is blue.", "It rains."}
    assert state.slots[0].value_json == '{"x":1}'


async def test_of_a_session_only_what_surely_applies_is_kept(stage: Stage) -> None:
    """Its own layer is not in the copy, only what holds."""
    project_id = await project_of(stage, **FAST)
    draft = await helper(stage, session_id=await stage.session(1, project_id=project_id))
    refused, kept = await asked(
        stage.draft,
        draft.draft_id,
        ("propose_config_patch", {"operations": SLOW[:1]}),
        ("propose_config_patch", {"operations": [{"op": "add", "path": "/systemPrompt", "value": "Slow."}]}),
    )
    assert refused[0]
    assert "propose only `add`" in refused[1]
    assert not kept[0]


async def test_a_project_has_no_path(stage: Stage) -> None:
    draft = await helper(stage, project_id=await project_of(stage))
    refused, kept = await asked(
        stage.draft,
        draft.draft_id,
        ("propose_state_patch", {"variables": [{"key": "hp", "value": 1}]}),
        ("propose_state_patch", {"variables": [{"key": "hp", "value": 1, "scope": "project"}]}),
    )
    assert (refused[0], kept[0]) == (True, False)
    assert "scope project" in refused[1]


async def test_one_field_is_shown_with_the_schema_that_it_needs(stage: Stage) -> None:
    draft = await helper(stage, project_id=await project_of(stage, **FAST))
    one, none = await asked(
        stage.draft,
        draft.draft_id,
        ("get_config", {"field": "memoryPolicy"}),
        ("get_config", {"field": "memory"}),
    )
    shown = json.loads(one[1])
    assert shown["config"]["memoryPolicy"]["maxItemsPerTurn"] == 8
    assert shown["config"].keys() == {"memoryPolicy"}
    assert shown["schema"]["$defs"].keys() == {"MemoryKind", "MemoryMode", "MemoryPolicy"}
    assert none[0]
    assert "There is no such field" in none[1]


async def test_canon_has_none_of_these_tools(stage: Stage) -> None:
    """A configuration may name them for its drafts; a run of a session leaves them out."""
    project_id = await project_of(stage, tools=HELPER["tools"])
    session_id = await stage.session(0, project_id=project_id)
    await stage.client.frames(
        "Respond",
        request_for(
            "Respond", session_id=session_id, input=run_service_pb2.RespondInput(messages=[user("on")])
        ),
    )
    assert [tool.name for tool in stage.canon.sent[-1].tools] == ["get_state"]
    draft = await stage.draft.draft(project_id=project_id)
    part = stage.draft.part({"text": "x"})
    await stage.draft.respond(draft.draft_id, part.text)
    assert [tool.name for tool in part.sent[-1].tools] == list(NAMES)


@pytest.mark.parametrize("end", ["DiscardDraft", "FinalizeDraft"])
async def test_a_proposal_belongs_to_its_draft_and_goes_with_it(stage: Stage, end: str) -> None:
    project_id = await project_of(stage, **FAST)
    draft, other = await helper(stage, project_id=project_id), await helper(stage, project_id=project_id)
    canary = [{"op": "replace", "path": "/systemPrompt", "value": "a canary sang"}]
    await asked(stage.draft, draft.draft_id, ("propose_config_patch", {"operations": canary}))
    (kept,) = await proposals(stage.draft, draft.draft_id)
    parts = [{"proposal_id": kept.proposal_id}]
    refusal = await stage.draft.refused("ExportDraft", draft_id=other.draft_id, target={}, parts=parts)
    assert refusal.code == "NOT_FOUND"
    mine = f"SELECT content FROM proposal WHERE draft_id = {stage.id(draft.draft_id)}"
    assert b"canary" in (await stage.rows(mine))[0][0]
    await stage.draft.call(end, draft_id=draft.draft_id)
    refusal = await stage.draft.refused("ExportDraft", draft_id=draft.draft_id, target={}, parts=parts)
    assert refusal.reason == "DRAFT_NOT_ACTIVE"
    await stage.over(draft.draft_id, "purge_time")
    await stage.draft.sweep()
    assert not await stage.rows(mine)


@pytest.mark.parametrize("approve", [True, False])
async def test_a_proposal_may_need_approval(stage: Stage, approve: bool) -> None:
    asking = {"name": "propose_config_patch", "owner": BUILT_IN, "approval": "TOOL_APPROVAL_ALWAYS"}
    project_id = await project_of(stage, **FAST)
    draft = await stage.draft.draft(project_id=project_id, config={"tools": [asking]})
    part = stage.draft.part(*calls(("propose_config_patch", {"operations": SLOW})))
    waiting = (await stage.draft.frames(draft.draft_id, input=part.input))[-1]
    assert not await proposals(stage.draft, draft.draft_id)
    decision = {"call_id": waiting.requires_action.calls[0].call_id, "approve": approve, "reason": "so"}
    of_run = {"draft_id": draft.draft_id, "run_id": waiting.run_id}
    await stage.draft.call("SubmitToolResults", approvals=[decision], **of_run)
    attach = request_for("draft.AttachRun", **of_run)
    assert (await stage.draft.client.frames("draft.AttachRun", attach))[-1].HasField("floor_committed")
    assert len(await proposals(stage.draft, draft.draft_id)) == int(approve)


async def test_a_call_whose_outcome_was_not_known_makes_one_proposal(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = await helper(stage, project_id=await project_of(stage, **FAST))
    store = stage.draft.service.world.env.store
    write, lost = store.write, []

    async def forgetful(tenant_id: str, work: Any, session_id: str = "") -> Any:
        done = await write(tenant_id, work, session_id)
        mine = f"SELECT number FROM proposal WHERE draft_id = {stage.id(draft.draft_id)}"
        if not lost and await stage.rows(mine):
            lost.append(True)
            raise Unavailable("UNAVAILABLE", "The answer to COMMIT was lost.")
        return done

    monkeypatch.setattr(store, "write", forgetful)
    ((is_error, _),) = await asked(
        stage.draft, draft.draft_id, ("propose_config_patch", {"operations": SLOW})
    )
    assert (is_error, lost) == (False, [True])
    assert len(await proposals(stage.draft, draft.draft_id)) == 1
