"""Each write that was acknowledged has exactly one entry, with ids and never a word; a repeat adds none, and
a write that failed has none. Every write of both services, found by reflection."""

import grpc
from google.protobuf.message import Message
from stemma.conversation.v1 import session_service_pb2_grpc

from tests.audit.looking import acknowledged, entries, fault, told
from tests.drafts import life
from tests.drafts.stage import Stage as BothStages
from tests.e2e.test_append_floors import answers as append
from tests.e2e.test_append_floors import item
from tests.events.test_emission import FACTS, ask, places
from tests.projects.stage import Stage, new_id
from tests.support.client import DRAFT_METHODS, METHODS, assistant, request_for, user, writes
from tests.transfers.files import Files

CANARY = "a-word-of-somebody's"
# Runs with tools are the kernel's, and are told of drafts below.
ELSEWHERE = {"CancelRun", "SubmitToolResults"}
EXPORT = {"target": {"placement": "PLACEMENT_NEXT_FLOOR"}, "parts": [{"output_page": {}}], "reason": CANARY}


async def _also(stage: Stage) -> list[tuple[str, Message]]:
    """Writes that need a ground of their own."""
    project = (await stage.project()).project_id
    session = (await stage.session(project_id=project)).session_id
    key = (await stage.call("CreateApiKey", principal="somebody", title=CANARY)).api_key.api_key_id
    live = [{"key": "mood", "value_json": f'"{CANARY}"', "scope": 3}]
    lines = [
        ("WriteState", {"project_id": project, "variables": live}),
        ("ArchiveSession", {"session_id": session}),
        ("RestoreSession", {"session_id": session}),
        ("ArchiveProject", {"project_id": project}),
        ("RestoreProject", {"project_id": project}),
        ("CreateProject", {"title": CANARY}),
        ("RevokeApiKey", {"api_key_id": key}),
        ("ErasePrincipal", {"principal": "somebody who left"}),
    ]
    return [(name, request_for(name, **fields)) for name, fields in lines]


async def accepted(stage: Stage, name: str, request: Message) -> bool:
    try:
        if METHODS[name].server_streaming:
            await stage.client.frames(name, request)
        else:
            await stage.client.raw(name, request)
    except grpc.aio.AioRpcError:
        return False
    return True


async def test_each_write_has_one_entry_and_a_repeat_none(stage: Stage) -> None:
    asked: list[tuple[str, Message]] = []
    at = await places(stage)
    for name, cases in FACTS.items():
        fields, _ = cases[0]
        request = request_for(name, **fields(at))
        if not await accepted(stage, name, request):
            # After what was done before it: on fresh ground.
            at = await places(stage)
            request = request_for(name, **fields(at))
            assert await accepted(stage, name, request), name
        asked.append((name, request))
    for name, request in await _also(stage):
        asked.append((name, request))
        await ask(stage, name, request)
    await _streamed(stage)
    once = await entries(stage.client)
    assert told(once) == await acknowledged(stage.service.service.store)
    assert {one.action for one in once} >= set(filter(writes, METHODS)) - ELSEWHERE
    for name, request in asked:
        await ask(stage, name, request)
    assert len(await entries(stage.client)) == len(once)
    assert all(one.number == number for number, one in enumerate(reversed(once), 1))
    assert await fault(stage.service.service.store) is None


async def _streamed(stage: Stage) -> None:
    """Two items of AppendFloors, and a file with one conversation, twice."""
    session = (await stage.session()).session_id
    address = stage.service.address
    await append(address, [item(session, text) for text in ("one", "two")])
    async with grpc.aio.insecure_channel(address) as channel:
        stub = session_service_pb2_grpc.SessionServiceStub(channel)
        files = Files(stage.service, stage.client, stub)
        whole, request_id = await files.exported(session), new_id()
        for _ in range(2):
            await files.imported("stemma", whole, request_id)


async def test_a_write_that_fails_has_none(stage: Stage) -> None:
    session = (await stage.session()).session_id
    before = await entries(stage.client)
    refused = await stage.client.refused("AbandonFloor", floor_id=new_id())
    assert refused.code == "NOT_FOUND"
    stale = await stage.client.refused(
        "AppendFloor", session_id=session, expected_head=new_id(), input=[user("a")], output=[assistant("b")]
    )
    assert stale.code == "ABORTED"
    assert await entries(stage.client) == before


async def test_an_entry_says_what_was_done_to_what(stage: Stage) -> None:
    project = (await stage.project(title=CANARY)).project_id
    session = (await stage.session(project_id=project, title=CANARY)).session_id
    floor = (await stage.turn(session, CANARY)).floor_id
    await stage.call("CreateBranch", session_id=session, name=CANARY.replace("'", ""), floor_id=floor)
    await stage.call("SetProjectMember", project_id=project, principal="somebody", role=2)
    member, branch, turn, made, first = (await entries(stage.client))[:5]
    targets = [(one.action, one.target_kind, one.target_id) for one in (first, made, turn, branch, member)]
    assert targets == [
        ("CreateProject", "project", project),
        ("CreateSession", "session", session),
        ("AppendFloor", "floor", floor),
        ("CreateBranch", "floor", floor),
        ("SetProjectMember", "member", "somebody"),
    ]
    assert {one.project_id for one in (first, made, turn, branch, member)} == {project}
    assert [one.session_id for one in (first, made, turn, branch)] == ["", session, session, session]
    for where in (
        {"target": "somebody"},
        {"action": "SetProjectMember"},
        {"request_id": member.request_id},
    ):
        assert await entries(stage.client, **where) == [member], where
    assert await entries(stage.client, session_id=session) == [branch, turn, made]
    assert await entries(stage.client, session_id=session, page_size=1) == [branch, turn, made]
    assert await entries(stage.client, principal="nobody") == []
    assert await entries(stage.client, outcome="PERMISSION_DENIED") == []
    found = await stage.everywhere(CANARY.replace("'", ""))
    assert found
    assert not [table for table in found if table.startswith("audit")]


async def test_what_was_done_to_a_session_stays_when_it_is_deleted(stage: Stage) -> None:
    """Deleted before anything of it was sealed: what it was, and in which project, is told all the same."""
    project = (await stage.project()).project_id
    session = (await stage.session(project_id=project)).session_id
    turn = (await stage.turn(session)).floor_id
    await stage.call("CreateBranch", session_id=session, name="side", floor_id=turn)
    branched = (await stage.turn(session, branch="side")).floor_id
    await stage.call("DeleteSession", session_id=session)
    found = await entries(stage.client, session_id=session)
    assert {(one.action, one.target_id) for one in found} == {
        ("CreateSession", session),
        ("AppendFloor", turn),
        ("CreateBranch", turn),
        ("AppendFloor", branched),
        ("DeleteSession", session),
    }
    assert {one.project_id for one in found} == {project}


async def test_drafts_have_their_own_and_what_they_stage_is_said_to_be_for_somebody(both: BothStages) -> None:
    """Every write of a draft's life, its ends, and the one thing that it leaves in canon (D1)."""
    session_id = await life.source(both, CANARY)
    project = (await both.client.call("GetSession", session_id=session_id)).session.project_id
    before = len(await entries(both.client))
    draft_id = await life.made(both, session_id, CANARY)
    await life.lived(both.draft, draft_id, CANARY)
    await both.draft.call("ExportDraft", draft_id=draft_id, **EXPORT)
    for verb, draft in (
        ("FinalizeDraft", draft_id),
        ("DiscardDraft", (await both.draft.draft(session_id=session_id)).draft_id),
        ("CancelDraft", (await both.draft.draft(session_id=session_id)).draft_id),
    ):
        await both.draft.call(verb, draft_id=draft)
    await both.over(draft_id, "purge_time")
    await both.draft.sweep()
    await both.draft.call("ErasePrincipal", principal="somebody who left")
    found = await entries(both.client_of_drafts, "draft.ListAuditEntries")
    assert told(found) == await acknowledged(both.draft.service.store)
    named = {name.removeprefix("draft.") for name in filter(writes, DRAFT_METHODS)}
    assert {one.action for one in found} == named | {"PurgeDraft"}
    of_one = await entries(both.client_of_drafts, "draft.ListAuditEntries", session_id=draft_id)
    assert {one.project_id for one in of_one} == {project}
    assert (of_one[0].action, of_one[0].principal) == ("PurgeDraft", "system")
    assert CANARY not in repr(found)
    assert await fault(both.draft.service.store) is None
    (staged,) = (await entries(both.client))[:-before]
    assert (staged.action, staged.target_kind) == ("StageWrite", "staged_write")
    assert (staged.on_behalf_of, staged.session_id, staged.project_id) == ("local", session_id, project)
