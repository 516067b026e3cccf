"""Sessions: changing, archiving and restoring, greetings."""

import asyncio

import pytest
from stemma.kernel.v1 import message_pb2, session_pb2

from tests.projects.stage import Stage, mask, on_stage
from tests.support.client import Refusal, request_for, texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_update_changes_title_and_configuration(own_stage: Stage) -> None:
    session = await own_stage.session(title="a")
    request = request_for(
        "UpdateSession",
        session_id=session.session_id,
        title="b",
        config={"greetings": ["hi"], "model": {"stop": ["x"]}},
        expected_version=1,
        update_mask=mask("title", "config.greetings"),
    )
    updated = (await own_stage.client.send("UpdateSession", request)).session
    assert (updated.title, updated.version, list(updated.config.greetings)) == ("b", 2, ["hi"])
    assert not updated.config.HasField("model")
    await own_stage.turn(session.session_id)
    assert (await own_stage.client.send("UpdateSession", request)).session == updated
    request.title = "c"
    assert (await own_stage.client.refusal("UpdateSession", request)).reason == "REQUEST_ID_REUSED"
    assert (await own_stage.types())[:3] == ["session.created", "session.updated", "config.changed"]


async def test_a_repeated_creation_answers_as_it_did(stage: Stage) -> None:
    request = request_for("CreateSession", title="a")
    first = await stage.client.raw("CreateSession", request)
    session_id = (await stage.client.send("CreateSession", request)).session.session_id
    await stage.turn(session_id)
    await stage.call("UpdateSession", session_id=session_id, title="b", update_mask=mask("title"))
    await stage.call("ArchiveSession", session_id=session_id)
    assert await stage.client.raw("CreateSession", request) == first


async def test_archiving_fails_what_is_pending_and_cancels_its_run(migrated_url: str) -> None:
    started, go = asyncio.Event(), asyncio.Event()

    async def gate(index: int) -> None:
        if index:
            started.set()
            await go.wait()

    async with on_stage(migrated_url, gate) as stage:
        session_id = (await stage.session()).session_id
        await stage.call(
            "CreateBranch",
            session_id=session_id,
            name="side",
            floor_id=(await stage.turn(session_id)).floor_id,
        )
        opened = (
            await stage.call("OpenFloor", session_id=session_id, branch="side", input=[user("q")])
        ).floor
        request = request_for("Respond", session_id=session_id, input={"messages": [user("one two three")]})
        run = stage.client.stream("Respond", request)
        first = (await anext(aiter(run))).event
        await asyncio.wait_for(started.wait(), 20)
        archived = (await stage.call("ArchiveSession", session_id=session_id)).session
        assert archived.state == session_pb2.SESSION_STATE_ARCHIVED
        frames = [answer.event async for answer in run]
        assert frames[-1].WhichOneof("event") == "cancelled"
        for floor_id in (opened.floor_id, first.floor_id):
            floor = (await stage.call("GetFloor", floor_id=floor_id)).floor
            assert (floor.state, floor.failure_reason) == (4, "ARCHIVED")
        branches = (await stage.call("ListBranches", session_id=session_id)).branches
        assert [b.pending_floor_id for b in branches] == ["", ""]
        go.set()
        restored = (await stage.call("RestoreSession", session_id=session_id)).session
        assert restored.state == session_pb2.SESSION_STATE_ACTIVE
        await stage.turn(session_id)
        assert [k for k in await stage.types() if k.startswith("session.")] == [
            "session.created",
            "session.archived",
            "session.restored",
        ]


async def test_archived_sessions_are_listed_by_their_state(own_stage: Stage) -> None:
    kept, gone = await own_stage.session(), await own_stage.session()
    await own_stage.call("ArchiveSession", session_id=gone.session_id)
    for state, expected in ((1, kept), (2, gone)):
        (found,) = (await own_stage.call("ListSessions", state=state)).sessions
        assert found.session_id == expected.session_id
    assert (await own_stage.call("RestoreSession", session_id=kept.session_id)).session.state == 1
    assert (await own_stage.types()).count("session.restored") == 0


async def test_a_greeting_begins_the_conversation(stage: Stage) -> None:
    project = await stage.project(config={"greetings": ["hello", "welcome"]})
    answer = await stage.call("CreateSession", project_id=project.project_id, greeting_index=1)
    session_id = answer.session.session_id
    (floor,) = (await stage.call("ListPath", session_id=session_id)).floors
    assert answer.branch.head_floor_id == floor.floor_id
    assert not floor.HasField("input_page")
    assert (floor.output_page.source, texts(floor.output_page)) == ("client", ["welcome"])
    assert floor.output_page.messages[0].role == message_pb2.ROLE_ASSISTANT
    assert await stage.types(project.project_id) == ["project.created", "session.created", "floor.committed"]
    moves = (await stage.call("ListHeadMoves", session_id=session_id, branch="main")).head_moves
    assert [(move.kind, move.to_floor_id) for move in moves] == [("commit", floor.floor_id)]
    context = await stage.call("AssembleContext", session_id=session_id)
    assert [m.parts[0].text.text for m in context.messages] == ["welcome"]


async def test_a_session_can_bring_its_own_greetings(stage: Stage) -> None:
    project = await stage.project(config={"greetings": ["hello"]})
    own = {"config": {"greetings": ["a", "b"]}, "greeting_index": 0}
    answer = await stage.call("CreateSession", project_id=project.project_id, **own)
    (floor,) = (await stage.call("ListPath", session_id=answer.session.session_id)).floors
    assert texts(floor.output_page) == ["a"]


@pytest.mark.parametrize("index", [-1, 2, 2**31 - 1])
async def test_a_greeting_that_there_is_not_is_invalid(stage: Stage, index: int) -> None:
    before = await stage.rows()
    refusal = await stage.client.refused(
        "CreateSession", config={"greetings": ["a", "b"]}, greeting_index=index
    )
    assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "INVALID")
    refusal = await stage.client.refused("CreateSession", config={}, greeting_index=0)
    assert refusal.reason == "INVALID"
    after = await stage.rows()
    assert (after["session"], after["floor"]) == (before["session"], before["floor"])


async def test_without_an_index_a_greeting_is_only_data(stage: Stage) -> None:
    answer = await stage.call("CreateSession", config={"greetings": ["a"]})
    assert answer.branch.head_floor_id == answer.session.root_floor_id


async def test_stale_versions_of_a_session_are_refused(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    fields = {"session_id": session_id, "title": "x", "update_mask": mask("title")}
    await stage.call("UpdateSession", expected_version=1, **fields)
    refusal = await stage.client.refused("UpdateSession", expected_version=1, **fields)
    assert refusal == Refusal("ABORTED", "VERSION_MOVED", {"current_version": "2"})
