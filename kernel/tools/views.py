"""What others are shown of recorded calls."""

from collections.abc import Sequence

from kernel.generation.events import ActionKind, RequiresAction
from kernel.tools.calls import REFUSED, as_call, waits_for
from kernel.tools.model import Owner, SideEffect
from kernel.tree.message import ToolCall
from kernel.verbs.env import ReadTx
from kernel.verbs.records import CallState, RecordedCall, Run, RunState


def waiting_calls(calls: Sequence[RecordedCall]) -> RequiresAction | None:
    """Those that wait for approval; when there are none, those that wait for results; None when nothing
    waits. In the order of the calls."""
    for kind in (ActionKind.APPROVAL, ActionKind.RESULT):
        found = tuple(as_call(call) for call in calls if waits_for(call) is kind)
        if found:
            return RequiresAction(found, kind)
    return None


async def waiting_of(tx: ReadTx, run: Run) -> RequiresAction | None:
    """What a run waits for; None for one that does not wait."""
    if run.state is not RunState.WAITING:
        return None
    return waiting_calls(await tx.tool_calls(run.run_id))


async def standing_calls(tx: ReadTx, floor_id: str) -> tuple[ToolCall, ...]:
    """The irreversible calls of a floor's runs that a new answer does not undo: with a result, or cut off
    while they acted. Not those that were refused, nor those that could not be called."""
    return tuple(as_call(call) for call in await tx.floor_calls(floor_id) if _stands(call))


def _stands(call: RecordedCall) -> bool:
    acted = call.state in (CallState.ACTING, CallState.DONE) and call.decision != REFUSED
    return acted and call.side_effect == SideEffect.IRREVERSIBLE and call.owner != Owner.NOBODY
