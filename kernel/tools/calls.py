"""A call as it is recorded, and what becomes of it. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from kernel.generation.events import ActionKind
from kernel.generation.tools import Acted
from kernel.strict_json import NotJson, is_storable, loads
from kernel.tools.model import Owner, RunTool
from kernel.tree.message import ToolCall, ToolResult
from kernel.verbs.records import CallState, RecordedCall

APPROVED, REFUSED = "approved", "refused"
UNKNOWN_OUTCOME = (
    "The server stopped while this call was under way: it is not known whether it acted. "
    "Find out before you call it again."
)
# Of what a model wrote, when it is told what is wrong with it.
_QUOTED = 200
# Of an id: what a message may hold, less what makes it unique.
_MAX_ID = 200


def checked(tools: Mapping[str, RunTool], call: ToolCall) -> tuple[str, str]:
    """Of a call as a model made it: arguments that can be stored, which are its own where those are JSON; and
    what it must do better, empty when it may be carried out."""
    written = call.arguments_json or "{}"
    try:
        arguments = loads(written)
    except NotJson as error:
        began = written[:_QUOTED]
        why = f"The arguments are not valid: their text {error}. It began: {began}"
        return "{}", f"{why}\nNothing was done. Call the tool again with one JSON object."
    tool = tools.get(call.name)
    if tool is None:
        return written, f"There is no tool of this name. The tools are: {', '.join(tools) or 'none'}."
    if not isinstance(arguments, dict):
        return written, "The arguments are not valid: they must be one JSON object. Nothing was done."
    found = [fault for schema in tool.schemas for fault in schema.faults(arguments)]
    if not found:
        return written, ""
    listed = "\n".join(f"- {fault}" for fault in found)
    return written, f"The arguments do not fit the tool's parameters:\n{listed}\nNothing was done."


def unique_id(call_id: str, number: int, taken: Collection[str]) -> str:
    """The provider's own id where it can be kept."""
    usable = 1 <= len(call_id) <= _MAX_ID and is_storable(call_id)
    base = call_id if usable else f"call_{number}"
    found, again = base, number
    while found in taken:
        found, again = f"{base}_{again}", again + 1
    return found


def recorded(
    run_id: str, page_id: str, number: int, call: ToolCall, tool: RunTool | None, fault: str, now: datetime
) -> RecordedCall:
    """The row of a call whose id and arguments are as they are kept. Nobody carries out what has a fault: it
    is DONE, with the fault as its result."""
    row = RecordedCall(
        run_id=run_id,
        call_id=call.call_id,
        number=number,
        page_id=page_id,
        name=call.name,
        arguments=call.arguments_json,
        owner=Owner.NOBODY,
        server="",
        side_effect=0,
        state=CallState.ACTING,
        create_time=now,
    )
    if tool is None or fault:
        return done(row, fault, True, now)
    row = replace(row, owner=tool.owner, server=tool.server, side_effect=tool.side_effect)
    if tool.asks:
        return replace(row, state=CallState.APPROVAL)
    return replace(row, state=CallState.RESULT) if tool.owner is Owner.CLIENT else row


def done(call: RecordedCall, content: str, is_error: bool, now: datetime) -> RecordedCall:
    return replace(call, state=CallState.DONE, content=content, is_error=is_error, end_time=now)


def decided(call: RecordedCall, approve: bool, principal: str, reason: str, now: datetime) -> RecordedCall:
    """A call that waits for approval, once somebody has decided. A client's waits for its result then; one of
    ours keeps its state until it begins to act."""
    decision = APPROVED if approve else REFUSED
    call = replace(call, decision=decision, decided_by=principal, reason=reason)
    if not approve:
        return done(call, f"The call was refused{f': {reason}' if reason else '.'}", True, now)
    return replace(call, state=CallState.RESULT) if call.owner == Owner.CLIENT else call


def advanced(call: RecordedCall, ours: Collection[str], now: datetime) -> RecordedCall:
    """A call as it is before its answer's calls act. One that is ACTING, and is not among `ours`, began in a
    process that is gone: it must not act again."""
    if call.state is CallState.APPROVAL and call.decision == APPROVED:
        return replace(call, state=CallState.ACTING)
    if call.state is CallState.ACTING and call.call_id not in ours:
        return done(call, UNKNOWN_OUTCOME, True, now)
    return call


def waits_for(call: RecordedCall) -> ActionKind | None:
    if call.state is CallState.APPROVAL and not call.decision:
        return ActionKind.APPROVAL
    return ActionKind.RESULT if call.state is CallState.RESULT else None


def as_call(call: RecordedCall) -> ToolCall:
    return ToolCall(call.call_id, call.name, call.arguments)


def acted(calls: Sequence[RecordedCall]) -> Acted:
    """In their order."""
    waiting = tuple((as_call(call), kind) for call in calls if (kind := waits_for(call)) is not None)
    if waiting:
        return Acted((), waiting)
    return Acted(tuple(ToolResult(call.call_id, call.content, call.is_error) for call in calls))
