"""How drafts end: once, by whom and why, by the database's clock (D4, D5); and what becomes of them (D8)."""

import asyncio
from typing import Any

import pytest
from stemma.draft.v1 import draft_pb2
from stemma.kernel.v1 import floor_pb2, run_pb2

from kernel.rpc.call import Identity, LocalAuthenticator
from tests.drafts.stage import Stage
from tests.support.client import assistant, request_for, user

ENDS = {"FinalizeDraft": "FINALIZED", "DiscardDraft": "DISCARDED", "CancelDraft": "CANCELLED"}
pytestmark = pytest.mark.asyncio(loop_scope="session")

DAY = 24 * 3600


def writes(draft_id: str, floor_id: str) -> dict[str, dict[str, Any]]:
    """Every call that writes to a draft."""
    at = {"draft_id": draft_id, "floor_id": floor_id}
    return {
        "AppendMessage": {"draft_id": draft_id, "message": user("late")},
        "Respond": {"draft_id": draft_id, "input": {"messages": [user("late")]}},
        "EditFloor": {**at, "input": [user("late")]},
        "RegenerateFloor": {**at, "output": [assistant("late")]},
        "CommitFloor": at,
        "MoveHead": at,
        "SelectSibling": at,
        "ExportDraft": {"draft_id": draft_id, "target": {"placement": 2}, "parts": [{"output_page": {}}]},
        **{name: {"draft_id": draft_id} for name in ENDS},
    }


async def seen(stage: Stage, draft_id: str) -> list[tuple[Any, ...]]:
    """Everything of a draft that a late write could change."""
    tables = {"floor": "session_id", "branch": "session_id", "head_move": "session_id", "draft": "draft_id"}
    found = []
    for table, column in tables.items():
        found += await stage.rows(f"SELECT * FROM {table} WHERE {column} = {stage.id(draft_id)}")
    return found


async def audit_of(stage: Stage, draft_id: str) -> list[tuple[str, str]]:
    where = f"draft_id = {stage.id(draft_id)} ORDER BY number"
    return [
        (row[0], row[1]) for row in await stage.rows(f"SELECT action, details FROM draft_audit WHERE {where}")
    ]


@pytest.mark.parametrize("verb", sorted(ENDS))
async def test_bad_input_38_and_39(stage: Stage, verb: str) -> None:
    """An ended draft takes no write, and can be read; ending it twice is one end."""
    session_id = await stage.session(1)
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
    floor = await stage.draft.respond(draft_id, "hello")
    request = request_for(f"draft.{verb}", draft_id=draft_id, reason="enough")
    ended = (await stage.client_of_drafts.send(f"draft.{verb}", request)).draft
    assert draft_pb2.DraftState.Name(ended.state) == f"DRAFT_STATE_{ENDS[verb]}"
    assert (ended.ended_by, ended.end_reason) == ("local", "enough")
    assert ended.purge_time.seconds - ended.end_time.seconds == 3600
    assert await stage.draft.get(draft_id) == ended
    before = await seen(stage, draft_id)
    for name, fields in writes(draft_id, floor.floor_id).items():
        refusal = await stage.draft.refused(name, **fields)
        assert (refusal.code, refusal.reason) == ("FAILED_PRECONDITION", "DRAFT_NOT_ACTIVE"), name
        assert refusal.metadata == {"state": ENDS[verb].lower()}
    assert await seen(stage, draft_id) == before
    assert (await stage.client_of_drafts.send(f"draft.{verb}", request)).draft == ended
    transcript = await stage.draft.call("GetTranscript", draft_id=draft_id)
    assert [one.floor_id for one in transcript.floors] == [floor.floor_id]


async def test_an_expired_draft_takes_no_write_before_the_sweeper_comes(stage: Stage) -> None:
    """D5: enforced on access; and the sweeper writes down what was shown before."""
    draft_id = (await stage.draft.draft(session_id=await stage.session(1))).draft_id
    floor = await stage.draft.respond(draft_id, "hello")
    await stage.over(draft_id)
    shown = await stage.draft.get(draft_id)
    assert (shown.state, shown.ended_by) == (draft_pb2.DRAFT_STATE_EXPIRED, "system")
    assert shown.end_time == shown.expire_time
    for name, fields in writes(draft_id, floor.floor_id).items():
        refusal = await stage.draft.refused(name, **fields)
        assert (refusal.reason, refusal.metadata) == ("DRAFT_NOT_ACTIVE", {"state": "expired"}), name
    await stage.draft.sweep()
    assert await stage.draft.get(draft_id) == shown
    where = f"draft_id = {stage.id(draft_id)}"
    assert await stage.rows(f"SELECT state, ended_by FROM draft WHERE {where}") == [("expired", "system")]


async def test_lives_are_fixed_by_the_retention(stage: Stage) -> None:
    session_id = await stage.session(0)
    by_ttl = await stage.draft.draft(
        session_id=session_id,
        retention_policy=draft_pb2.RETENTION_POLICY_TTL,
        ttl={"seconds": 90, "nanos": 500_000_000},
    )
    life = by_ttl.expire_time.ToMilliseconds() - by_ttl.create_time.ToMilliseconds()
    assert life == 90_500
    kept = await stage.draft.draft(
        session_id=session_id, retention_policy=draft_pb2.RETENTION_POLICY_KEEP_FOR_DEBUG
    )
    assert kept.expire_time.seconds - kept.create_time.seconds == 7 * DAY
    ended = (await stage.draft.call("FinalizeDraft", draft_id=kept.draft_id)).draft
    assert ended.purge_time.seconds - ended.end_time.seconds == 30 * DAY


@pytest.mark.parametrize("verb", sorted(ENDS))
async def test_a_run_in_flight_ends_with_its_draft(stage: Stage, verb: str) -> None:
    """Late output is dropped, and that it is, is recorded (D4)."""
    part = stage.draft.part({"deltas": ["shown ", "late"]}, hold_at=1)
    draft_id = (await stage.draft.draft(session_id=await stage.session(1))).draft_id
    running = asyncio.create_task(stage.draft.frames(draft_id, input=part.input))
    await part.held()
    await stage.draft.call(verb, draft_id=draft_id)
    frames = await running
    part.go()
    await stage.draft.service.generation.hub.wait_idle()
    assert frames[-1].WhichOneof("event") == "cancelled"
    run = (await stage.draft.call("GetRun", draft_id=draft_id, run_id=frames[-1].run_id)).run
    assert run.state == run_pb2.RUN_STATE_CANCELLED
    (floor,) = await own_floors(stage, draft_id)
    assert floor.failure_reason == "DRAFT_NOT_ACTIVE"
    where = f"session_id = {stage.id(draft_id)} AND output_blob IS NOT NULL"
    blobs = await stage.rows(f"SELECT output_blob FROM floor WHERE {where}")
    assert [b"late" in bytes(blob) for (blob,) in blobs] == [False]
    audit = await audit_of(stage, draft_id)
    assert [action for action, _ in audit] == ["created", ENDS[verb].lower(), "run_dropped"]
    assert frames[-1].run_id in audit[-1][1]


async def test_a_run_that_outlives_its_draft_commits_nothing(stage: Stage) -> None:
    """The draft's time is up while the model speaks, and nobody has swept yet."""
    part = stage.draft.part(hold_at=1)
    draft_id = (await stage.draft.draft(session_id=await stage.session(1))).draft_id
    running = asyncio.create_task(stage.draft.frames(draft_id, input=part.input))
    await part.held()
    await stage.over(draft_id)
    part.go()
    await asyncio.wait({running})
    await stage.draft.service.generation.hub.wait_idle()
    await stage.draft.sweep()
    (floor,) = await own_floors(stage, draft_id)
    assert floor.state == floor_pb2.FLOOR_STATE_FAILED
    assert (await stage.draft.get(draft_id)).state == draft_pb2.DRAFT_STATE_EXPIRED
    run = (await stage.draft.call("GetRun", draft_id=draft_id, run_id=floor.run_id)).run
    assert run.state == run_pb2.RUN_STATE_CANCELLED


async def own_floors(stage: Stage, draft_id: str) -> list[floor_pb2.Floor]:
    found = (await stage.draft.call("GetTree", draft_id=draft_id)).floors
    return [floor for floor in found if floor.parent_floor_id]


async def test_equal_sources_are_stored_once(stage: Stage) -> None:
    """One copy for both, counted; another source has its own, so that no ids are shown across."""
    session_id = await stage.session(2)
    one = await stage.draft.draft(session_id=session_id)
    two = await stage.draft.draft(session_id=session_id, config={"system_prompt": "other"})
    assert one.snapshot_digest == two.snapshot_digest
    assert one.config_digest != two.config_digest
    source = f"source_id = {stage.id(session_id)}"
    assert await stage.rows(f"SELECT refs FROM snapshot WHERE {source}") == [(2,)]
    assert await stage.rows(f"SELECT count(*) FROM snapshot_floor WHERE {source}") == [(2,)]
    twin = await stage.draft.draft(session_id=await stage.session(2))
    assert twin.snapshot_digest == one.snapshot_digest
    assert await stage.rows(f"SELECT refs FROM snapshot WHERE {source}") == [(2,)]


async def test_an_internal_draft_does_not_exist_for_others(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = await stage.session(1)
    draft = await stage.draft.draft(session_id=session_id, visibility=draft_pb2.VISIBILITY_INTERNAL)
    floor = await stage.draft.respond(draft.draft_id, "mine")
    shared = await stage.draft.draft(session_id=session_id)
    assert len((await stage.draft.call("ListDrafts", session_id=session_id)).drafts) == 2
    monkeypatch.setattr(LocalAuthenticator, "_LOCAL", Identity("local", "somebody", frozenset({"owner"})))
    listed = (await stage.draft.call("ListDrafts", session_id=session_id)).drafts
    assert [one.draft_id for one in listed] == [shared.draft_id]
    reads = {"GetDraft": {}, "GetTranscript": {}, "GetTree": {}, "GetRun": {"run_id": floor.run_id}}
    calls = writes(draft.draft_id, floor.floor_id) | {
        name: {"draft_id": draft.draft_id, **fields} for name, fields in reads.items()
    }
    missing = await stage.draft.refused("GetDraft", draft_id=floor.floor_id)
    for name, fields in calls.items():
        assert await stage.draft.refused(name, **fields) == missing, name
