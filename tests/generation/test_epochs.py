"""A run that goes on after a wait: what earlier epochs wrote counts."""

from copy import deepcopy
from typing import Any

from kernel.generation.events import (
    ActionKind,
    Cancelled,
    Failed,
    FloorCommitted,
    TextDelta,
    ToolAnswered,
    ToolCalled,
)
from kernel.generation.live import LiveRun
from kernel.generation.pages import PagePlan
from kernel.generation.runner import RunLimits, Runner, RunPlan
from kernel.generation.so_far import PagesSoFar
from kernel.generation.tools import Acted
from kernel.tree.message import ToolCall, ToolResult
from tests.generation.builders import asked
from tests.generation.no_tools import NoTools
from tests.generation.sinks import RecordingSink
from tests.generation.test_runner import EACH, scripted


async def test_the_room_of_a_page_is_one_for_all_epochs() -> None:
    written = PagesSoFar(
        [
            TextDelta("page-1", "a" * 10),
            ToolCalled("page-1", ToolCall("id", "tool", "{}")),
            ToolAnswered("page-1", ToolResult("id", "r" * 10)),
        ]
    )
    taken = 10 + len("idtool{}") + 10
    for room, end in ((taken + 4, FloorCommitted), (taken + 3, Failed)):
        live = LiveRun("run-1", "floor-1", epoch=2, so_far=deepcopy(written))
        plan = RunPlan((PagePlan("page-1", scripted(text="more", after_results=1), asked("hi")),), None)
        limits = RunLimits(max_bytes=room, window_seconds=0)
        await Runner(live, plan, NoTools(), RecordingSink(), limits, lambda: 0).run()
        assert live.last_frame is not None
        assert isinstance(live.last_frame.event, end)


async def test_a_run_that_was_asked_to_end_does_not_wait() -> None:
    class Asked(RecordingSink):
        async def pause(self, actions: Any, failed: Any, drafts: Any) -> bool:
            live.cancel(keep=True)
            return False

    class Waiting(NoTools):
        async def act(self, calls: Any) -> Acted:
            return Acted((), tuple((call, ActionKind.RESULT) for call in calls))

    written = [TextDelta("page-1", "a"), ToolCalled("page-1", ToolCall("id", "tool", "{}"))]
    live, sink = LiveRun("run-1", "floor-1", epoch=2, so_far=PagesSoFar(written)), Asked()
    plan = RunPlan((PagePlan("page-1", scripted(), asked("hi")),), None)
    await Runner(live, plan, Waiting(), sink, EACH, lambda: 0).run()
    assert [type(frame.event) for frame in live.frames] == [Cancelled]
    assert sink.names == ["cancelled keep=True"]
