"""The runs of a process: who owns them, how long they are remembered, how a server ends them."""

import asyncio

import pytest
from structlog.testing import capture_logs

from kernel.generation.events import Failed, FloorCommitted
from kernel.generation.hub import RunHub
from kernel.generation.live import Interrupt, LiveRun, RunLost
from kernel.generation.provider import FailureReason
from kernel.tree.model import FloorState
from tests.generation.builders import STARTED, branch, events_of, floor

COMMITTED = FloorCommitted(floor(FloorState.COMMITTED), branch())


def new_run(run_id: str = "run-1") -> LiveRun:
    return LiveRun(run_id, "floor-1")


async def commit_when(live: LiveRun, ready: asyncio.Event) -> None:
    live.publish(STARTED)
    await ready.wait()
    live.publish(COMMITTED)


async def commit(live: LiveRun) -> None:
    live.publish(COMMITTED)


async def fail_when_stopped(live: LiveRun) -> None:
    await live.wait_interrupted()
    live.publish(Failed(FailureReason.CRASHED, floor(FloorState.FAILED)))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def finish(hub: RunHub, run_id: str) -> None:
    live = new_run(run_id)
    hub.start(live, commit(live))
    await hub.wait_idle()


async def test_a_run_is_found_while_it_runs_and_a_while_after() -> None:
    clock = Clock()
    hub = RunHub(clock=clock, keep_seconds=10)
    ready = asyncio.Event()
    live = new_run()
    hub.start(live, commit_when(live, ready))
    assert hub.get("run-1") is live
    assert hub.get("run-2") is None
    ready.set()
    await hub.wait_idle()
    clock.now = 10.0
    assert hub.get("run-1") is live
    clock.now = 10.1
    assert hub.get("run-1") is None


async def test_only_so_many_ended_runs_are_kept() -> None:
    hub = RunHub(keep_finished=2)
    for n in range(4):
        await finish(hub, f"run-{n}")
    assert [hub.get(f"run-{n}") is not None for n in range(4)] == [False, False, True, True]


async def test_no_second_run_under_one_id() -> None:
    hub = RunHub()
    ready = asyncio.Event()
    live, second = new_run(), new_run()
    hub.start(live, commit_when(live, ready))
    with pytest.raises(RuntimeError, match="is running"):
        hub.start(second, commit(second))
    ready.set()
    assert await events_of(live.subscribe()) == [STARTED, COMMITTED]


async def test_a_run_outlives_the_caller_that_started_it() -> None:
    hub = RunHub()
    ready = asyncio.Event()
    live = new_run()

    async def call() -> None:
        hub.start(live, commit_when(live, ready))
        async for _ in live.subscribe():
            pass

    caller = asyncio.create_task(call())
    await anext(live.subscribe())
    caller.cancel()
    await asyncio.wait({caller})
    assert caller.cancelled()
    ready.set()
    assert await events_of(live.subscribe()) == [STARTED, COMMITTED]


async def test_a_run_that_breaks_is_lost_and_logged_without_its_content() -> None:
    async def broken() -> None:
        raise ValueError("what the user said")

    hub = RunHub()
    live = new_run()
    with capture_logs() as logs:
        hub.start(live, broken())
        with pytest.raises(RunLost):
            await events_of(live.subscribe())
    assert [(entry["event"], entry["error"]) for entry in logs] == [("run.broken", "ValueError")]
    assert "what the user said" not in str(logs)


async def test_a_run_that_ends_without_a_last_frame_is_lost() -> None:
    async def silent() -> None:
        return

    hub = RunHub()
    live = new_run()
    hub.start(live, silent())
    with pytest.raises(RunLost):
        await events_of(live.subscribe())


async def test_draining_waits_for_runs_that_end_by_themselves() -> None:
    hub = RunHub()
    ready = asyncio.Event()
    live = new_run()
    hub.start(live, commit_when(live, ready))
    draining = asyncio.create_task(hub.drain(60))
    await asyncio.sleep(0)
    assert not hub.accepting
    ready.set()
    await draining
    assert hub.running == 0
    assert live.interrupt is None
    assert await events_of(live.subscribe()) == [STARTED, COMMITTED]


async def test_draining_stops_the_rest_and_returns_when_all_are_closed() -> None:
    hub = RunHub()
    runs = [new_run(f"run-{n}") for n in range(3)]
    for live in runs:
        hub.start(live, fail_when_stopped(live))
    await hub.drain(0.01)
    assert [live.interrupt for live in runs] == [Interrupt.STOP] * 3
    assert all(live.last_frame is not None for live in runs)
    assert hub.running == 0


async def test_draining_cuts_what_does_not_stop() -> None:
    hub = RunHub()
    live = new_run()
    hub.start(live, commit_when(live, asyncio.Event()))
    await hub.drain(0.01, stop_timeout=0.01)
    assert live.closed
    with pytest.raises(RunLost):
        await events_of(live.subscribe())


async def test_a_run_that_starts_while_draining_is_told_to_stop() -> None:
    hub = RunHub()
    await hub.drain(0)
    live = new_run()
    hub.start(live, fail_when_stopped(live))
    assert isinstance((await events_of(live.subscribe()))[-1], Failed)
