"""Deleting a session: a receipt, a tombstone, and nothing that brings it back."""

import asyncio
from typing import Any

import grpc
import pytest

from kernel.errors import NotFound
from kernel.tree.model import Branch
from kernel.verbs.env import MAIN, WriteTx
from kernel.verbs.pages import new_root
from tests.projects.stage import TENANT, Stage, mask, on_stage
from tests.support.client import Refusal, assistant, refusal_of, request_for, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "the-secret-words"
GONE = Refusal("NOT_FOUND", "NOT_FOUND", {})


async def full_session(stage: Stage) -> str:
    """A session with rows in every store, and SECRET wherever words can be."""
    session_id = (await stage.session(title=SECRET, config={"system_prompt": SECRET})).session_id
    first = await stage.turn(session_id, SECRET)
    await stage.client.respond(session_id, input={"messages": [user(SECRET)]})
    await stage.call("EditFloor", floor_id=first.floor_id, input=[user(SECRET)], output=[assistant("a")])
    await stage.call("CreateBranch", session_id=session_id, name=SECRET, floor_id=first.floor_id)
    await stage.turn(session_id, "on a branch", branch=SECRET)
    opened = (await stage.call("OpenFloor", session_id=session_id, branch=SECRET, input=[user("x")])).floor
    await stage.call("AddPage", floor_id=opened.floor_id, slot=2, messages=[assistant(SECRET)])
    await stage.call("AbandonFloor", floor_id=opened.floor_id, reason=SECRET)
    await stage.call("UpdateSession", session_id=session_id, title=f"{SECRET} 2", update_mask=mask("title"))
    await stage.call("RestoreConfigVersion", session_id=session_id, version=1)
    return session_id


async def test_the_receipt_names_what_was_there(stage: Stage) -> None:
    kept = await full_session(stage)
    session_id = await full_session(stage)
    kept_rows, all_rows = await stage.rows(kept), await stage.rows()
    rows = await stage.rows(session_id)
    taken = (await stage.call("DeleteSession", session_id=session_id)).receipt
    receipt = {one.store: one.rows for one in taken}
    assert [one.store for one in taken] == sorted(receipt)
    removed = {store: count for store, count in receipt.items() if store not in ("event", "request")}
    # An ended session keeps its events, blanked, and its audit lines, and gains one of each.
    kept_stores = ("event", "audit_entry")
    assert removed == {store: count for store, count in rows.items() if count and store not in kept_stores}
    assert receipt["event"] == rows["event"]
    assert {*removed} >= {
        "session",
        "floor",
        "page",
        "run",
        "branch",
        "segment",
        "left_leaf",
        "config_version",
    }
    after = await stage.rows(session_id)
    assert {store: count for store, count in after.items() if count} == {
        "event": rows["event"] + 1,
        "audit_entry": rows["audit_entry"] + 1,
        "tombstone": 1,
    }
    new_rows = await stage.rows()
    gained = {"event": 1, "tombstone": 1, "request": 1, "audit_entry": 1}
    for store, count in all_rows.items():
        assert new_rows[store] == count - removed.get(store, 0) + gained.get(store, 0), store
    assert await stage.rows(kept) == kept_rows


async def test_no_word_of_it_is_left_anywhere(own_stage: Stage) -> None:
    session_id = await full_session(own_stage)
    assert set(await own_stage.everywhere(SECRET)) >= {
        "session",
        "floor",
        "page",
        "request",
        "event",
        "branch",
    }
    await own_stage.call("DeleteSession", session_id=session_id)
    assert await own_stage.everywhere(SECRET) == []
    facts = await own_stage.facts()
    assert facts[-1] == ("session.deleted", {})
    assert {str(payload) for _, payload in facts} == {"{}"}


async def test_no_late_repeat_brings_it_back(stage: Stage) -> None:
    created = request_for("CreateSession", title="t")
    session_id = (await stage.client.send("CreateSession", created)).session.session_id
    floor = await stage.turn(session_id)
    asked: dict[str, Any] = {
        "AppendFloor": {"session_id": session_id, "input": [user("x")]},
        "CreateBranch": {"session_id": session_id, "name": "b", "floor_id": floor.floor_id},
        "MoveHead": {"session_id": session_id, "floor_id": floor.floor_id},
        "EditFloor": {"floor_id": floor.floor_id, "input": [user("y")], "output": [assistant("z")]},
        "UpdateSession": {"session_id": session_id, "title": "u", "update_mask": mask("title")},
        "RestoreConfigVersion": {"session_id": session_id, "version": 1},
        "DeleteBranch": {"session_id": session_id, "branch": "b"},
        "ArchiveSession": {"session_id": session_id},
        "RestoreSession": {"session_id": session_id},
    }
    requests = [(name, request_for(name, **fields)) for name, fields in asked.items()]
    respond = request_for("Respond", session_id=session_id, input={"messages": [user("m")]})
    await stage.client.frames("Respond", respond)
    for name, request in requests:
        await stage.client.send(name, request)
    delete = request_for("DeleteSession", session_id=session_id)
    receipt = await stage.client.raw("DeleteSession", delete)
    rows = await stage.rows()
    for name, request in [("CreateSession", created), ("Respond", respond), *requests]:
        refusal = await stage.client.refusal(name, request)
        assert refusal == GONE, name
        if "request_id" in type(request).DESCRIPTOR.fields_by_name:
            request.request_id = "11111111-2222-4333-8444-555555555555"
            if name != "CreateSession":
                assert await stage.client.refusal(name, request) == GONE, name
    assert await stage.client.raw("DeleteSession", delete) == receipt
    assert await stage.client.refused("DeleteSession", session_id=session_id) == GONE
    assert await stage.rows() == rows


async def test_its_id_never_comes_back(stage: Stage) -> None:
    """An import makes its ids from its request: a repeat of it must not fill the grave."""
    env = stage.service.service.env
    session_id = (await stage.session()).session_id
    async with env.store.reading(TENANT) as tx:
        session = await tx.session(session_id)
    assert session is not None
    await stage.call("DeleteSession", session_id=session_id)

    async def again(tx: WriteTx) -> None:
        now = session.create_time
        root = new_root(env, session_id, session.root_floor_id, "local")
        main = Branch(MAIN, session.root_floor_id, None, None, 0, 1, now, now)
        await tx.insert_session(session, root, main)

    with pytest.raises(NotFound):
        await env.store.write(TENANT, again)


async def test_an_archived_session_can_be_deleted(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    await stage.call("ArchiveSession", session_id=session_id)
    await stage.call("DeleteSession", session_id=session_id)
    assert await stage.client.refused("GetSession", session_id=session_id) == GONE


async def test_of_many_deletions_one_deletes(stage: Stage) -> None:
    session_id = await full_session(stage)
    writes = [stage.turn(session_id, f"racing {n}") for n in range(8)]
    deletes = [stage.call("DeleteSession", session_id=session_id) for _ in range(4)]
    done = await asyncio.gather(*writes, *deletes, return_exceptions=True)
    answered = [one for one in done[8:] if not isinstance(one, BaseException)]
    assert len(answered) == 1
    for error in done:
        if isinstance(error, grpc.aio.AioRpcError):
            assert refusal_of(error) == GONE
    rows = await stage.rows(session_id)
    assert {store for store, count in rows.items() if count} == {"event", "tombstone", "audit_entry"}


async def test_deletion_ends_a_run(migrated_url: str) -> None:
    started, go = asyncio.Event(), asyncio.Event()

    async def gate(index: int) -> None:
        if index:
            started.set()
            await go.wait()

    async with on_stage(migrated_url, gate) as stage:
        session_id = (await stage.session()).session_id
        request = request_for("Respond", session_id=session_id, input={"messages": [user("one two three")]})
        run = stage.client.stream("Respond", request)
        first = (await anext(aiter(run))).event
        await asyncio.wait_for(started.wait(), 20)
        await stage.call("DeleteSession", session_id=session_id)
        # Its watchers are not left waiting, though nothing is left to show them.
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            _ = [answer async for answer in run]
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        assert await stage.client.refused("GetRun", run_id=first.run_id) == GONE
        assert await stage.client.refusal("Respond", request) == GONE
        await asyncio.wait_for(stage.service.service.generation.hub.wait_idle(), 20)
        assert (await stage.rows(session_id))["floor"] == 0
