"""D3: after its creation a draft never reads its source again, whatever becomes of that."""

from collections.abc import AsyncIterator

import grpc
import pytest
from stemma.draft.v1 import draft_pb2

from tests.drafts.stage import PURPOSE, Stage, replica
from tests.support.client import Client, request_for, user
from tests.support.service import running_service

FINALIZED, EXPIRED = draft_pb2.DRAFT_STATE_FINALIZED, draft_pb2.DRAFT_STATE_EXPIRED


async def said(stage: Stage, draft_id: str) -> tuple[str, list[tuple[int, str]]]:
    """The digest, and the texts, of what the model is sent for a first turn, which is then left."""
    frames = await stage.draft.frames(draft_id, input={"messages": [user("same")]})
    floor = frames[-1].floor_committed.floor
    await stage.draft.call("MoveHead", draft_id=draft_id, floor_id=floor.parent_floor_id)
    assert frames[0].started.context_digest
    return frames[0].started.context_digest, stage.draft.context()


async def ends(stage: Stage, finalized: str, expiring: str) -> None:
    """One is finalized, and of the other the time is over."""
    ended = (await stage.draft.call("FinalizeDraft", draft_id=finalized)).draft
    assert ended.state == FINALIZED
    await stage.over(expiring)
    await stage.draft.sweep()
    assert (await stage.draft.get(expiring)).state == EXPIRED
    where = f"draft_id = {stage.id(expiring)}"
    assert await stage.rows(f"SELECT state FROM draft WHERE {where}") == [("expired",)]
    await stage.over(expiring, "purge_time")
    await stage.draft.sweep()
    assert await stage.rows(f"SELECT state FROM draft WHERE {where}") == []


@pytest.fixture
async def stopped(canon_url: str, draft_url: str) -> AsyncIterator[tuple[Stage, list[str], list[object]]]:
    """A stage whose conversation service has stopped, drafts of a session and of a project there, and what
    their model was sent before."""
    async with running_service(canon_url) as canon, grpc.aio.insecure_channel(canon.address) as channel:
        client = Client(channel)
        first = replica(draft_url, canon.address)
        at = await first.__aenter__()

        async def none() -> None:
            raise AssertionError("there is one replica")

        stage = Stage(canon, client, at, draft_url, canon_url, none)
        session_id = await stage.session(1, config={"system_prompt": "be kind"})
        project = (await client.call("CreateProject", title="p", config={"system_prompt": "p"})).project
        sources = [{"session_id": session_id}] * 2 + [{"project_id": project.project_id}]
        ids = [(await at.draft(**source)).draft_id for source in sources]
        before = [await said(stage, draft_id) for draft_id in ids]
    try:
        yield stage, ids, before
    finally:
        await first.__aexit__(None, None, None)


async def test_without_the_conversation_service_it_goes_on(
    stopped: tuple[Stage, list[str], list[object]],
) -> None:
    """It still generates, ends, expires, goes, and says what it cannot do."""
    stage, ids, before = stopped
    assert [await said(stage, draft_id) for draft_id in ids] == before
    source = (await stage.draft.get(ids[0])).source_session_id
    request = request_for("draft.CreateDraft", session_id=source, purpose=PURPOSE)
    refusal = await stage.client_of_drafts.refusal("draft.CreateDraft", request)
    assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "UNAVAILABLE")
    await ends(stage, ids[0], ids[1])


async def test_the_context_is_the_same_whatever_happens_to_the_source(own_stage: Stage) -> None:
    """Edited, with other configuration and values of session and project, archived, deleted, its project
    too: byte for byte the same context; and then it ends as any does."""
    stage = own_stage
    config = {"system_prompt": "{{score}} {{shared}} {{mood}}"}
    project_id = (await stage.client.call("CreateProject", title="p", config=config)).project.project_id
    session_id = await stage.session(2, project_id=project_id)

    def values(value: int) -> dict[str, object]:
        keys = {1: "mood", 2: "score", 3: "shared"}
        return {"variables": [{"scope": s, "key": key, "value_json": str(value)} for s, key in keys.items()]}

    head = await stage.client.call("AppendFloor", session_id=session_id, input=[user("x")], effects=values(7))
    ids = [(await stage.draft.draft(session_id=session_id)).draft_id for _ in range(2)]
    first = await said(stage, ids[0])
    assert first[1][0] == (1, "7 7 7")

    async def change(name: str, **fields: object) -> None:
        await stage.client.call(name, **fields)
        assert [await said(stage, draft_id) for draft_id in ids] == [first, first], name

    await change(
        "EditFloor",
        session_id=session_id,
        floor_id=head.floor.floor_id,
        input=[user("other")],
        output=[user("other")],
        effects=values(8),
    )
    other = {"config": {"system_prompt": "other"}, "update_mask": {"paths": ["config.system_prompt"]}}
    await change("UpdateSession", session_id=session_id, **other)
    await change("UpdateProject", project_id=project_id, **other)
    await change("ArchiveSession", session_id=session_id)
    await change("DeleteSession", session_id=session_id)
    await change("ArchiveProject", project_id=project_id)
    shown = await stage.draft.call("GetTranscript", draft_id=ids[0], include_snapshot=True)
    assert len(shown.snapshot_floors) == 3
    await ends(stage, *ids)
