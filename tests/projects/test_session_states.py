"""Archived, deleted and foreign sessions, on every RPC of the contract."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from kernel.rpc.call import Identity, LocalAuthenticator
from tests.projects.stage import Stage, mask, new_id
from tests.support.client import METHODS, Refusal, assistant, request_for, user, writes

on_the_stages_loop = pytest.mark.asyncio(loop_scope="session")

GONE = Refusal("NOT_FOUND", "NOT_FOUND", {})
ARCHIVED = Refusal("FAILED_PRECONDITION", "ARCHIVED", {})


@dataclass(frozen=True)
class Things:
    """A session, and something of each kind in it."""

    session_id: str
    floor_id: str
    open_floor_id: str
    page_id: str
    run_id: str
    staged_write_id: str


async def things(stage: Stage) -> Things:
    session_id = (await stage.session()).session_id
    floor = await stage.client.respond(session_id, input={"messages": [user("hello")]})
    await stage.call("CreateBranch", session_id=session_id, name="side", floor_id=floor.floor_id)
    await stage.turn(session_id)
    opened = (await stage.call("OpenFloor", session_id=session_id, branch="side", input=[user("q")])).floor
    page = (await stage.call("AddPage", floor_id=opened.floor_id, slot=2, messages=[assistant("a")])).page
    entry = (await stage.call("StageWrite", **proposal(session_id))).staged_write
    return Things(
        session_id, floor.floor_id, opened.floor_id, page.page_id, floor.run_id, entry.staged_write_id
    )


def proposal(session_id: str) -> dict[str, Any]:
    target = {"session_id": session_id, "placement": "PLACEMENT_NEXT_FLOOR"}
    return {"target": target, "parts": [{"output_page": {"output": [assistant("x")]}}]}


Fields = Callable[[Things], dict[str, Any]]

WRITES: dict[str, Fields] = {
    "UpdateSession": lambda t: {"session_id": t.session_id, "title": "x", "update_mask": mask("title")},
    "ArchiveSession": lambda t: {"session_id": t.session_id},
    "ForkSession": lambda t: {"session_id": t.session_id, "floor_id": t.floor_id},
    "RestoreConfigVersion": lambda t: {"session_id": t.session_id, "version": 1},
    "AppendFloor": lambda t: {"session_id": t.session_id, "input": [user("x")]},
    "OpenFloor": lambda t: {"session_id": t.session_id, "input": [user("x")]},
    "AddPage": lambda t: {"floor_id": t.open_floor_id, "slot": 2, "messages": [assistant("x")]},
    "ActivatePage": lambda t: {"page_id": t.page_id},
    "CommitFloor": lambda t: {"floor_id": t.open_floor_id},
    "AbandonFloor": lambda t: {"floor_id": t.open_floor_id},
    "EditFloor": lambda t: {"floor_id": t.floor_id, "input": [user("x")]},
    "RegenerateFloor": lambda t: {"floor_id": t.floor_id},
    "MoveHead": lambda t: {"session_id": t.session_id, "floor_id": t.floor_id},
    "SelectSibling": lambda t: {"session_id": t.session_id, "floor_id": t.floor_id},
    "CreateBranch": lambda t: {"session_id": t.session_id, "name": "new", "floor_id": t.floor_id},
    "DeleteBranch": lambda t: {"session_id": t.session_id, "branch": "side"},
    "MergeBranch": lambda t: {"session_id": t.session_id, "source_branch": "side"},
    "WriteState": lambda t: {"session_id": t.session_id, "variables": [{"key": "a", "value_json": "1"}]},
    "Respond": lambda t: {"session_id": t.session_id, "input": {"messages": [user("x")]}},
    "SubmitToolResults": lambda t: {"run_id": t.run_id, "results": [{"call_id": "call_1"}]},
    "StageWrite": lambda t: proposal(t.session_id),
    "AcceptStagedWrite": lambda t: {"staged_write_id": t.staged_write_id, "reason": "r"},
}
READS: dict[str, Fields] = {
    "GetSession": lambda t: {"session_id": t.session_id},
    "GetEffectiveConfig": lambda t: {"session_id": t.session_id},
    "ListConfigVersions": lambda t: {"session_id": t.session_id},
    "GetConfigVersion": lambda t: {"session_id": t.session_id, "version": 1},
    "ListBranches": lambda t: {"session_id": t.session_id},
    "DiffBranches": lambda t: {"session_id": t.session_id, "target": "side"},
    "ListHeadMoves": lambda t: {"session_id": t.session_id, "branch": "main"},
    "GetFloor": lambda t: {"floor_id": t.floor_id},
    "ListSiblings": lambda t: {"floor_id": t.floor_id},
    "ListPages": lambda t: {"floor_id": t.floor_id},
    "ListPath": lambda t: {"session_id": t.session_id},
    "GetTree": lambda t: {"session_id": t.session_id},
    "SearchMessages": lambda t: {"session_id": t.session_id, "query": "hello"},
    "AssembleContext": lambda t: {"session_id": t.session_id},
    "ExplainFloor": lambda t: {"floor_id": t.floor_id},
    "DiffContexts": lambda t: {"left_floor_id": t.floor_id, "right_floor_id": t.open_floor_id},
    "AttachRun": lambda t: {"run_id": t.run_id},
    "GetRun": lambda t: {"run_id": t.run_id},
    "GetState": lambda t: {"session_id": t.session_id},
    "ListMemory": lambda t: {"session_id": t.session_id},
    "VerifySession": lambda t: {"session_id": t.session_id},
    "ExportSession": lambda t: {"session_id": t.session_id},
    "GetSnapshot": lambda t: {"session_id": t.session_id},
    "GetStagedWrite": lambda t: {"staged_write_id": t.staged_write_id},
    "PreviewStagedWrite": lambda t: {"staged_write_id": t.staged_write_id},
}
# Writes that an archived session takes, or that come too late for its run.
OTHERS: dict[str, Fields] = {
    "RestoreSession": lambda t: {"session_id": t.session_id},
    "CancelRun": lambda t: {"run_id": t.run_id},
    "DeleteSession": lambda t: {"session_id": t.session_id},
    "RejectStagedWrite": lambda t: {"staged_write_id": t.staged_write_id, "reason": "r"},
    "WithdrawStagedWrite": lambda t: {"staged_write_id": t.staged_write_id, "reason": "r"},
}
# RPCs that name no session, make one, or name one in each message.
APART = {
    "CreateProject",
    "GetProject",
    "ListProjects",
    "UpdateProject",
    "ArchiveProject",
    "RestoreProject",
    "SetProjectMember",
    "RemoveProjectMember",
    "ListProjectMembers",
    "CreateSession",
    "ListSessions",
    "ImportSessions",
    "AppendFloors",
    "ListEvents",
    "WatchEvents",
    "ListStagedWrites",
    "Introspect",
    "ListAuditEntries",
    "CreateApiKey",
    "ErasePrincipal",
    "RevokeApiKey",
    "ListApiKeys",
}


def test_no_rpc_is_forgotten() -> None:
    assert set(METHODS) == {*WRITES, *READS, *OTHERS} | APART
    for name in METHODS:
        assert name in APART or writes(name) == (name in WRITES or name in OTHERS), name


async def answered(stage: Stage, name: str, fields: dict[str, Any]) -> Any:
    """The answer; of a stream, its messages."""
    if METHODS[name].server_streaming:
        return [message async for message in stage.client.stream(name, request_for(name, **fields))]
    return await stage.call(name, **fields)


async def refusals(stage: Stage, there: Things) -> dict[str, Refusal]:
    return {
        name: await stage.client.refusal(name, request_for(name, **fields(there)))
        for name, fields in (WRITES | READS | OTHERS).items()
    }


@on_the_stages_loop
async def test_an_archived_session_is_read_and_not_written(stage: Stage) -> None:
    there = await things(stage)
    await stage.call("ArchiveSession", session_id=there.session_id)
    before = await stage.rows()
    for name, fields in WRITES.items():
        assert await stage.client.refused(name, **fields(there)) == ARCHIVED, name
    assert await stage.rows() == before
    for name, fields in READS.items():
        assert await answered(stage, name, fields(there)), name
    late = await stage.client.refused("CancelRun", run_id=there.run_id)
    assert late.code == "FAILED_PRECONDITION"
    assert (await stage.call("RestoreSession", session_id=there.session_id)).session.state == 1
    await stage.turn(there.session_id)


@on_the_stages_loop
async def test_a_deleted_session_is_not_found(stage: Stage) -> None:
    there = await things(stage)
    await stage.call("DeleteSession", session_id=there.session_id)
    before = await stage.rows()
    for name, refusal in (await refusals(stage, there)).items():
        assert refusal == GONE, name
    assert await stage.rows() == before


async def of_canon(stage: Stage) -> dict[str, int]:
    """Rows by table, but for the audit, which writes down by itself what was done before."""
    return {name: rows for name, rows in (await stage.rows()).items() if not name.startswith("audit_")}


@on_the_stages_loop
async def test_bad_input_16(own_stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A foreign session answers exactly as one that never was."""
    with monkeypatch.context() as elsewhere:
        other = Identity("other", "local", frozenset({"owner", "service"}))
        elsewhere.setattr(LocalAuthenticator, "_LOCAL", other)
        foreign = await things(own_stage)
    random = Things(*(new_id() for _ in range(6)))
    before = await of_canon(own_stage)
    found = await refusals(own_stage, foreign)
    assert found == await refusals(own_stage, random)
    assert dict.fromkeys(found, GONE) == found
    assert await of_canon(own_stage) == before
    assert not (await own_stage.call("ListSessions")).sessions
