"""What drafts leave behind: nothing in canon (D1), and nothing where they were (D8)."""

from pathlib import Path
from typing import Any

from tests.drafts.stage import Stage
from tests.support.client import assistant, request_for, user

CANARY = "canary-4f1e"
CANON = ("session", "floor", "page", "branch", "run", "request", "event", "feed", "prompt", "live_value")
CANON += ("staged_write", "project", "head_move")


async def test_after_the_purge_nothing_is_left(own_stage: Stage) -> None:
    """D8: every table, every file; what is left is ids, counts and times."""
    stage = own_stage
    session_id = await stage.session(1)
    await stage.client.call(
        "AppendFloor",
        session_id=session_id,
        input=[user(f"history {CANARY}")],
        effects={"variables": [{"scope": 1, "key": "k", "value_json": f'"{CANARY}"'}]},
    )
    request = request_for(
        "draft.CreateDraft",
        session_id=session_id,
        purpose=CANARY,
        title=CANARY,
        metadata={CANARY: CANARY},
        config={"system_prompt": f"{CANARY} {{{{k}}}}"},
    )
    draft = (await stage.client_of_drafts.send("draft.CreateDraft", request)).draft
    other = await stage.draft.draft(session_id=session_id)
    first = await stage.draft.respond(draft.draft_id, f"say {CANARY}")
    await stage.draft.call(
        "EditFloor",
        draft_id=draft.draft_id,
        floor_id=first.floor_id,
        input=[user(CANARY)],
        output=[assistant(CANARY)],
        effects={"variables": [{"scope": s, "key": "k", "value_json": f'"{CANARY}"'} for s in (1, 2, 3)]},
    )
    await stage.draft.call("FinalizeDraft", draft_id=draft.draft_id, reason=CANARY)
    assert await snapshots(stage) == [(2,)]
    await stage.over(draft.draft_id, "purge_time")
    assert (await stage.draft.refused("GetDraft", draft_id=draft.draft_id)).code == "NOT_FOUND"
    await stage.draft.sweep()
    assert await snapshots(stage) == [(1,)]
    await stage.draft.call("DiscardDraft", draft_id=other.draft_id)
    await stage.over(other.draft_id, "purge_time")
    await stage.draft.sweep()
    assert await snapshots(stage) == []
    repeated = await stage.client_of_drafts.refusal("draft.CreateDraft", request)
    assert repeated.code == "NOT_FOUND"
    left = await everything(stage)
    assert CANARY not in repr(left)
    holding = {table for table, found in left.items() if found} - {"alembic_version", "process"}
    assert holding == {"draft_audit", "request", "tombstone"}
    audit = await stage.rows("SELECT action FROM draft_audit ORDER BY number")
    assert {action for (action,) in audit} == {"created", "finalized", "discarded", "purged"}
    if stage.draft_url.startswith("sqlite"):
        file = Path(stage.draft_url.removeprefix("sqlite:///"))
        for path in file.parent.glob(f"{file.name}*"):
            assert CANARY.encode() not in path.read_bytes(), path.name


async def snapshots(stage: Stage) -> list[tuple[Any, ...]]:
    return await stage.rows("SELECT refs FROM snapshot")


async def everything(stage: Stage) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    if stage.draft_url.startswith("sqlite"):
        tables = await stage.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    else:
        tables = await stage.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    names = [name for (name,) in tables if not name.startswith(("sqlite_", "search_message"))]
    return {name: await stage.rows(f'SELECT * FROM "{name}"') for name in names}


async def test_the_conversation_database_is_as_it_was(own_stage: Stage) -> None:
    """D1: a whole life of a draft leaves no row there."""
    stage = own_stage
    session_id = await stage.session(2)

    async def canon() -> dict[str, list[tuple[Any, ...]]]:
        return {name: await stage.rows(f"SELECT * FROM {name}", canon=True) for name in CANON}

    before = await canon()
    draft = await stage.draft.draft(session_id=session_id)
    await stage.draft.respond(draft.draft_id, "hello")
    await stage.draft.call("FinalizeDraft", draft_id=draft.draft_id)
    await stage.over(draft.draft_id, "purge_time")
    await stage.draft.sweep()
    assert await canon() == before
