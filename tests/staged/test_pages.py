"""Accepting an output page: every row of the contract's table, and what a refusal leaves (L3)."""

import asyncio
import json

import pytest
from stemma.kernel.v1 import floor_pb2, message_pb2

from tests.staged.stage import ACCEPTED, STAGED, Stage, a_stage, new_id, page
from tests.support.client import request_for, text_of, texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")
TOOLS = [
    message_pb2.Message(
        role=message_pb2.ROLE_ASSISTANT,
        parts=[
            {"tool_call": {"call_id": "c", "name": "look", "arguments_json": '{"n":9007199254740993}'}},
            {"file": {"media_type": "text/plain", "name": "a.txt", "data": b"bytes"}},
        ],
    ),
    message_pb2.Message(
        role=message_pb2.ROLE_TOOL, parts=[{"tool_result": {"call_id": "c", "content": "seen"}}]
    ),
    message_pb2.Message(role=message_pb2.ROLE_ASSISTANT, parts=[{"text": {"text": "I looked."}}]),
]


async def open_floor(stage: Stage) -> floor_pb2.Floor:
    answer = await stage.client.call("OpenFloor", session_id=stage.session_id, input=[user("well?")])
    return answer.floor


async def test_a_committed_floor_gets_a_sibling(stage: Stage) -> None:
    """Never stale, with author, tool calls and files intact, at its place for everybody; the head stays."""
    first, second = await stage.turn(), await stage.turn()
    target = {"floor_id": first.floor_id, "placement": "PLACEMENT_OUTPUT_OF_FLOOR"}
    parts = [{"output_page": {"output": TOOLS}}]
    entry = await stage.staged(*parts, target=target, on_behalf_of="author")
    await stage.turn()
    before, count = await stage.head(), len(await stage.types())
    answer = await stage.accept(entry)
    floor = answer.floor
    assert (floor.state, floor.principal) == (floor_pb2.FLOOR_STATE_COMMITTED, "author")
    assert (floor.parent_floor_id, floor.depth) == (first.parent_floor_id, 1)
    assert floor.input_page.page_id == first.input_page.page_id
    assert [list(m.parts) for m in floor.output_page.messages] == [list(m.parts) for m in TOOLS]
    assert (floor.output_page.source, floor.output_page.partial) == ("staged", False)
    assert not answer.HasField("branch")
    assert await stage.head() == before
    found = await stage.siblings(first)
    assert [one.floor_id for one in found.floors] == [first.floor_id, floor.floor_id]
    assert found.current_floor_id == first.floor_id
    assert await stage.types(count) == ["floor.committed", "staged_write.accepted"]
    accepted = answer.staged_write
    assert (accepted.state, accepted.result_floor_id) == (ACCEPTED, floor.floor_id)
    assert (accepted.decided_by, accepted.decision_reason) == ("local", "good")
    assert not accepted.accepted_stale
    stored = await stage.entry(entry)
    assert (stored.state, stored.decide_time) == (ACCEPTED, accepted.decide_time)
    assert await stage.verified() == []
    # It can be gone to and built on like any other.
    await stage.select(floor)
    assert await stage.head() == floor.floor_id
    assert second.floor_id not in await stage.client.path_ids(stage.session_id)
    await stage.service.service.following.indexer.caught_up()
    hits = await stage.client.call("SearchMessages", session_id=stage.session_id, query="looked", scope=2)
    assert [hit.floor_id for hit in hits.hits] == [floor.floor_id]


async def test_select_moves_the_head_to_the_sibling(stage: Stage) -> None:
    floor = await stage.turn()
    entry = await stage.for_floor(floor.floor_id)
    refused = await stage.not_accepted(entry, select=True)
    assert (refused.code, refused.reason) == ("INVALID_ARGUMENT", "INVALID")
    refused = await stage.not_accepted(entry, select=True, expected_head=new_id())
    assert (refused.code, refused.reason) == ("ABORTED", "HEAD_MOVED")
    assert refused.metadata["current_head"] == floor.floor_id
    refused = await stage.not_accepted(entry, expected_head=new_id())
    assert refused.reason == "HEAD_MOVED"
    opened = await open_floor(stage)
    refused = await stage.not_accepted(entry, select=True, expected_head=floor.floor_id)
    assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "FLOOR_PENDING")
    await stage.client.call("AbandonFloor", floor_id=opened.floor_id)
    answer = await stage.accept(entry, select=True, expected_head=floor.floor_id)
    assert answer.branch.head_floor_id == answer.floor.floor_id == await stage.head()
    moves = await stage.client.call("ListHeadMoves", session_id=stage.session_id, branch="main")
    assert (moves.head_moves[0].kind, moves.head_moves[0].principal) == ("commit", "local")
    event = next(e for e in reversed(await stage.events()) if e.type == "floor.committed")
    assert json.loads(event.payload_json)["from_floor_id"] == floor.floor_id
    # Back goes to the one that was left (T6).
    await stage.select(floor)
    assert await stage.head() == floor.floor_id


async def test_an_open_floor_gets_a_candidate(stage: Stage) -> None:
    await stage.turn()
    opened = await open_floor(stage)
    entries = [await stage.for_floor(opened.floor_id, text) for text in ("one", "two", "three")]
    first = await stage.accept(entries[0])
    assert first.floor.state == floor_pb2.FLOOR_STATE_OPEN
    assert not first.floor.HasField("output_page")
    assert first.staged_write.result_floor_id == opened.floor_id
    chosen = await stage.accept(entries[1], select=True)
    assert texts(chosen.floor.output_page) == ["two"]
    await stage.accept(entries[2])
    pages = (await stage.client.call("ListPages", floor_id=opened.floor_id)).pages
    assert [texts(one) for one in pages] == [["well?"], ["one"], ["two"], ["three"]]
    assert [one.source for one in pages] == ["client", "staged", "staged", "staged"]
    assert "floor.committed" not in (await stage.types())[-5:]
    done = await stage.client.call("CommitFloor", floor_id=opened.floor_id)
    assert texts(done.floor.output_page) == ["two"]
    assert await stage.verified() == []


async def test_a_floor_that_is_being_written(migrated_url: str) -> None:
    go = asyncio.Event()

    async def wait(_piece: int) -> None:
        await go.wait()

    async with a_stage(migrated_url, gate=wait) as stage:
        request = request_for("Respond", session_id=stage.session_id, input={"messages": [user("well?")]})
        frames = stage.client.stream("Respond", request)
        started = (await anext(aiter(frames))).event
        entry = await stage.for_floor(started.floor_id)
        refused = await stage.client.refused(
            "AcceptStagedWrite", staged_write_id=entry.staged_write_id, reason="good"
        )
        assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "RUN_ACTIVE")
        assert refused.metadata == {"run_id": started.run_id}
        go.set()
        last = [answer.event async for answer in frames][-1]
        assert last.WhichOneof("event") == "floor_committed"
        assert (await stage.accept(entry)).floor.ordinal == 1


async def test_a_floor_that_failed(stage: Stage) -> None:
    opened = await open_floor(stage)
    entry = await stage.for_floor(opened.floor_id)
    await stage.client.call("AbandonFloor", floor_id=opened.floor_id)
    refused = await stage.not_accepted(entry)
    assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "FLOOR_FAILED")
    assert (await stage.entry(entry)).state == STAGED
    assert [c.reason for c in (await stage.preview(entry)).conflicts] == ["FLOOR_FAILED"]


async def test_a_next_floor_becomes_the_head(stage: Stage) -> None:
    base = await stage.turn()
    entry = await stage.staged(page("Yes.", asked="Is it?"), on_behalf_of="author")
    count = len(await stage.types())
    answer = await stage.accept(entry, expected_head=base.floor_id)
    floor = answer.floor
    assert (floor.parent_floor_id, floor.principal) == (base.floor_id, "author")
    assert (texts(floor.input_page), texts(floor.output_page)) == (["Is it?"], ["Yes."])
    assert answer.branch.head_floor_id == floor.floor_id == await stage.head()
    assert await stage.types(count) == ["floor.committed", "staged_write.accepted"]
    assert await stage.verified() == []


async def test_a_greeting_in_an_empty_session(stage: Stage) -> None:
    """Below the root; and rejecting one leaves nothing in the tree."""
    tree = await stage.client.call("GetTree", session_id=stage.session_id)
    refused = await stage.staged(page("Hello."))
    await stage.client.call("RejectStagedWrite", staged_write_id=refused.staged_write_id, reason="no")
    assert await stage.client.call("GetTree", session_id=stage.session_id) == tree
    answer = await stage.accept(await stage.staged(page("Hello.")))
    assert answer.floor.depth == 1
    assert not answer.floor.HasField("input_page")


async def test_a_head_that_moved_is_stale(stage: Stage) -> None:
    base = await stage.turn()
    entry = await stage.staged(page())
    moved = await stage.turn()
    for fields in ({}, {"expected_head": moved.floor_id}):
        refused = await stage.not_accepted(entry, **fields)
        assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "STALE")
        assert refused.metadata == {"base": base.floor_id, "current": moved.floor_id}
    seen = await stage.preview(entry)
    assert seen.stale
    assert [(c.reason, dict(c.metadata)) for c in seen.conflicts] == [("STALE", refused.metadata)]
    refused = await stage.not_accepted(entry, allow_stale=True, expected_head=base.floor_id)
    assert (refused.code, refused.reason) == ("ABORTED", "HEAD_MOVED")
    answer = await stage.accept(entry, allow_stale=True, expected_head=moved.floor_id)
    assert answer.floor.parent_floor_id == moved.floor_id
    assert answer.staged_write.accepted_stale
    assert (await stage.entry(entry)).accepted_stale
    event = (await stage.events())[-1]
    assert json.loads(event.payload_json)["stale"] == 1


async def test_a_head_that_came_back_is_not_stale(stage: Stage) -> None:
    base = await stage.turn()
    entry = await stage.staged(page())
    await stage.turn()
    await stage.move(base.floor_id)
    answer = await stage.accept(entry)
    assert not answer.staged_write.accepted_stale
    assert answer.floor.ordinal == 1


async def test_a_pending_floor_and_an_archive_stand_in_the_way(stage: Stage) -> None:
    await stage.turn()
    entry = await stage.staged(page())
    opened = await open_floor(stage)
    refused = await stage.not_accepted(entry)
    assert (refused.reason, refused.metadata) == ("FLOOR_PENDING", {"pending_floor_id": opened.floor_id})
    assert [c.reason for c in (await stage.preview(entry)).conflicts] == ["FLOOR_PENDING"]
    await stage.client.call("ArchiveSession", session_id=stage.session_id)
    refused = await stage.not_accepted(entry)
    assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "ARCHIVED")
    assert [c.reason for c in (await stage.preview(entry)).conflicts] == ["ARCHIVED"]
    assert (await stage.entry(entry)).state == STAGED
    await stage.client.call("RestoreSession", session_id=stage.session_id)
    await stage.client.call("ArchiveProject", project_id=stage.project_id)
    assert (await stage.not_accepted(entry)).reason == "ARCHIVED"
    await stage.client.call("RestoreProject", project_id=stage.project_id)
    await stage.accept(entry)


async def test_another_branch(stage: Stage) -> None:
    floor = await stage.turn()
    await stage.client.call("CreateBranch", session_id=stage.session_id, name="side", floor_id=floor.floor_id)
    entry = await stage.staged(page(), target=stage.target("NEXT_FLOOR", branch="side"))
    await stage.turn()
    answer = await stage.accept(entry)
    assert answer.branch.name == "side"
    assert await stage.head("side") == answer.floor.floor_id
    gone = await stage.staged(page(), target=stage.target("NEXT_FLOOR", branch="side"))
    await stage.client.call("DeleteBranch", session_id=stage.session_id, branch="side")
    assert (await stage.not_accepted(gone)).code == "NOT_FOUND"
    assert [c.reason for c in (await stage.preview(gone)).conflicts] == ["NOT_FOUND"]


async def test_the_next_turn_is_sent_what_was_accepted(stage: Stage) -> None:
    await stage.turn()
    await stage.accept(await stage.staged(page("the accepted words", asked="and?")))
    context = await stage.client.call("AssembleContext", session_id=stage.session_id)
    assert [text_of(message) for message in context.messages][-2:] == ["and?", "the accepted words"]
