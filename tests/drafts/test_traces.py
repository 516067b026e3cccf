"""What drafts leave behind: nothing in canon (D1), and nothing where they were (D8)."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import MetaData, select
from stemma.draft.v1 import draft_pb2

from draft_service.storage.tables import metadata as of_drafts
from kernel.storage.tables import metadata as of_canon
from kernel.storage.tables import process
from tests.drafts import life
from tests.drafts.stage import PURPOSE, Stage
from tests.staged.stage import added
from tests.support.client import request_for

CANARY = "canary-4f1e"
REPLY = draft_pb2.DRAFT_POSITION_REPLY_TO_FLOOR
EXPORT = {"target": {"placement": "PLACEMENT_NEXT_FLOOR"}, "parts": [{"output_page": {}}], "reason": CANARY}


async def everything(store: Any, metadata: MetaData) -> dict[str, list[str]]:
    """Every row of every table, but the leases that processes renew."""
    found = {}
    async with store._engines.reading() as connection:
        for table in metadata.sorted_tables:
            if table.name != process.name:
                found[table.name] = sorted(
                    repr(tuple(row)) for row in await connection.execute(select(table))
                )
    return found


async def canon(stage: Stage) -> dict[str, list[str]]:
    """All that the conversation service has, once what follows its events has come to their end."""
    await stage.canon.service.following.indexer.caught_up()
    await stage.canon.service.sealer.flush("local")
    return await everything(stage.canon.service.store, of_canon)


@asynccontextmanager
async def unchanged(stage: Stage, **rows: int) -> AsyncIterator[None]:
    """The block leaves every row there as it was, and adds so many by table. A feed counts its events, and
    the index of words follows that."""
    before = await canon(stage)
    yield
    after = await canon(stage)
    if rows:
        for counters in ("feed", "search_cursor", "audit_head"):
            del before[counters], after[counters]
    assert added(before, after) == rows


async def over(stage: Stage, draft_id: str) -> None:
    """Its life has an end already; so has its grace, and the sweeper comes."""
    await stage.over(draft_id, "purge_time")
    await stage.draft.sweep()
    assert (await stage.draft.refused("GetDraft", draft_id=draft_id)).code == "NOT_FOUND"


async def test_after_the_purge_nothing_is_left(own_stage: Stage) -> None:
    """D8: every table, every file; what is left is ids, counts and times."""
    stage = own_stage
    session_id = await life.source(stage, CANARY)
    request = request_for(
        "draft.CreateDraft", session_id=session_id, purpose=CANARY, title=CANARY, position=REPLY
    )
    draft_id = (await stage.client_of_drafts.send("draft.CreateDraft", request)).draft.draft_id
    other = await life.made(stage, session_id, CANARY)
    await life.lived(stage.draft, other, CANARY)
    await stage.draft.call("ExportDraft", draft_id=other, **EXPORT)
    refused = {**EXPORT, "target": {"session_id": str(uuid.uuid4()), "placement": 2}}
    assert (await stage.draft.refused("ExportDraft", draft_id=other, **refused)).code == "NOT_FOUND"
    lives = await everything(stage.draft.service.store, of_drafts)
    said = {table for table, rows in lives.items() if CANARY in repr(rows)}
    assert said >= {
        "draft",
        "floor",
        "page",
        "snapshot_floor",
        "tool_call",
        "run_chunk",
        "proposal",
    }
    await stage.draft.call("DiscardDraft", draft_id=draft_id, reason=CANARY)
    await stage.draft.call("FinalizeDraft", draft_id=other, reason=CANARY)
    await over(stage, other)
    assert await stage.rows("SELECT count(*) FROM snapshot") == [(1,)]
    await over(stage, draft_id)
    assert await stage.rows("SELECT count(*) FROM snapshot") == [(0,)]
    repeated = await stage.client_of_drafts.refusal("draft.CreateDraft", request)
    assert repeated.code == "NOT_FOUND"
    await stage.draft.service.sealer.flush("local")
    left = await everything(stage.draft.service.store, of_drafts)
    assert CANARY not in repr(left)
    assert {table for table, rows in left.items() if rows} == {
        *("audit_entry", "audit_head", "audit_principal"),
        *("draft_audit", "request", "tombstone"),
    }
    audit = await stage.rows("SELECT action FROM draft_audit")
    assert {action for (action,) in audit} >= {"created", "finalized", "discarded", "exported", "purged"}
    if stage.draft_url.startswith("sqlite"):
        file = Path(stage.draft_url.removeprefix("sqlite:///"))
        for path in file.parent.glob(f"{file.name}*"):
            assert CANARY.encode() not in path.read_bytes(), path.name


async def test_a_snapshot_stays_with_those_who_hold_it(own_stage: Stage) -> None:
    stage = own_stage
    session_id = await life.source(stage, CANARY)
    one, two = [await life.made(stage, session_id, CANARY) for _ in range(2)]
    assert await stage.rows("SELECT refs FROM snapshot") == [(2,)]
    for draft_id, left in ((one, [(1,)]), (two, [])):
        await stage.draft.call("CancelDraft", draft_id=draft_id)
        await over(stage, draft_id)
        assert await stage.rows("SELECT refs FROM snapshot") == left


async def test_whole_lives_leave_the_conversation_database_as_it_was(own_stage: Stage) -> None:
    """D1, row by row: of a session, for a reply, of a project; whatever their end. With an export there are
    the entry, its request, its audit line and its event; with one that is refused, nothing."""
    stage = own_stage
    session_id = await life.source(stage, CANARY)
    project_id = (await stage.client.call("GetSession", session_id=session_id)).session.project_id
    async with unchanged(stage):
        draft_id = await life.made(stage, session_id, CANARY)
        await life.lived(stage.draft, draft_id, CANARY)
        await stage.draft.call("FinalizeDraft", draft_id=draft_id)
        await over(stage, draft_id)
        for verb in ("DiscardDraft", "CancelDraft"):
            await ended(stage, verb, session_id=session_id, position=REPLY)
        await ended(stage, "", project_id=project_id)
    async with unchanged(stage, staged_write=1, request=1, event=1, audit_entry=1):
        draft_id = await life.made(stage, session_id, CANARY)
        await life.lived(stage.draft, draft_id, CANARY)
        request = request_for("draft.ExportDraft", draft_id=draft_id, finalize=True, **EXPORT)
        for _ in range(2):
            await stage.client_of_drafts.send("draft.ExportDraft", request)
        await over(stage, draft_id)
    async with unchanged(stage):
        draft_id = (await stage.draft.draft(session_id=session_id)).draft_id
        await stage.draft.respond(draft_id, CANARY)
        nowhere = {"session_id": str(uuid.uuid4()), "placement": 2}
        refusal = await stage.draft.refused("ExportDraft", draft_id=draft_id, **{**EXPORT, "target": nowhere})
        assert refusal.code == "NOT_FOUND"


async def ended(stage: Stage, verb: str, **source: Any) -> None:
    """Another life, which ends with that call, or by its time."""
    made = await stage.draft.call("CreateDraft", purpose=PURPOSE, **source)
    draft_id, pending = made.draft.draft_id, made.branch.pending_floor_id
    if pending:
        await stage.draft.respond(draft_id, resume={"floor_id": pending})
    await stage.draft.respond(draft_id, CANARY)
    if verb:
        await stage.draft.call(verb, draft_id=draft_id)
    else:
        await stage.over(draft_id)
        await stage.draft.sweep()
    await over(stage, draft_id)
