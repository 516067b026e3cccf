"""D3: after its creation a draft never reads its source again, whatever becomes of that."""

from collections.abc import AsyncIterator

import grpc
import pytest
from stemma.draft.v1 import draft_pb2

from kernel.generation.provider import ChatRequest
from tests.drafts.stage import Replica, Stage, replica
from tests.support.client import Client, request_for, user
from tests.support.service import running_service


@pytest.fixture
async def stopped(canon_url: str, draft_url: str) -> AsyncIterator[tuple[Replica, str, list[ChatRequest]]]:
    """A draft service whose conversation service has stopped, a draft there, and what its model was sent
    before."""
    async with running_service(canon_url) as canon:
        address = canon.address
        async with grpc.aio.insecure_channel(address) as channel:
            client = Client(channel)
            session_id = await client.new_session()
            await client.call("AppendFloor", session_id=session_id, input=[user("history")])
            first = replica(draft_url, address)
            at = await first.__aenter__()
            draft_id = (await at.draft(session_id=session_id)).draft_id
            floor = await at.respond(draft_id, "hello")
            await at.call("MoveHead", draft_id=draft_id, floor_id=floor.parent_floor_id)
    try:
        yield at, draft_id, list(at.sent)
    finally:
        await first.__aexit__(None, None, None)


async def test_without_the_conversation_service_it_goes_on(
    stopped: tuple[Replica, str, list[ChatRequest]],
) -> None:
    """It still generates, ends and says what it cannot do."""
    at, draft_id, before = stopped
    await at.respond(draft_id, "hello")
    assert at.sent[-1] == before[-1]
    source = (await at.get(draft_id)).source_session_id
    request = request_for("draft.CreateDraft", session_id=source, purpose="x")
    refusal = await at.client.refusal("draft.CreateDraft", request)
    assert (refusal.code, refusal.reason) == ("UNAVAILABLE", "UNAVAILABLE")
    ended = (await at.call("FinalizeDraft", draft_id=draft_id)).draft
    assert ended.state == draft_pb2.DRAFT_STATE_FINALIZED


async def test_the_context_is_the_same_whatever_happens_to_the_source(own_stage: Stage) -> None:
    """Edited, with other configuration and values, archived, deleted: byte for byte the same context."""
    stage = own_stage
    config = {"system_prompt": "{{score}}"}
    session_id = await stage.session(2, config=config)
    values = {"variables": [{"scope": 2, "key": "score", "value_json": "7"}]}
    head = await stage.client.call("AppendFloor", session_id=session_id, input=[user("x")], effects=values)
    draft_id = (await stage.draft.draft(session_id=session_id)).draft_id

    async def digest() -> str:
        """Of what the model was sent for a first turn."""
        frames = await stage.draft.frames(draft_id, input={"messages": [user("same")]})
        root = frames[-1].floor_committed.floor.parent_floor_id
        await stage.draft.call("MoveHead", draft_id=draft_id, floor_id=root)
        return str(frames[0].started.context_digest)

    first = await digest()
    await stage.client.call(
        "EditFloor",
        session_id=session_id,
        floor_id=head.floor.floor_id,
        input=[user("other")],
        output=[user("other")],
        effects={"variables": [{"scope": 2, "key": "score", "value_json": "8"}]},
    )
    await stage.client.call(
        "UpdateSession",
        session_id=session_id,
        config={"system_prompt": "other"},
        update_mask={"paths": ["config.system_prompt"]},
    )
    assert await digest() == first
    await stage.client.call("ArchiveSession", session_id=session_id)
    assert await digest() == first
    await stage.client.call("DeleteSession", session_id=session_id)
    assert await digest() == first
    shown = await stage.draft.call("GetTranscript", draft_id=draft_id, include_snapshot=True)
    assert len(shown.snapshot_floors) == 3
