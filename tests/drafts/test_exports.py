"""The one way out (D7): exported once, settled as what the ledger says, whatever is racing."""

import asyncio
import uuid
from typing import Any

import pytest
from stemma.draft.v1 import draft_pb2
from stemma.kernel.v1 import message_pb2, staged_write_pb2

from kernel.errors import Unavailable
from tests.drafts.stage import Stage
from tests.support.client import assistant, request_for, texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

NEXT, OUTPUT = staged_write_pb2.PLACEMENT_NEXT_FLOOR, staged_write_pb2.PLACEMENT_OUTPUT_OF_FLOOR
STAGED = draft_pb2.EXPORT_STATE_STAGED
TOOL_CALL = {"tool_call": {"call_id": "c1", "name": "roll", "arguments_json": "{}"}}
TOOL_RESULT = {"tool_result": {"call_id": "c1", "content": "6"}}


async def entry_of(stage: Stage, staged_write_id: str) -> Any:
    found = await stage.client.call("GetStagedWrite", staged_write_id=staged_write_id)
    return found.staged_write


async def entries(stage: Stage, draft_id: str) -> list[Any]:
    return await stage.client.everything("ListStagedWrites", "staged_writes", draft_id=draft_id)


def page(page_id: str = "", **fields: Any) -> list[dict[str, Any]]:
    return [{"output_page": {"page_id": page_id, **fields}}]


async def test_a_candidate_reply_becomes_a_sibling(stage: Stage) -> None:
    """Scene 1: drafted as an alternative, exported, accepted: canon has both."""
    session_id = await stage.session()
    made = await stage.draft.call(
        "CreateDraft",
        session_id=session_id,
        purpose="a better answer",
        position=draft_pb2.DRAFT_POSITION_REPLY_TO_FLOOR,
    )
    draft_id = made.draft.draft_id
    floor = await stage.draft.respond(draft_id, resume={"floor_id": made.branch.pending_floor_id})
    before = await stage.client.path_ids(session_id)
    exported = await stage.draft.call(
        "ExportDraft", draft_id=draft_id, target={"placement": OUTPUT}, parts=page(), reason="better"
    )
    assert (exported.state, exported.source_page_id) == (STAGED, floor.output_page.page_id)
    assert await stage.client.path_ids(session_id) == before  # L1
    entry = await entry_of(stage, exported.staged_write_id)
    assert (entry.target.session_id, entry.target.floor_id) == (session_id, before[-1])
    assert (entry.origin.draft_id, entry.origin.page_id) == (draft_id, floor.output_page.page_id)
    assert entry.origin.snapshot_digest == made.draft.snapshot_digest
    assert (entry.reason, entry.staged_by) == ("better", "local")
    assert list(entry.parts[0].output_page.output[0].parts) == list(floor.output_page.messages[0].parts)
    accepted = await stage.client.call(
        "AcceptStagedWrite",
        staged_write_id=exported.staged_write_id,
        expected_head=before[-1],
        select=True,
        reason="yes",
    )
    assert texts(accepted.floor.input_page) == ["user 2"]
    assert accepted.branch.head_floor_id == accepted.floor.floor_id != before[-1]
    assert (await stage.draft.get(draft_id)).state == draft_pb2.DRAFT_STATE_ACTIVE


async def test_an_opening_is_one_entry(stage: Stage) -> None:
    """Scene 2: configuration, state and greeting, accepted all or none."""
    session_id = (await stage.client.call("CreateSession")).session.session_id
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
    await stage.draft.respond(draft_id, "write a greeting")
    variables = [{"scope": 1, "key": "place", "value_json": '"inn"'}]
    exported = await stage.draft.call(
        "ExportDraft",
        draft_id=draft_id,
        target={"placement": NEXT},
        parts=[
            {"config_patch": {"operations_json": '[{"op":"add","path":"/systemPrompt","value":"slow"}]'}},
            {"state_patch": {"effects": {"variables": variables}}},
            *page(),
        ],
        finalize=True,
    )
    assert (await stage.draft.get(draft_id)).state == draft_pb2.DRAFT_STATE_FINALIZED
    entry = await entry_of(stage, exported.staged_write_id)
    assert [part.WhichOneof("part") for part in entry.parts] == ["config_patch", "state_patch", "output_page"]
    assert not entry.parts[2].output_page.input
    await stage.client.call("AcceptStagedWrite", staged_write_id=exported.staged_write_id, reason="go")
    session = (await stage.client.call("GetSession", session_id=session_id)).session
    assert session.config.system_prompt == "slow"


async def test_a_configuration_of_the_project_is_patched(stage: Stage) -> None:
    """Scene 3, with the patch given by the caller."""
    config = {"system_prompt": "fast", "model": {"temperature": 1}}
    project = (await stage.client.call("CreateProject", title="p", config=config)).project
    draft_id = (await stage.draft.draft(project_id=project.project_id)).draft_id
    patch = (
        '[{"op":"test","path":"/systemPrompt","value":"fast"},'
        '{"op":"replace","path":"/systemPrompt","value":"slow"}]'
    )
    exported = await stage.draft.call(
        "ExportDraft", draft_id=draft_id, target={}, parts=[{"config_patch": {"operations_json": patch}}]
    )
    entry = await entry_of(stage, exported.staged_write_id)
    assert (entry.target.project_id, entry.origin.base_version) == (project.project_id, project.version)
    await stage.client.call("AcceptStagedWrite", staged_write_id=exported.staged_write_id, reason="ok")
    found = (await stage.client.call("GetProject", project_id=project.project_id)).project
    assert found.config.system_prompt == "slow"


async def test_a_turn_goes_with_its_input_where_that_is_wanted(stage: Stage) -> None:
    session_id = await stage.session(1)
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
    await stage.draft.respond(draft_id, "a question")
    exported = await stage.draft.call(
        "ExportDraft", draft_id=draft_id, target={"placement": NEXT}, parts=page(with_input=True)
    )
    done = await stage.client.call("AcceptStagedWrite", staged_write_id=exported.staged_write_id, reason="ok")
    assert texts(done.floor.input_page) == ["a question"]
    refused = await stage.draft.refused(
        "ExportDraft", draft_id=draft_id, target={"placement": OUTPUT}, parts=page(with_input=True)
    )
    assert refused.code == "INVALID_ARGUMENT"


async def test_exporting_twice_gives_one_entry(stage: Stage) -> None:
    """D7, R1: many at once, and after the end of the draft."""
    session_id = await stage.session(1)
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
    await stage.draft.respond(draft_id, "x")
    request = request_for(
        "draft.ExportDraft", draft_id=draft_id, target={"placement": NEXT}, parts=page(), finalize=True
    )
    client = stage.client_of_drafts
    answers = await asyncio.gather(*(client.raw("draft.ExportDraft", request) for _ in range(8)))
    answers.append(await client.raw("draft.ExportDraft", request))
    assert len(set(answers)) == 1
    assert len(await entries(stage, draft_id)) == 1
    late = await stage.draft.refused(
        "ExportDraft", draft_id=draft_id, target={"placement": NEXT}, parts=page()
    )
    assert (late.reason, late.metadata) == ("DRAFT_NOT_ACTIVE", {"state": "finalized"})


async def test_what_can_be_exported(stage: Stage) -> None:
    session_id = await stage.session(1)
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id

    async def refused(page_id: str = "") -> tuple[str, str]:
        found = await stage.draft.refused(
            "ExportDraft", draft_id=draft_id, target={"placement": NEXT}, parts=page(page_id)
        )
        return found.code, found.reason

    assert await refused() == ("FAILED_PRECONDITION", "NOT_EXPORTABLE")
    first = await stage.draft.respond(draft_id, "one")
    second = await stage.draft.respond(draft_id, regenerate={"floor_id": first.floor_id})
    assert await refused(first.output_page.page_id) == ("FAILED_PRECONDITION", "NOT_EXPORTABLE")
    assert await refused(first.input_page.page_id) == ("FAILED_PRECONDITION", "NOT_EXPORTABLE")
    assert await refused(str(uuid.uuid4())) == ("NOT_FOUND", "NOT_FOUND")
    head = (await stage.client.path_ids(session_id))[-1]
    source = (await stage.client.call("GetFloor", floor_id=head)).floor.output_page.page_id
    assert await refused(source) == ("NOT_FOUND", "NOT_FOUND")
    asking = message_pb2.Message(role=message_pb2.ROLE_ASSISTANT, parts=[TOOL_CALL])
    open_call = await stage.draft.call("AppendMessage", draft_id=draft_id, message=asking)
    assert await refused(open_call.floor.output_page.page_id) == ("FAILED_PRECONDITION", "NOT_EXPORTABLE")
    # The last one that can be exported is the one above.
    exported = await stage.draft.call(
        "ExportDraft", draft_id=draft_id, target={"placement": NEXT}, parts=page()
    )
    assert exported.source_page_id == second.output_page.page_id
    whole = [asking, message_pb2.Message(role=message_pb2.ROLE_TOOL, parts=[TOOL_RESULT]), assistant("six")]
    done = await stage.draft.call(
        "EditFloor", draft_id=draft_id, floor_id=second.floor_id, input=[user("roll")], output=whole
    )
    exported = await stage.draft.call(
        "ExportDraft", draft_id=draft_id, target={"placement": NEXT}, parts=page()
    )
    assert exported.source_page_id == done.floor.output_page.page_id
    (staged,) = (await entry_of(stage, exported.staged_write_id)).parts
    assert [list(message.parts) for message in staged.output_page.output] == [
        list(message.parts) for message in done.floor.output_page.messages
    ]


async def test_bad_input_57(stage: Stage) -> None:
    """What the target refuses leaves the draft as it was, and it can be exported elsewhere."""
    session_id = await stage.session(1)
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
    await stage.draft.respond(draft_id, "x")
    request = request_for(
        "draft.ExportDraft",
        draft_id=draft_id,
        target={"session_id": str(uuid.uuid4()), "placement": NEXT},
        parts=page(),
        finalize=True,
    )
    for _ in range(2):
        missing = await stage.client_of_drafts.refusal("draft.ExportDraft", request)
        assert (missing.code, missing.reason) == ("NOT_FOUND", "NOT_FOUND")
    await stage.client.call("ArchiveSession", session_id=session_id)
    archived = await stage.draft.refused(
        "ExportDraft", draft_id=draft_id, target={"placement": NEXT}, parts=page()
    )
    assert (archived.code, archived.reason) == ("FAILED_PRECONDITION", "ARCHIVED")
    assert (await stage.draft.get(draft_id)).state == draft_pb2.DRAFT_STATE_ACTIVE
    assert not await entries(stage, draft_id)
    await stage.client.call("RestoreSession", session_id=session_id)
    exported = await stage.draft.call(
        "ExportDraft", draft_id=draft_id, target={"placement": NEXT}, parts=page()
    )
    assert exported.state == STAGED
    await stage.client.call("DeleteSession", session_id=session_id)
    deleted = await stage.draft.refused(
        "ExportDraft", draft_id=draft_id, target={"placement": NEXT}, parts=page()
    )
    assert deleted == missing
    elsewhere = {"session_id": await stage.session(0), "placement": NEXT}
    exported = await stage.draft.call("ExportDraft", draft_id=draft_id, target=elsewhere, parts=page())
    assert exported.state == STAGED


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("target", {"parts": page()}),
        ("parts", {"target": {"placement": NEXT}}),
        ("target.placement", {"target": {}, "parts": page()}),
        ("parts[0]", {"target": {}, "parts": [{}]}),
        ("parts[1]", {"target": {"placement": NEXT}, "parts": page() * 2}),
        ("parts[0].proposal_id", {"target": {}, "parts": [{"proposal_id": "x"}]}),
        ("operations_json", {"target": {}, "parts": [{"config_patch": {"operations_json": "{}"}}]}),
        ("effects", {"target": {}, "parts": [{"state_patch": {}}]}),
    ],
)
async def test_what_an_export_must_be(stage: Stage, field: str, fields: dict[str, Any]) -> None:
    draft_id = (await stage.draft.draft(session_id=await stage.session(0))).draft_id
    await stage.draft.respond(draft_id, "x")
    refusal = await stage.draft.refused("ExportDraft", draft_id=draft_id, **fields)
    assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "INVALID"), field


async def test_an_export_completes_when_the_ledger_is_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UNAVAILABLE while it is not known; written down, so that it goes on without anybody; and it holds the
    purge up."""
    session_id = await stage.session(1)
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
    await stage.draft.respond(draft_id, "x")
    request = request_for("draft.ExportDraft", draft_id=draft_id, target={"placement": NEXT}, parts=page())
    ledger = stage.draft.service.world.ledger
    with monkeypatch.context() as away:

        async def stage_nothing(tenant_id: str, payload: bytes) -> str:
            raise Unavailable("UNAVAILABLE", "Away.")

        away.setattr(ledger, "stage", stage_nothing)
        refusal = await stage.client_of_drafts.refusal("draft.ExportDraft", request)
        assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "UNAVAILABLE")
        await stage.draft.call("DiscardDraft", draft_id=draft_id)
        await stage.over(draft_id, "purge_time")
        assert (await stage.draft.get(draft_id)).state == draft_pb2.DRAFT_STATE_DISCARDED
        await stage.draft.service.sweeper.look()
        assert (await stage.draft.get(draft_id)).state == draft_pb2.DRAFT_STATE_DISCARDED
    await stage.draft.sweep()
    (entry,) = await entries(stage, draft_id)
    assert entry.origin.draft_id == draft_id
    assert (await stage.draft.refused("GetDraft", draft_id=draft_id)).code == "NOT_FOUND"


async def test_a_proposal_that_there_is_not_is_not_found(stage: Stage) -> None:
    project = (await stage.client.call("CreateProject", title="p")).project
    draft_id = (await stage.draft.draft(project_id=project.project_id)).draft_id
    assert not (await stage.draft.call("ListProposals", draft_id=draft_id)).proposals
    refusal = await stage.draft.refused(
        "ExportDraft", draft_id=draft_id, target={}, parts=[{"proposal_id": str(uuid.uuid4())}]
    )
    assert refusal.code == "NOT_FOUND"
