"""Inputs of the bad-input list, for drafts; 38 and 39 are in `test_lifecycle.py`, 57 in `test_exports.py`, 45
and 48 in `test_bad_runs.py`."""

from datetime import timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from stemma.draft.v1 import draft_pb2, draft_service_pb2

from kernel.runs.control import forget_logs
from tests.drafts.stage import PURPOSE, Stage
from tests.support.client import user

pytestmark = pytest.mark.asyncio(loop_scope="session")

TTL = draft_pb2.RETENTION_POLICY_TTL
INVALID = ("INVALID_ARGUMENT", "INVALID")


@pytest.mark.parametrize(
    "ttl",
    [
        *[(0, 0), (-1, 0), (10**12, 0), (1, -1), (-1, 1), (0, 999_999_999), (24 * 3600, 1), (5, 10**9)],
        *[(315_576_000_001, 0), (2**62, 0)],
    ],
)
async def test_bad_input_40(stage: Stage, ttl: tuple[int, int]) -> None:
    session_id = await stage.session(0)
    refusal = await stage.draft.refused(
        "CreateDraft",
        session_id=session_id,
        purpose=PURPOSE,
        retention_policy=TTL,
        ttl=Duration(seconds=ttl[0], nanos=ttl[1]),
    )
    assert (refusal.code, refusal.reason) == INVALID
    assert not (await stage.draft.call("ListDrafts", session_id=session_id)).drafts


@pytest.mark.parametrize(
    "fields",
    [
        {"purpose": ""},
        {"purpose": "x" * 121},
        {"purpose": "\0"},
        {"title": "x" * 501},
        {"retention_policy": TTL},
        {"ttl": {"seconds": 5}},
        {"retention_policy": 9},
        {"visibility": 9},
        {"position": 9},
        {"floor_id": "x"},
        {"metadata": {str(n): "" for n in range(65)}},
        {"metadata": {"k" * 129: ""}},
        {"metadata": {"k": "v" * 1025}},
        {"origin": {"run_id": "x"}},
        {"config": {"tools": [{"name": "unknown"}]}},
        {"session_id": ""},
    ],
    ids=str,
)
async def test_what_a_new_draft_must_be(stage: Stage, fields: dict[str, Any]) -> None:
    whole = {"session_id": await stage.session(0), "purpose": PURPOSE} | fields
    refusal = await stage.draft.refused("CreateDraft", **whole)
    assert (refusal.code, refusal.reason) == INVALID


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({}, "message.role"),
        ({"role": 2}, "message.parts"),
        ({"role": 2, "parts": [{"text": {"text": "\0"}}]}, "message.parts[0].text.text"),
        ({"role": 2, "parts": [{"text": {"text": "x" * (1 << 20)}}]}, "message"),
    ],
)
async def test_a_message_is_refused_by_its_path(stage: Stage, message: dict[str, Any], field: str) -> None:
    draft_id = (await stage.draft.draft(session_id=await stage.session(0))).draft_id
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await stage.draft.call("AppendMessage", draft_id=draft_id, message=message)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert str(refused.value.details()).startswith(f"{field}: ")


@pytest.mark.parametrize(
    "fields",
    [{"floor_id": "0" * 8 + "-0000-7000-8000-000000000000"}, {"position": 1}, {"include_history": True}],
)
async def test_a_project_has_no_floors(stage: Stage, fields: dict[str, Any]) -> None:
    refusal = await stage.draft.refused("CreateDraft", project_id="default", purpose=PURPOSE, **fields)
    assert (refusal.code, refusal.reason) == INVALID


async def test_tools_are_narrowed_and_never_widened(stage: Stage) -> None:
    """For the draft's own configuration, and for that of a call."""
    tool = {"name": "roll", "side_effect": 2, "approval": 1, "parameters_json": "{}"}
    project = (await stage.client.call("CreateProject", title="p", config={"tools": [tool]})).project
    source = {"project_id": project.project_id, "purpose": PURPOSE}
    wider = [{"side_effect": 3}, {"side_effect": 0}, {"name": "other"}, {"owner": 2}, {"parameters_json": ""}]
    for change in wider:
        config = {"tools": [tool | change]}
        refusal = await stage.draft.refused("CreateDraft", config=config, **source)
        assert (refusal.code, refusal.reason) == INVALID, change
    narrow = tool | {"side_effect": 1, "approval": 2}
    draft_id = (await stage.draft.call("CreateDraft", config={"tools": [narrow]}, **source)).draft.draft_id
    refusal = await stage.draft.refused(
        "Respond", draft_id=draft_id, input={"messages": [user("x")]}, overrides={"tools": [tool]}
    )
    assert (refusal.code, refusal.reason) == INVALID


async def test_bad_input_37(stage: Stage) -> None:
    """Positions that a run has not come to, that its log does not go back to, and that are none."""
    draft_id = (await stage.draft.draft(session_id=await stage.session(0))).draft_id
    floor = await stage.draft.respond(draft_id, "x")
    at = {"draft_id": draft_id, "run_id": floor.run_id}
    ahead = await stage.draft.refused("AttachRun", after="9.9", **at)
    assert (ahead.code, ahead.reason) == ("OUT_OF_RANGE", "CURSOR_AHEAD")
    malformed = await stage.draft.refused("AttachRun", after="x", **at)
    assert (malformed.code, malformed.reason) == INVALID
    service = stage.draft.service
    await service.generation.hub.wait_idle()
    service.generation.hub._finished.clear()
    await forget_logs(service.store.run_log, service.world.env.clock() + timedelta(hours=1))
    old = await stage.draft.refused("AttachRun", after="1.1", **at)
    assert (old.code, old.reason) == ("OUT_OF_RANGE", "CURSOR_TOO_OLD")
    assert old.metadata["earliest"]


async def test_bad_input_42() -> None:
    """No call on a draft takes a field mask; one that will has to refuse what is none."""
    service = draft_service_pb2.DESCRIPTOR.services_by_name["DraftService"]
    fields = [field for method in service.methods for field in method.input_type.fields if field.message_type]
    assert fields
    assert "google.protobuf.FieldMask" not in {field.message_type.full_name for field in fields}
