"""Runs with tools, over gRPC, on both engines: what acts, what waits, and how it goes on."""

import asyncio
import json
from typing import Any

import grpc
import pytest
from stemma.kernel.v1 import run_pb2

from kernel.generation.runner import RunLimits
from kernel.tree.message import ToolResult
from tests.runs.stage import Cast, Stage, as_bytes, assert_in_order, on_stage
from tests.tools_runs.acts import (
    Act,
    asking,
    boxed,
    calls,
    decision,
    first,
    parts,
    play,
    result,
    session_with,
    then,
    told,
    tool,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")

TIME = first(calls("get_time"))
APPROVAL, RESULT = "ACTION_KIND_APPROVAL", "ACTION_KIND_RESULT"


async def test_built_in_tools_act_by_themselves_and_the_model_answers(stage: Stage) -> None:
    session = await session_with(stage, boxed("roll_dice"), boxed("get_time"))
    made = (calls("roll_dice", "a", dice="2d6"), calls("get_time", "b"))
    act = await play(stage, session, first(*made, text="Let me see."), then("There."))
    assert act.kinds == [
        *("started", "text_delta", "tool_call", "tool_result", "text_delta"),
        *("page_completed", "floor_committed"),
    ]
    assert_in_order(act.frames)
    assert [len(message.parts) for message in act.messages] == [3, 2, 1]
    assert [call.name for call in parts(act.messages, "tool_call")] == ["roll_dice", "get_time"]
    results = parts(act.messages, "tool_result")
    assert [found.call_id for found in results] == ["a", "b"]
    assert 2 <= json.loads(results[0].content)["total"] <= 12
    assert told(act.part) == [(found.call_id, found.content, False) for found in results]
    assert [spec.name for spec in act.part.sent[0].tools] == ["roll_dice", "get_time"]
    # As it was, for every later turn.
    later = await play(stage, session, then("Yes.", after=0))
    assert told(later.part) == told(act.part)


async def test_what_needs_approval_acts_once_it_is_approved(stage: Stage) -> None:
    session = await session_with(stage, asking("roll_dice"))
    act = await play(stage, session, first(calls("roll_dice", "a", dice="d1")), then())
    assert act.kinds == ["started", "tool_call", "requires_action"]
    assert act.waits == [(APPROVAL, ["a"])]
    waiting = await act.run()
    assert waiting.state == run_pb2.RUN_STATE_WAITING
    assert waiting.requires_action == act.frames[-1].requires_action
    assert len(act.part.sent) == 1
    gone_on = await act.submit(approvals=[decision("a", reason="why not")])
    assert gone_on.state == run_pb2.RUN_STATE_RUNNING
    assert not gone_on.HasField("requires_action")
    await act.go_on()
    assert_in_order(act.frames)
    assert act.kinds[-1] == "floor_committed"
    assert told(act.part) == [("a", '{"dice":"d1","rolls":[1],"total":1}', False)]
    assert [message.text for message in act.part.sent[1].messages if message.text][-1] == act.part.text


async def test_a_refusal_is_told_to_the_model_and_nothing_acts(stage: Stage) -> None:
    session = await session_with(stage, asking("set_variable"))
    act = await play(
        stage, session, first(calls("set_variable", "a", key="hp", value=1)), then("As you wish.")
    )
    await act.submit(approvals=[decision("a", False, "Not that one.")])
    await act.go_on()
    assert told(act.part) == [("a", "The call was refused: Not that one.", True)]
    assert act.kinds[-1] == "floor_committed"
    assert await act.values() == {}


async def test_a_clients_tool_waits_for_its_result(stage: Stage) -> None:
    session = await session_with(stage, tool("weather"))
    act = await play(stage, session, first(calls("weather", "a", n=1)), then("Sunny."))
    assert act.waits == [(RESULT, ["a"])]
    await act.submit(results=[result("a", "sun\n☀")])
    await act.go_on()
    assert told(act.part) == [("a", "sun\n☀", False)]
    assert [found.content for found in parts(act.messages, "tool_result")] == ["sun\n☀"]


async def test_what_a_run_took_before_it_waited_counts(stage: Stage) -> None:
    session = await session_with(stage, tool("weather"))
    took = {"usage": {"tokens_in": 100, "tokens_out": 7}}
    act = await play(stage, session, first(calls("weather", "a", n=1), **took), then("Sunny.") | took)
    assert (await act.run()).usage.tokens_in == 100
    await act.submit(results=[result("a")])
    await act.go_on()
    usage = act.frames[-1].floor_committed.floor.usage
    assert (usage.tokens_in, usage.tokens_out, usage.estimated) == (200, 14, False)


async def test_mixed_waits_are_answered_in_any_number_of_steps(stage: Stage) -> None:
    """One acts at once, one waits for a result, two for approval, one of them for its result then."""
    careful = tool("send", side_effect="TOOL_SIDE_EFFECT_IRREVERSIBLE")
    session = await session_with(stage, boxed("get_time"), asking("roll_dice"), tool("ask"), careful)
    made = (
        calls("ask", "1", n=1),
        calls("roll_dice", "2", dice="d1"),
        calls("send", "3", n=3),
        calls("get_time", "4"),
    )
    act = await play(stage, session, first(*made), then())
    assert act.waits == [(APPROVAL, ["2", "3"]), (RESULT, ["1"])]

    def ids(run: run_pb2.Run) -> tuple[str, list[str]]:
        waits = run.requires_action
        return run_pb2.ActionKind.Name(waits.kind), [call.call_id for call in waits.calls]

    run = await act.submit(approvals=[decision("3")])
    assert ids(run) == (APPROVAL, ["2"])
    run = await act.submit(results=[result("1", "one", is_error=True)], approvals=[decision("2")])
    assert ids(run) == (RESULT, ["3"])
    assert ids(await act.run()) == (RESULT, ["3"])
    run = await act.submit(results=[result("3", "three")])
    assert run.state == run_pb2.RUN_STATE_RUNNING
    await act.go_on()
    answers = told(act.part)
    assert [call_id for call_id, _, _ in answers] == ["1", "2", "3", "4"]
    assert answers[0] == ("1", "one", True)
    assert answers[2] == ("3", "three", False)


async def test_a_decision_and_the_result_may_come_together(stage: Stage) -> None:
    session = await session_with(stage, tool("send", approval="TOOL_APPROVAL_ALWAYS"))
    act = await play(stage, session, first(calls("send", "a", n=1)), then())
    await act.submit(results=[result("a", "sent")], approvals=[decision("a")])
    await act.go_on()
    assert told(act.part) == [("a", "sent", False)]


async def test_wrong_calls_are_answered_and_the_model_may_call_again(stage: Stage) -> None:
    session = await session_with(stage, tool("ask"))
    malformed = {"name": "ask", "arguments_json": '{"n":', "call_id": "b"}
    again = {"after_results": 1, "tool_calls": [calls("ask", "a", n=7)]}
    act = await play(
        stage, session, first(calls("ask", "a", n="x"), malformed, calls("nothing")), again, then(after=2)
    )
    told_first = parts_of_sent(act, 1)
    assert [is_error for _, is_error in told_first] == [True] * 3
    # An id that was used is made another.
    assert act.waits == [(RESULT, ["a_4"])]
    await act.submit(results=[result("a_4")])
    await act.go_on()
    assert act.kinds[-1] == "floor_committed"


def parts_of_sent(act: Act, request: int) -> list[tuple[str, bool]]:
    found = [part for message in act.part.sent[request].messages for part in message.parts]
    return [(part.call_id, part.is_error) for part in found if isinstance(part, ToolResult)]


async def test_what_tools_write_follows_the_tree(stage: Stage) -> None:
    """A sibling does not see it; away and back it is there again (C1, C2)."""
    session = await session_with(stage, boxed("set_variable"), boxed("get_state"))
    act = await play(
        stage,
        session,
        first(calls("set_variable", "a", key="hp", value=5)),
        {"after_results": 1, "tool_calls": [calls("get_state", "b")]},
        then(after=2),
    )
    floor = act.frames[-1].floor_committed.floor
    assert '"variables":{"hp":5}' in told(act.part)[1][1]
    assert await act.values() == {"hp": 5}
    assert [write.key for write in floor.effects.variables] == ["hp"]
    # The part's replies begin anew: regenerated, it reads the state before it writes.
    other = stage.part(first(calls("get_state", "c")), then("Nothing here."))
    stage.cast._parts[act.part.text] = other
    frames = await stage.respond(regenerate={"floor_id": floor.floor_id}).end()
    assert frames[-1].WhichOneof("event") == "floor_committed"
    assert '"variables":{}' in told(other)[0][1]
    assert await act.values() == {}
    await stage.client.call("SelectSibling", session_id=session, floor_id=floor.floor_id)
    assert await act.values() == {"hp": 5}


async def test_a_regenerate_lists_the_irreversible_calls_that_stand(stage: Stage) -> None:
    careful = tool("send", side_effect="TOOL_SIDE_EFFECT_IRREVERSIBLE")
    session = await session_with(stage, careful, tool("ask"), boxed("get_time"))
    made = [calls("send", "1", n=1), calls("send", "2", n=2), calls("ask", "3", n=3), calls("get_time", "4")]
    act = await play(stage, session, first(*made), then())
    await act.submit(approvals=[decision("1"), decision("2", False)], results=[result("1"), result("3")])
    await act.go_on()
    floor_id = act.frames[-1].floor_committed.floor.floor_id
    stage.cast._parts[act.part.text] = stage.part(then(after=0))
    frames = await stage.respond(regenerate={"floor_id": floor_id}).end()
    standing = frames[0].started.standing_calls
    assert [(call.call_id, call.name, call.arguments_json) for call in standing] == [
        ("1", "send", '{"n": 1}')
    ]


async def test_cancelling_while_it_waits_keeps_what_was_written(stage: Stage) -> None:
    session = await session_with(stage, asking("roll_dice"))
    act = await play(stage, session, first(calls("roll_dice", "a", dice="d6"), text="I roll."), then())
    ended = await stage.other.call("CancelRun", run_id=act.run_id)
    assert ended.run.state == run_pb2.RUN_STATE_CANCELLED
    assert ended.floor.output_page.partial
    assert await act.refused(approvals=[decision("a")]) == ("FAILED_PRECONDITION", "FLOOR_SEALED")
    # The open call is closed for the model, and the conversation goes on.
    later = await play(stage, session, then("Yes.", after=0))
    assert [(call_id, is_error) for call_id, _, is_error in told(later.part)] == [("a", True)]


async def test_candidates_wait_together(stage: Stage) -> None:
    session = await session_with(stage, asking("set_variable"))
    act = await play(
        stage, session, first(calls("set_variable", "a", key="n", value=1)), then(), candidate_count=2
    )
    (waits,) = act.waits
    assert len(set(waits[1])) == 2, "ids are unique within the run"
    await act.submit(approvals=[decision(waits[1][0]), decision(waits[1][1], False)])
    await act.go_on()
    held = act.frames[-1].held.floor
    pages = (await stage.other.call("ListPages", floor_id=held.floor_id)).pages
    assert act.kinds[-1] == "held"
    # Each has its own effects: choosing one chooses them.
    by_effect = {}
    for page in pages:
        if page.slot == 2:
            shown = (await stage.client.call("ActivatePage", page_id=page.page_id)).floor
            by_effect[len(shown.effects.variables)] = page.page_id
    assert set(by_effect) == {0, 1}
    await stage.client.call("CommitFloor", floor_id=held.floor_id, page_id=by_effect[1])
    assert await act.values() == {"n": 1}


async def test_tokens_have_a_limit(sqlite_url: str) -> None:
    async with on_stage(sqlite_url, limits=RunLimits(max_tokens=10)) as stage:
        again = TIME | {"after_results": 1, "usage": {"tokens_in": 9, "tokens_out": 2}}
        act = await play(stage, await session_with(stage, boxed("get_time")), TIME, again)
        assert act.frames[-1].failed.reason == "LIMIT"
        assert len(act.part.sent) == 2
        assert len(parts(act.frames[-1].failed.floor.output_page.messages, "tool_result")) == 1


@pytest.mark.parametrize(
    ("limits", "replies"),
    [
        ({"max_steps": 2}, [TIME, TIME | {"after_results": 1}, TIME | {"after_results": 2}]),
        ({"max_calls": 3}, [first(*TIME["tool_calls"] * 2), first(*TIME["tool_calls"] * 2, after_results=1)]),
    ],
)
async def test_steps_and_calls_have_limits(
    sqlite_url: str, limits: dict[str, Any], replies: list[dict[str, Any]]
) -> None:
    async with on_stage(sqlite_url, limits=RunLimits(**limits)) as stage:
        act = await play(stage, await session_with(stage, boxed("get_time")), *replies)
        assert act.frames[-1].failed.reason == "LIMIT"
        assert act.kinds.count("tool_result") == (2 if "max_steps" in limits else 1)
        # What was there stays readable, each call with its result.
        messages = act.frames[-1].failed.floor.output_page.messages
        assert len(parts(messages, "tool_call")) == len(parts(messages, "tool_result")) == 2


async def test_it_waits_through_a_restart_and_goes_on_in_another_process(migrated_url: str) -> None:
    cast = Cast()
    async with on_stage(migrated_url, cast) as stage:
        session = await session_with(stage, asking("set_variable"), tool("ask"), boxed("roll_dice"))
        made = (
            calls("set_variable", "1", key="hp", value=3),
            calls("ask", "2", n=2),
            calls("roll_dice", "3", dice="d1000000"),
        )
        act = await play(stage, session, first(*made, text="Well,"), then(" done."))
        rolled = (await stage.run(act.run_id)).requires_action
        assert [call.call_id for call in rolled.calls] == ["1"]
    async with on_stage(migrated_url, cast) as stage:
        act.stage = stage
        assert (await act.run()).state == run_pb2.RUN_STATE_WAITING
        await act.submit(approvals=[decision("1")], results=[result("2")])
        further = await act.go_on()
        assert further[0].epoch == 2
        assert_in_order(act.frames)
        assert await act.values() == {"hp": 3}
        assert len(parts(act.messages, "tool_result")) == 3
        # It was sent exactly what it was sent before, and what followed.
        one, two = act.part.sent
        assert two.messages[: len(one.messages)] == one.messages
        # From the beginning, for somebody new: the same frames.
        assert as_bytes(await stage.attach(act.run_id).rest()) == as_bytes(act.frames)
    async with on_stage(migrated_url, cast) as stage:
        assert as_bytes(await stage.attach(act.run_id).rest()) == as_bytes(act.frames)


async def test_bad_input_45(stage: Stage) -> None:
    """An unknown call id, a second result, a result of 10 MiB; and the run waits on as it did."""
    session = await session_with(stage, tool("ask"), asking("roll_dice"))
    act = await play(
        stage, session, first(calls("ask", "a", n=1), calls("roll_dice", "b", dice="d6")), then()
    )
    before = await act.run()
    assert await act.refused(results=[result("nobody's")]) == ("NOT_FOUND", "NOT_FOUND")
    assert await act.refused(approvals=[decision("nobody's")]) == ("NOT_FOUND", "NOT_FOUND")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await act.submit(results=[result("a", "x" * (10 << 20))])
    # The transport reads no such request.
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    too_long = await act.refused(results=[result("a", "x" * ((1 << 20) + 1))])
    assert too_long == ("RESOURCE_EXHAUSTED", "LIMIT")
    # All of it or nothing.
    assert await act.refused(results=[result("a"), result("nobody's")]) == ("NOT_FOUND", "NOT_FOUND")
    assert await act.refused(results=[result("b")]) == ("FAILED_PRECONDITION", "INVALID")
    assert await act.refused(approvals=[decision("a")]) == ("FAILED_PRECONDITION", "INVALID")
    assert await act.run() == before
    await act.submit(results=[result("a")])
    assert await act.refused(results=[result("a")]) == ("ALREADY_EXISTS", "ALREADY_DECIDED")
    await act.submit(approvals=[decision("b")])
    await act.go_on()
    assert await act.refused(results=[result("a")]) == ("ALREADY_EXISTS", "ALREADY_DECIDED")
    assert await act.refused(approvals=[decision("b")]) == ("ALREADY_EXISTS", "ALREADY_DECIDED")
    other = await stage.other.refused("SubmitToolResults", run_id=act.watch.floor_id, results=[result("a")])
    assert other.code == "NOT_FOUND"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"results": [result("")]},
        {"results": [result("a", "\0")]},
        {"results": [result("a"), result("a")]},
        {"approvals": [decision("a"), decision("a", False)]},
        {"approvals": [decision("a", reason="x" * 501)]},
        {"approvals": [decision("x" * 257)]},
    ],
)
async def test_what_is_no_answer_is_invalid(stage: Stage, fields: dict[str, Any]) -> None:
    run_id = "019f0000-0000-7000-8000-000000000001"
    found = await stage.other.refused("SubmitToolResults", run_id=run_id, **fields)
    assert (found.code, found.reason) == ("INVALID_ARGUMENT", "INVALID")


async def test_a_repeat_gets_the_same_answer_whatever_became_of_the_run(stage: Stage) -> None:
    """R1: also a concurrent twin, and one with other content is refused."""
    session = await session_with(stage, tool("ask"), asking("roll_dice"))
    act = await play(
        stage, session, first(calls("ask", "a", n=1), calls("roll_dice", "b", dice="d6")), then()
    )
    one = act.request(results=[result("a")])
    two = act.request(approvals=[decision("b")])
    partial = await stage.other.raw("SubmitToolResults", one)
    answers = await asyncio.gather(*(stage.other.raw("SubmitToolResults", two) for _ in range(8)))
    assert len(set(answers)) == 1
    await act.go_on()
    assert act.kinds[-1] == "floor_committed"
    assert kinds_of_results(act) == 2
    assert await stage.client.raw("SubmitToolResults", one) == partial
    assert await stage.client.raw("SubmitToolResults", two) == answers[0]
    reused = act.request(approvals=[decision("b", False)], request_id=two.request_id)
    refusal = await stage.other.refusal("SubmitToolResults", reused)
    assert (refusal.code, refusal.reason) == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")


def kinds_of_results(act: Act) -> int:
    return sum(frame.HasField("tool_result") for frame in act.frames)


async def test_a_run_that_is_under_way_takes_no_answers(stage: Stage) -> None:
    """One candidate has called and would wait; another is still written."""
    session = await session_with(stage, tool("ask"))
    part = stage.part(first(calls("ask", "a", n=1)), first(text="One two three"), then(), hold_at=2)
    watch = await stage.watch(session, part, candidate_count=2).started()
    while not watch.frames[-1].HasField("tool_call"):
        await watch.next()
    await part.held()
    act = Act(stage, session, part, watch)
    refusal = await stage.other.refused("SubmitToolResults", run_id=act.run_id, results=[result("a")])
    assert (refusal.code, refusal.reason) == ("FAILED_PRECONDITION", "RUN_ACTIVE")
    assert refusal.metadata["run_id"] == act.run_id
    part.go()
    await watch.rest()
    assert act.waits == [(RESULT, ["a"])]
    await act.submit(results=[result("a")])
    await act.go_on()
    assert act.kinds[-1] == "held"
