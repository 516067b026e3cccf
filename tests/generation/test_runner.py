"""How a run ends: every way, its frames, and what the sink was asked to make durable."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from structlog.testing import capture_logs

from kernel.generation.events import Cancelled, Failed, FloorCommitted, PageCompleted, RunEvent
from kernel.generation.hub import RunHub
from kernel.generation.live import LiveRun, RunLost
from kernel.generation.pages import PagePlan
from kernel.generation.provider import ChatRequest, Chunk, FailureReason, Provider, TextChunk
from kernel.generation.runner import RunLimits, Runner, RunPlan
from kernel.generation.script import Script
from kernel.generation.scripted import ScriptedProvider
from kernel.tree.model import FloorState, Usage
from tests.generation.builders import (
    PATIENCE,
    STARTED,
    Gate,
    asked,
    branch,
    events_of,
    floor,
    page,
    texts,
    thoughts,
)
from tests.generation.no_tools import NoTools
from tests.generation.sinks import RecordingSink

# Each delta its own frame.
EACH = RunLimits(window_seconds=0)


def scripted(gate: Gate | None = None, **reply: Any) -> ScriptedProvider:
    return ScriptedProvider(Script.model_validate({"replies": [reply]}), gate=gate)


class Driven:
    """A run under way, with all its parts at hand."""

    def __init__(
        self, provider: Provider, sink: RecordingSink | None = None, limits: RunLimits = EACH
    ) -> None:
        self.hub = RunHub()
        self.live = LiveRun("run-1", "floor-1")
        self.sink = sink or RecordingSink()
        plan = RunPlan((PagePlan("page-1", provider, asked("hi")),), STARTED)
        window = limits.window_seconds
        runner = Runner(self.live, plan, NoTools(), self.sink, limits, lambda: window)
        self.hub.start(self.live, runner.run())

    async def events(self) -> list[RunEvent]:
        return await events_of(self.live.subscribe())


async def ends(provider: Provider, limits: RunLimits = EACH) -> tuple[RunEvent, RecordingSink]:
    driven = Driven(provider, limits=limits)
    return (await driven.events())[-1], driven.sink


async def test_a_whole_answer_is_committed_and_then_told() -> None:
    driven = Driven(scripted(text="one two", reasoning="hm", usage={"tokens_in": 7, "tokens_out": 2}))
    events = await driven.events()
    assert events[0] is STARTED
    assert thoughts(events) == ["hm"]
    assert texts(events) == ["one ", "two"]
    assert events[-2:] == [
        PageCompleted(page("one two")),
        FloorCommitted(floor(FloorState.COMMITTED), branch()),
    ]
    assert driven.sink.names == ["complete"]
    draft = driven.sink.draft
    assert (draft.text, draft.usage, draft.partial) == ("one two", Usage(7, 2), False)


async def test_the_last_frame_waits_for_the_row() -> None:
    durable = asyncio.Event()
    asked_for = asyncio.Event()

    class SlowSink(RecordingSink):
        async def complete(self, draft: Any) -> Any:
            asked_for.set()
            await durable.wait()
            return await super().complete(draft)

    driven = Driven(scripted(text="one"), SlowSink())
    await asked_for.wait()
    assert driven.live.last_seq == 2
    assert not driven.live.closed
    durable.set()
    assert isinstance((await driven.events())[-1], FloorCommitted)


@pytest.mark.parametrize("reason", ["PROVIDER_UNAVAILABLE", "PROVIDER_INVALID", "PROVIDER_TIMEOUT", "LIMIT"])
async def test_a_provider_error_fails_the_floor_with_the_partial_page(reason: str) -> None:
    last, sink = await ends(scripted(text="one two three", fail={"reason": reason, "after": 2}))
    assert isinstance(last, Failed)
    assert (last.reason, last.floor) == (reason, floor(FloorState.FAILED, reason))
    assert sink.names == [f"fail {reason}"]
    assert (sink.draft.text, sink.draft.partial) == ("one two ", True)


@pytest.mark.parametrize(
    "reply", [{"deltas": []}, {"text": " \n"}, {"text": "", "reasoning": "only thoughts"}]
)
async def test_an_empty_answer_fails(reply: dict[str, Any]) -> None:
    last, sink = await ends(scripted(**reply))
    assert isinstance(last, Failed)
    assert last.reason == FailureReason.PROVIDER_INVALID
    assert sink.names == ["fail PROVIDER_INVALID"]


@pytest.mark.parametrize("bad", ["nul \0", "half a pair \ud800"])
async def test_text_that_cannot_be_stored_fails_and_is_left_out(bad: str) -> None:
    class Bad:
        name = "bad"

        async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
            yield TextChunk("good ")
            yield TextChunk(bad)

        async def aclose(self) -> None: ...

    last, sink = await ends(Bad())
    assert isinstance(last, Failed)
    assert last.reason == FailureReason.PROVIDER_INVALID
    assert sink.draft.text == "good "


async def test_too_many_bytes_fail_and_what_fitted_stays() -> None:
    limits = RunLimits(window_seconds=0, max_bytes=6)
    last, sink = await ends(scripted(deltas=["éé", "ab", "c"]), limits)
    assert isinstance(last, Failed)
    assert last.reason == FailureReason.LIMIT
    assert sink.draft.text == "ééab"


async def test_an_answer_that_takes_too_long_fails() -> None:
    limits = RunLimits(window_seconds=0, total_seconds=0.05)
    last, sink = await ends(scripted(text="one two", hang_after=1), limits)
    assert isinstance(last, Failed)
    assert last.reason == FailureReason.PROVIDER_TIMEOUT
    assert (sink.draft.text, sink.draft.partial) == ("one ", True)


async def test_cancelled_and_kept() -> None:
    gate = Gate(2)
    driven = Driven(scripted(gate, text="one two three"))
    await gate.reached.wait()
    assert driven.live.cancel(keep=True)
    events = await driven.events()
    assert events[-1] == Cancelled(floor(FloorState.COMMITTED), branch())
    assert driven.sink.names == ["cancelled keep=True"]
    assert (driven.sink.draft.text, driven.sink.draft.partial) == ("one two ", True)
    assert texts(events) == ["one ", "two "]


async def test_cancelled_and_dropped() -> None:
    gate = Gate(1)
    driven = Driven(scripted(gate, text="one two"))
    await gate.reached.wait()
    driven.live.cancel(keep=False)
    assert (await driven.events())[-1] == Cancelled(floor(FloorState.FAILED, "CANCELLED"), None)
    assert driven.sink.names == ["cancelled keep=False"]


async def test_cancelled_before_anything_was_received() -> None:
    gate = Gate(0)
    driven = Driven(scripted(gate, text="one two"))
    await gate.reached.wait()
    driven.live.cancel(keep=True)
    assert (await driven.events())[-1] == Cancelled(floor(FloorState.FAILED, "CANCELLED"), None)
    assert driven.sink.draft.empty


async def test_a_cancel_that_comes_while_the_commit_is_under_way_comes_too_late() -> None:
    class Cancelling(RecordingSink):
        async def complete(self, draft: Any) -> Any:
            assert driven.live.cancel(keep=False)
            return await super().complete(draft)

    driven = Driven(scripted(text="one"), Cancelling())
    assert isinstance((await driven.events())[-1], FloorCommitted)
    assert driven.sink.names == ["complete"]


async def test_a_server_that_stops_fails_the_run() -> None:
    gate = Gate(1)
    driven = Driven(scripted(gate, text="one two"))
    await gate.reached.wait()
    await driven.hub.drain(0)
    last = (await driven.events())[-1]
    assert isinstance(last, Failed)
    assert last.reason == FailureReason.CRASHED
    assert driven.sink.names == ["fail CRASHED"]
    assert (driven.sink.draft.text, driven.sink.draft.partial) == ("one ", True)


async def test_ending_early_closes_the_provider() -> None:
    closed = asyncio.Event()

    class Held:
        name = "held"

        async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
            try:
                yield TextChunk("one")
                await asyncio.Event().wait()
            finally:
                closed.set()

        async def aclose(self) -> None: ...

    driven = Driven(Held())
    async for frame in driven.live.subscribe():
        if frame.seq == 2:
            driven.live.cancel(keep=True)
    assert closed.is_set()


async def test_a_fault_in_the_provider_s_code_fails_the_run_and_is_logged_without_content() -> None:
    class Broken:
        name = "broken"

        async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
            yield TextChunk("one")
            raise KeyError("what the user said")

        async def aclose(self) -> None: ...

    with capture_logs() as logs:
        last, sink = await ends(Broken())
    assert isinstance(last, Failed)
    assert last.reason == FailureReason.CRASHED
    assert sink.draft.text == "one"
    assert [entry["error"] for entry in logs if entry["event"] == "run.provider_broken"] == ["KeyError"]
    assert "what the user said" not in str(logs)


async def test_a_provider_that_does_not_let_go_does_not_hold_the_run() -> None:
    release = asyncio.Event()

    class Clinging:
        name = "clinging"

        async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
            yield TextChunk("one")
            try:
                await asyncio.Event().wait()
            finally:
                await release.wait()

        async def aclose(self) -> None: ...

    driven = Driven(Clinging(), limits=RunLimits(window_seconds=0, close_seconds=0.01))
    async for frame in driven.live.subscribe():
        if frame.seq == 2:
            driven.live.cancel(keep=True)
    assert isinstance((await driven.events())[-1], Cancelled)
    release.set()


async def test_the_first_delta_goes_at_once_and_what_arrives_within_a_window_is_joined() -> None:
    gate = Gate(1)
    driven = Driven(scripted(gate, text="one two three"), limits=RunLimits(window_seconds=3_600))
    await gate.reached.wait()
    assert driven.live.last_seq == 2
    gate.opened.set()
    assert texts(await driven.events()) == ["one ", "two three"]


async def test_text_and_reasoning_are_not_joined() -> None:
    provider = scripted(reasoning="a b", text="c d")
    driven = Driven(provider, limits=RunLimits(window_seconds=3_600))
    events = await driven.events()
    assert (thoughts(events), texts(events)) == (["a ", "b"], ["c d"])


async def test_what_waits_is_published_when_its_window_ends() -> None:
    gate = Gate(3)
    driven = Driven(scripted(gate, text="one two three four"), limits=RunLimits(window_seconds=0.01))
    got = ""
    frames = driven.live.subscribe()
    async with asyncio.timeout(PATIENCE):
        while got != "one two three ":
            event = (await anext(frames)).event
            got += "".join(texts([event]))
    assert not gate.opened.is_set()
    gate.opened.set()
    await driven.events()


# --- the sink fails ----------------------------------------------------------------------------


async def test_when_the_commit_fails_and_the_floor_is_failed_the_run_says_so() -> None:
    sink = RecordingSink()
    sink.complete_error = OSError("a secret address")
    with capture_logs() as logs:
        events = await Driven(scripted(text="one"), sink).events()
    assert events[-1] == Failed(FailureReason.CRASHED, floor(FloorState.FAILED, "CRASHED"))
    assert sink.names == ["complete", "fail CRASHED"]
    assert not any(isinstance(event, PageCompleted) for event in events)
    assert "a secret address" not in str(logs)


async def test_when_neither_can_be_made_durable_the_run_is_lost() -> None:
    sink = RecordingSink()
    sink.complete_error = OSError()
    sink.fail_errors = [OSError()]
    driven = Driven(scripted(text="one"), sink)
    with pytest.raises(RunLost):
        await driven.events()
    assert sink.names == ["complete", "fail CRASHED"]


async def test_when_failing_fails_it_is_tried_once_more() -> None:
    sink = RecordingSink()
    sink.fail_errors = [OSError()]
    driven = Driven(scripted(text="one", fail={"reason": "LIMIT", "after": 1}), sink)
    assert isinstance((await driven.events())[-1], Failed)
    assert sink.names == ["fail LIMIT", "fail CRASHED"]


async def test_a_commit_of_unknown_outcome_is_never_told_as_a_failure() -> None:
    sink = RecordingSink()
    sink.complete_error = OSError()
    sink.found = floor(FloorState.COMMITTED)
    with pytest.raises(RunLost):
        await Driven(scripted(text="one"), sink).events()


async def test_a_floor_abandoned_during_its_commit_ends_as_it_is() -> None:
    class Abandoned(RecordingSink):
        async def complete(self, draft: Any) -> Any:
            driven.live.cancel(keep=False)
            raise OSError

    sink = Abandoned()
    sink.found = floor(FloorState.FAILED, "changed my mind")
    driven = Driven(scripted(text="one"), sink)
    assert (await driven.events())[-1] == Cancelled(sink.found, None)


async def test_a_floor_failed_by_somebody_else_keeps_its_own_reason() -> None:
    sink = RecordingSink()
    sink.complete_error = OSError()
    sink.found = floor(FloorState.FAILED, "LIMIT")
    last = (await Driven(scripted(text="one"), sink).events())[-1]
    assert isinstance(last, Failed)
    assert last.reason == FailureReason.LIMIT
