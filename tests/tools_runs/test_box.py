"""The toolbox of a run on a real store: recorded before it acts, each result once, never twice (T8)."""

import asyncio
import json
from dataclasses import replace

import pytest

from kernel.generation.events import ActionKind
from kernel.generation.provider import FailureReason, ProviderError
from kernel.generation.sink import RunOver
from kernel.prompt.config import Tool
from kernel.tools.box import MAX_RESULT, cut
from kernel.tools.calls import UNKNOWN_OUTCOME
from kernel.tools.model import Owner
from kernel.tools.views import standing_calls, waiting_of
from kernel.tree.message import ToolCall
from kernel.verbs.records import CallState, RunState
from tests.tools_runs.desk import ASKING, BOXED, CLIENT, SEND, Desk, call


def states(rows: list[object]) -> list[CallState]:
    return [row.state for row in rows]  # type: ignore[attr-defined]


async def test_a_call_is_recorded_before_it_acts_and_once_with_its_result(desk: Desk) -> None:
    box = desk.box(*BOXED)
    (recorded,) = await box.record(desk.run.page_id, [call("roll_dice", dice="d6")])
    (row,) = await desk.calls()
    assert (row.state, row.content, row.page_id) == (CallState.ACTING, "", desk.run.page_id)
    acted = await box.act([recorded])
    (result,) = acted.results
    assert json.loads(result.content)["total"] in range(1, 7)
    (row,) = await desk.calls()
    assert (row.state, row.content) == (CallState.DONE, result.content)
    assert row.end_time is not None
    # Again, and by somebody else: the same result.
    assert await box.act([recorded]) == acted
    await desk.next_epoch()
    assert await desk.box(*BOXED).act([recorded]) == acted


async def test_calls_of_one_answer_act_side_by_side_and_answer_in_their_order(desk: Desk) -> None:
    box = desk.box(*BOXED, CLIENT)
    calls = [call("get_time", "b"), call("nothing", "c"), call("roll_dice", "a", dice="d1")]
    results = await desk.played(box, *calls)
    assert [(result.call_id, result.is_error) for result in results] == [
        ("b", False),
        ("c", True),
        ("a", False),
    ]
    assert "The tools are: get_state" in results[1].content


async def test_what_cannot_be_called_is_an_error_that_says_what_to_repair(desk: Desk) -> None:
    box = desk.box(CLIENT)
    bad = [
        call("ask", "1", n="x"),
        ToolCall("2", "ask", '{"n":'),
        ToolCall("3", "ask", "7"),
        call("other", "4"),
    ]
    results = await desk.played(box, *bad)
    assert all(result.is_error for result in results)
    assert "$.n" in results[0].content
    assert "not JSON" in results[1].content
    rows = await desk.calls()
    assert [row.arguments for row in rows] == ['{"n": "x"}', "{}", "7", "{}"]
    assert {(row.state, row.owner, row.side_effect) for row in rows} == {(CallState.DONE, Owner.NOBODY, 0)}


async def test_ids_are_unique_within_the_run_also_across_pages_and_epochs(desk: Desk) -> None:
    first = desk.box(CLIENT)
    (one,) = await first.record(desk.pages[0], [call("ask", "same", n=1)])
    both = await asyncio.gather(
        *(
            first.record(desk.pages[n - 1], [call("ask", "same", n=1), call("ask", "other", n=2)])
            for n in (2, 3)
        )
    )
    await desk.next_epoch()
    (late,) = await desk.box(CLIENT).record(desk.pages[0], [call("ask", "same", n=1)])
    ids = [one.call_id, *(made.call_id for made in (*both[0], *both[1])), late.call_id]
    assert len(set(ids)) == 6
    assert ids[0] == "same"
    assert [row.number for row in await desk.calls()] == [1, 2, 3, 4, 5, 6]


async def test_more_calls_than_a_run_may_make_are_refused_whole(desk: Desk) -> None:
    box = desk.box(CLIENT, max_calls=3)
    await box.record(desk.pages[0], [call("ask", "1", n=1), call("ask", "2", n=1)])
    with pytest.raises(ProviderError) as caught:
        await box.record(desk.pages[0], [call("ask", "3", n=1), call("ask", "4", n=1)])
    assert caught.value.reason is FailureReason.LIMIT
    assert len(await desk.calls()) == 2


async def test_what_needs_approval_waits_and_acts_once_it_is_approved(desk: Desk) -> None:
    box = desk.box(*ASKING)
    recorded = await box.record(desk.pages[0], [call("roll_dice", "1", dice="d6"), call("get_time", "2")])
    acted = await box.act(recorded)
    assert acted.results == ()
    assert acted.waiting == tuple((made, ActionKind.APPROVAL) for made in recorded)
    assert states(await desk.calls()) == [CallState.APPROVAL] * 2
    await desk.decide("1", True)
    await desk.decide("2", False, "not now")
    await desk.next_epoch()
    approved, refused = (await desk.box(*ASKING).act(recorded)).results
    assert json.loads(approved.content)["dice"] == "d6"
    assert (refused.content, refused.is_error) == ("The call was refused: not now", True)
    first, second = await desk.calls()
    assert (first.decision, first.decided_by, first.state) == ("approved", "somebody", CallState.DONE)
    assert (second.decision, second.reason) == ("refused", "not now")


async def test_a_clients_call_waits_for_approval_and_then_for_its_result(desk: Desk) -> None:
    box = desk.box(CLIENT, SEND, *BOXED)
    recorded = await box.record(
        desk.pages[0], [call("send", "1", n=1), call("ask", "2", n=2), call("get_time", "3")]
    )
    acted = await box.act(recorded)
    assert [kind for _, kind in acted.waiting] == [ActionKind.APPROVAL, ActionKind.RESULT]
    assert states(await desk.calls()) == [CallState.APPROVAL, CallState.RESULT, CallState.DONE]
    await desk.decide("1", True)
    await desk.answer("2", "two")
    await desk.next_epoch()
    box = desk.box(CLIENT, SEND, *BOXED)
    assert (await box.act(recorded)).waiting == ((recorded[0], ActionKind.RESULT),)
    await desk.answer("1", "sent")
    results = (await box.act(recorded)).results
    assert [result.content for result in results[:2]] == ["sent", "two"]


@pytest.mark.parametrize("approved", [False, True])
async def test_a_call_that_was_under_way_when_its_process_died_does_not_act_again(
    desk: Desk, approved: bool
) -> None:
    """Whether it was recorded to act at once, or began once it was approved."""
    tools = ASKING if approved else BOXED
    (recorded,) = await desk.box(*tools).record(desk.pages[0], [call("set_variable", key="hp", value=1)])
    if approved:
        await desk.decide(recorded.call_id, True)
        (row,) = await desk.calls()
        await desk.world.write(lambda tx: tx.update_calls([replace(row, state=CallState.ACTING)]))
    await desk.next_epoch()
    (result,) = (await desk.box(*tools).act([recorded])).results
    assert (result.content, result.is_error) == (UNKNOWN_OUTCOME, True)


async def test_a_call_that_is_cut_off_has_no_result_and_does_not_act_again(desk: Desk) -> None:
    """The caller of `act` is cancelled while the call waits for the session's lock."""
    box = desk.box(*BOXED)
    (recorded,) = await box.record(desk.pages[0], [call("roll_dice", dice="d6")])
    acting = asyncio.create_task(box.act([recorded]))
    await asyncio.sleep(0)
    acting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await acting
    await desk.env.store.idle()  # type: ignore[attr-defined]
    (row,) = await desk.calls()
    assert row.state is CallState.ACTING
    await desk.next_epoch()
    (result,) = (await desk.box(*BOXED).act([recorded])).results
    assert result.content == UNKNOWN_OUTCOME


async def test_a_process_that_was_taken_over_can_write_nothing(desk: Desk) -> None:
    late = desk.box(*BOXED)
    (recorded,) = await late.record(desk.pages[0], [call("set_variable", key="hp", value=1)])
    (asking,) = await desk.box(*ASKING).record(desk.pages[0], [call("get_time", "2")])
    await desk.decide("2", True)
    await desk.next_epoch()
    before = await desk.calls()
    with pytest.raises(RunOver):
        await late.record(desk.pages[0], [call("get_time", "3")])
    with pytest.raises(RunOver):
        await late.act([recorded])
    with pytest.raises(RunOver):
        await late.act([asking])
    assert await desk.calls() == before


@pytest.mark.parametrize("state", [RunState.WAITING, RunState.FAILED, RunState.COMMITTED])
async def test_of_a_run_that_does_not_run_nothing_is_written(desk: Desk, state: RunState) -> None:
    box = desk.box(*BOXED)
    await desk.world.write(lambda tx: tx.update_run(replace(desk.run, state=state)))
    with pytest.raises(RunOver):
        await box.record(desk.pages[0], [call("get_time")])
    assert await desk.calls() == []


async def test_what_waits_and_what_stands(desk: Desk) -> None:
    box = desk.box(CLIENT, SEND, replace(SEND, name="again"))
    calls = [call("ask", "1", n=1), call("send", "2", n=2), call("send", "3", n=3), call("again", "4", n=4)]
    recorded = await box.record(desk.pages[0], [*calls, call("send", "5", n="wrong")])
    waiting = replace(desk.run, state=RunState.WAITING)

    async def waits() -> tuple[str, list[str]] | None:
        found = await desk.world.read(lambda tx: waiting_of(tx, waiting))
        return found and (found.kind.value, [made.call_id for made in found.calls])

    assert await desk.world.read(lambda tx: waiting_of(tx, desk.run)) is None
    assert await waits() == ("approval", ["2", "3", "4"])
    await desk.decide("2", True)
    await desk.decide("3", False)
    await desk.decide("4", True)
    assert await waits() == ("result", ["1", "2", "4"])
    await desk.answer("1", "harmless")
    await desk.answer("2", "sent")
    assert await waits() == ("result", ["4"])
    standing = await desk.world.read(lambda tx: standing_calls(tx, desk.floor.floor_id))
    assert standing == (recorded[1],), "neither refused, nor open, nor harmless, nor never carried out"


async def test_a_run_without_tools_has_none(desk: Desk) -> None:
    assert await desk.box().specs() == ()


async def test_an_mcp_tool_without_its_server_is_left_out(desk: Desk) -> None:
    """The run goes on with the tools that there are."""
    specs = await desk.box(Tool("far", owner=Owner.MCP, server="away"), CLIENT).specs()
    assert [spec.name for spec in specs] == ["ask"]


def test_a_long_result_is_cut_and_says_so() -> None:
    assert cut("x" * MAX_RESULT) == "x" * MAX_RESULT
    found = cut("é" * MAX_RESULT)
    assert found.startswith("é" * (MAX_RESULT // 2) + "\n[Cut here")
    assert f"{2 * MAX_RESULT:,} bytes" in found
