"""Several output pages in one run, and runs that are held: streamed side by side, then one is chosen."""

import pytest
from google.protobuf.message import Message
from stemma.kernel.v1 import floor_pb2, run_pb2

from kernel.tree.model import Role
from tests.runs.stage import Stage, as_bytes, end_of, kinds, text_of_frames
from tests.support.client import request_for, texts, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

OPEN, COMMITTED = floor_pb2.FLOOR_STATE_OPEN, floor_pb2.FLOOR_STATE_COMMITTED


def pages_of(frames: list[run_pb2.RunEvent]) -> list[Message]:
    return [frame.page_completed.page for frame in frames if frame.HasField("page_completed")]


def text_on(frames: list[run_pb2.RunEvent], page_id: str) -> str:
    return text_of_frames(frame for frame in frames if frame.text_delta.page_id == page_id)


async def _floor_pages(stage: Stage, floor_id: str) -> list[list[str]]:
    listed = (await stage.other.call("ListPages", floor_id=floor_id)).pages
    return sorted(texts(page) for page in listed if page.slot == 2)


async def test_by_count(stage: Stage, session: str) -> None:
    part = stage.part({"text": "one"}, {"text": "two"}, {"text": "three"})
    frames = await stage.watch(session, part, candidate_count=3).end()
    pages = pages_of(frames)
    assert kinds(frames)[-1] == "held"
    assert sorted(texts(page) for page in pages) == [["one"], ["three"], ["two"]]
    assert [text_on(frames, page.page_id) for page in pages] == [texts(page)[0] for page in pages]
    floor = end_of(frames)
    assert (floor.state, floor.output_page) == (OPEN, pages[0])
    assert await stage.floor(floor.floor_id) == floor
    assert await _floor_pages(stage, floor.floor_id) == [["one"], ["three"], ["two"]]
    assert (await stage.run(frames[0].run_id)).state == run_pb2.RUN_STATE_HELD
    # One is chosen, and nothing else is on the path.
    chosen = pages[2].page_id
    done = await stage.client.call("CommitFloor", floor_id=floor.floor_id, page_id=chosen)
    assert (done.floor.state, done.floor.output_page.page_id) == (COMMITTED, chosen)
    path = (await stage.other.call("ListPath", session_id=session)).floors
    assert [on_path.output_page.page_id for on_path in path] == [chosen]
    # Another later, as a sibling.
    later = await stage.client.call("RegenerateFloor", floor_id=floor.floor_id, from_page_id=pages[1].page_id)
    assert texts(later.floor.output_page) == texts(pages[1])


async def test_by_instructions(stage: Stage, session: str) -> None:
    part = stage.part({"text": "short"}, {"text": "bold"})
    wishes = [
        {"instruction": "Be brief.", "temperature": 0.25},
        {"instruction": "Be bold.", "model": "other"},
    ]
    frames = await stage.watch(session, part, candidates=wishes).end()
    assert kinds(frames)[-1] == "held"
    sent = {request.messages[-1].text: request for request in part.sent}
    assert set(sent) == {"Be brief.", "Be bold."}
    assert {request.messages[-1].role for request in part.sent} == {Role.SYSTEM}
    assert (sent["Be brief."].model.temperature, sent["Be bold."].model.name) == (0.25, "other")
    # An instruction is of this run alone.
    floor = end_of(frames)
    await stage.client.call("CommitFloor", floor_id=floor.floor_id)
    context = await stage.other.call("AssembleContext", session_id=session)
    assert "Be " not in str(context.messages)


async def test_one_that_is_held(stage: Stage, session: str) -> None:
    request = request_for("Respond", session_id=session, input=stage.part().input, hold=True)
    frames = await stage.sent(request).end()
    assert kinds(frames)[-2:] == ["page_completed", "held"]
    floor = end_of(frames)
    assert (floor.state, floor.output_page) == (OPEN, frames[-2].page_completed.page)
    # Another page of the client's own; a repeat shows the run as it ended.
    await stage.client.call(
        "AddPage", floor_id=floor.floor_id, slot=2, messages=[user("mine")], activate=True
    )
    stage.service.service.generation.hub._finished.clear()
    assert as_bytes(await stage.sent(request).rest()) == as_bytes(frames[-1:])
    await stage.client.call("CommitFloor", floor_id=floor.floor_id, page_id=floor.output_page.page_id)
    assert as_bytes(await stage.sent(request).rest()) == as_bytes(frames[-1:])
    assert as_bytes(await stage.attach(frames[0].run_id, frames[1]).rest()) == as_bytes(frames[2:])


async def test_a_held_floor_is_written_again(stage: Stage, session: str) -> None:
    part = stage.part({"text": "one"}, {"text": "two"})
    first = end_of(await stage.watch(session, part, hold=True).end())
    again = end_of(await stage.respond(resume={"floor_id": first.floor_id}, hold=True).end())
    assert (again.floor_id, texts(again.output_page)) == (first.floor_id, ["two"])
    assert await _floor_pages(stage, first.floor_id) == [["one"], ["two"]]
    await stage.client.call("AbandonFloor", floor_id=first.floor_id)


async def test_a_candidate_that_fails_leaves_the_others(stage: Stage, session: str) -> None:
    failing = {"deltas": ["half "], "fail": {"reason": "PROVIDER_UNAVAILABLE", "after": 1}}
    frames = await stage.watch(session, stage.part({"text": "whole"}, failing), candidate_count=2).end()
    assert kinds(frames)[-1] == "held"
    assert [(texts(page), page.partial) for page in pages_of(frames)] == [
        (["whole"], False),
        (["half "], True),
    ]
    assert texts(end_of(frames).output_page) == ["whole"]
    await stage.client.call("CommitFloor", floor_id=end_of(frames).floor_id)


async def test_when_all_fail_the_floor_fails_with_what_there_is(stage: Stage, session: str) -> None:
    replies = [
        {"deltas": [text], "fail": {"reason": "PROVIDER_INVALID", "after": 1}} for text in ("a ", "b ")
    ]
    frames = await stage.watch(session, stage.part(*replies), candidate_count=2).end()
    assert (kinds(frames)[-1], frames[-1].failed.reason) == ("failed", "PROVIDER_INVALID")
    assert await _floor_pages(stage, end_of(frames).floor_id) == [["a "], ["b "]]


@pytest.mark.parametrize("keep", [1, 2])
async def test_cancelled(stage: Stage, session: str, keep: int) -> None:
    part = stage.part({"deltas": ["one ", "two "]}, {"deltas": ["uno ", "due "]}, hold_at=1)
    watch = await stage.watch(session, part, candidate_count=2).started()
    await part.held()
    while len({frame.text_delta.page_id for frame in watch.frames if frame.HasField("text_delta")}) < 2:
        await watch.next()
    done = await stage.other.call("CancelRun", run_id=watch.run_id, keep=keep)
    frames = await watch.end()
    assert (kinds(frames)[-1], end_of(frames)) == ("cancelled", done.floor)
    assert (done.floor.state == COMMITTED) == (keep == 1)
    assert texts(done.floor.output_page) in (["one "], ["uno "])
    assert await _floor_pages(stage, done.floor.floor_id) == [["one "], ["uno "]]


@pytest.mark.parametrize(
    "asked",
    [
        {"candidate_count": 9},
        {"candidate_count": -1},
        {"candidates": [{}] * 9},
        {"candidate_count": 2, "candidates": [{}]},
        {"candidates": [{"temperature": 3}]},
        {"candidates": [{"instruction": "x" * 20_000}]},
    ],
)
async def test_what_is_no_wish(stage: Stage, session: str, asked: dict[str, object]) -> None:
    refusal = await stage.client.refused("Respond", session_id=session, input=stage.part().input, **asked)
    assert (refusal.code, refusal.reason) == ("INVALID_ARGUMENT", "INVALID")
