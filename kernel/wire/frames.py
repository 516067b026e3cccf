"""A run's frames as the contract shows them."""

from stemma.kernel.v1 import message_pb2, run_pb2

from kernel.generation import events
from kernel.generation.provider import FailureReason
from kernel.verbs.answers import Shown
from kernel.verbs.records import Run
from kernel.wire.trees import branch_pb, floor_pb, maybe_branch_pb, page_pb, run_pb

_UNAVAILABLE, _DEADLINE_EXCEEDED, _RESOURCE_EXHAUSTED = 14, 4, 8
_CODES = {
    FailureReason.PROVIDER_TIMEOUT: _DEADLINE_EXCEEDED,
    FailureReason.LIMIT: _RESOURCE_EXHAUSTED,
}


def frame_pb(
    run_id: str, floor_id: str, before: str, last_input: str, frame: events.Frame
) -> run_pb2.RunEvent:
    """`before` is the id of the message before the floor's first, `last_input` that of its input's
    last, if it has an input."""
    shown = run_pb2.RunEvent(run_id=run_id, floor_id=floor_id, epoch=frame.epoch, seq=frame.seq)
    if events.is_last(frame.event):
        _show_end(shown, before, frame.event)
    else:
        _show(shown, last_input or before, frame.event)
    return shown


def _show(shown: run_pb2.RunEvent, before: str, event: events.RunEvent) -> None:
    match event:
        case events.Started(context_digest, tokens_in, left_out, standing):
            shown.started.context_digest = context_digest
            shown.started.tokens_in = tokens_in
            shown.started.left_out_count = left_out
            for call in standing:
                shown.started.standing_calls.add(
                    call_id=call.call_id, name=call.name, arguments_json=call.arguments_json
                )
        case events.TextDelta(page_id, text):
            shown.text_delta.page_id, shown.text_delta.text = page_id, text
        case events.ReasoningDelta(page_id, text):
            shown.reasoning_delta.page_id, shown.reasoning_delta.text = page_id, text
        case events.ToolCalled(page_id, call):
            shown.tool_call.page_id, shown.tool_call.call_id = page_id, call.call_id
            shown.tool_call.name, shown.tool_call.arguments_json = call.name, call.arguments_json
        case events.ToolAnswered(page_id, result):
            shown.tool_result.page_id, shown.tool_result.call_id = page_id, result.call_id
            shown.tool_result.content, shown.tool_result.is_error = result.content, result.is_error
        case events.RequiresAction():
            shown.requires_action.CopyFrom(requires_action_pb(event))
        case events.Reset(pages):
            shown.reset.SetInParent()
            shown.reset.pages.extend(page_pb(page, before) for page in pages)
        case events.PageCompleted(page):
            shown.page_completed.page.CopyFrom(page_pb(page, before))


def _show_end(shown: run_pb2.RunEvent, before: str, event: events.RunEvent) -> None:
    match event:
        case events.FloorCommitted(floor, branch):
            shown.floor_committed.floor.CopyFrom(floor_pb(Shown(floor, before)))
            shown.floor_committed.branch.CopyFrom(branch_pb(branch))
        case events.Held(floor):
            shown.held.floor.CopyFrom(floor_pb(Shown(floor, before)))
        case events.Failed(reason, floor):
            shown.failed.code = _CODES.get(reason, _UNAVAILABLE)
            shown.failed.reason = reason.value
            shown.failed.floor.CopyFrom(floor_pb(Shown(floor, before)))
        case events.Cancelled(floor, maybe_branch):
            shown.cancelled.floor.CopyFrom(floor_pb(Shown(floor, before)))
            if (moved := maybe_branch_pb(maybe_branch)) is not None:
                shown.cancelled.branch.CopyFrom(moved)


def requires_action_pb(event: events.RequiresAction) -> run_pb2.RequiresAction:
    calls = [
        message_pb2.ToolCallPart(call_id=c.call_id, name=c.name, arguments_json=c.arguments_json)
        for c in event.calls
    ]
    return run_pb2.RequiresAction(calls=calls, kind=f"ACTION_KIND_{event.kind.name}")


def waiting_run_pb(run: Run, waiting: events.RequiresAction | None) -> run_pb2.Run:
    """A run with what it waits for."""
    shown = run_pb(run)
    if waiting is not None:
        shown.requires_action.CopyFrom(requires_action_pb(waiting))
    return shown
