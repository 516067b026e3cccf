"""The log of a run: joining, resuming, ending."""

import asyncio
from contextlib import aclosing

import pytest

from kernel.generation.events import Cancelled, Failed, FloorCommitted, Position, TextDelta
from kernel.generation.live import Interrupt, LiveRun, RunLost
from kernel.generation.provider import FailureReason
from kernel.tree.model import FloorState
from tests.generation.builders import PATIENCE, STARTED, branch, events_of, floor

COMMITTED = FloorCommitted(floor(FloorState.COMMITTED), branch())


def new_run() -> LiveRun:
    return LiveRun("run-1", "floor-1")


async def test_positions_count_from_one_without_gaps() -> None:
    live = new_run()
    live.publish(STARTED)
    live.publish(TextDelta("p", "a"))
    live.publish(COMMITTED)
    assert [(frame.epoch, frame.seq) for frame in live.frames] == [(1, 1), (1, 2), (1, 3)]
    assert live.last_seq == 3
    assert live.last_frame is live.frames[-1]


@pytest.mark.parametrize("after", range(7))
async def test_a_subscriber_that_resumes_anywhere_at_any_time_gets_exactly_the_rest(after: int) -> None:
    events = [STARTED, *(TextDelta("p", str(n)) for n in range(4)), COMMITTED]
    for published_first in range(len(events) + 1):
        live = new_run()
        for event in events[:published_first]:
            live.publish(event)
        reading = asyncio.create_task(collect(live, after))
        for event in events[published_first:]:
            # The subscriber runs in between, as far as it gets.
            await asyncio.sleep(0)
            live.publish(event)
        assert await reading == list(range(after + 1, len(events) + 1))


async def collect(live: LiveRun, after: int) -> list[int]:
    async with asyncio.timeout(PATIENCE):
        return [frame.seq async for frame in live.subscribe(Position(live.epoch, after))]


async def test_a_subscriber_that_does_not_read_holds_nobody_up() -> None:
    live = new_run()
    async with aclosing(live.subscribe()) as slow:
        live.publish(STARTED)
        assert (await anext(slow)).seq == 1
        for n in range(1_000):
            live.publish(TextDelta("p", str(n)))
        live.publish(COMMITTED)
        everything = await asyncio.gather(*(events_of(live.subscribe()) for _ in range(20)))
        assert all(events == everything[0] for events in everything)
        assert len(everything[0]) == 1_002
        assert (await anext(slow)).seq == 2


@pytest.mark.parametrize(
    "last",
    [
        COMMITTED,
        Failed(FailureReason.CRASHED, floor(FloorState.FAILED)),
        Cancelled(floor(FloorState.FAILED), None),
    ],
)
async def test_each_last_event_closes_the_run(last: FloorCommitted | Failed | Cancelled) -> None:
    live = new_run()
    waiting = asyncio.create_task(live.wait_closed())
    live.publish(last)
    await waiting
    assert live.closed
    assert await events_of(live.subscribe()) == [last]
    with pytest.raises(RuntimeError, match="closed"):
        live.publish(last)
    assert not live.cancel(keep=True)


async def test_a_lost_run_gives_what_there_is_and_then_says_so() -> None:
    live = new_run()
    live.publish(STARTED)
    got = []
    reading = live.subscribe()
    got.append(await anext(reading))
    live.lose()
    with pytest.raises(RunLost):
        await anext(reading)
    assert live.closed
    assert live.last_frame is None


async def test_losing_a_run_that_has_ended_changes_nothing() -> None:
    live = new_run()
    live.publish(COMMITTED)
    live.lose()
    assert await events_of(live.subscribe()) == [COMMITTED]


async def test_the_first_to_interrupt_decides() -> None:
    live = new_run()
    waiting = asyncio.create_task(live.wait_interrupted())
    assert live.cancel(keep=False)
    assert not live.cancel(keep=True)
    assert not live.stop()
    await waiting
    assert live.interrupt is Interrupt.CANCEL_DROP
