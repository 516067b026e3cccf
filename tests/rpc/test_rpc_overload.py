"""What calls may hold together, and clients that do not read: each costs its own stream and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from grpc import aio
from structlog.testing import capture_logs

from kernel.errors import Exhausted
from kernel.rpc.admission import Budget
from kernel.rpc.server import ServerOptions
from tests.bad_inputs.wire import filler
from tests.rpc.plumbing import GET, LIST, RESPOND, Answer, Running, running

MIB = 1024 * 1024
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


def overloaded(answer: Answer) -> bool:
    return answer.refused(EXHAUSTED, "OVERLOADED") and answer.retry.retry_delay.ToMilliseconds() > 0


class Held:
    """A handler that waits for `go` once it has its request."""

    def __init__(self, answer: bytes = b"") -> None:
        self.inside = 0
        self.go = asyncio.Event()
        self.entered = asyncio.Condition()
        self._answer = answer

    async def get(self, _request: Any, _call: Any) -> bytes:
        async with self.entered:
            self.inside += 1
            self.entered.notify_all()
        await self.go.wait()
        return self._answer

    async def until(self, inside: int) -> None:
        async with asyncio.timeout(20), self.entered:
            await self.entered.wait_for(lambda: self.inside >= inside)


def test_a_budget_counts_what_is_large() -> None:
    budget = Budget(3 * MIB)
    large, small, other = budget.share(), budget.share(), budget.share()
    large.hold(2 * MIB)
    small.hold(Budget.SMALL)
    assert budget.held == 2 * MIB
    with pytest.raises(Exhausted) as caught:
        other.hold(2 * MIB)
    assert (caught.value.reason, caught.value.retry_after) == ("OVERLOADED", 1.0)
    large.hold(MIB)
    other.hold(2 * MIB)
    other.hold(0)
    large.hold(0)
    assert budget.held == 0


async def test_large_requests_are_refused_before_they_fill_the_memory() -> None:
    """Sixty-four of 4 MiB where 16 MiB may be held: four are worked on; small calls go on all the while."""
    async with running(ServerOptions(max_bytes=16 * MIB)) as rpc:
        held = Held()
        rpc.sessions.get = held.get
        large = [asyncio.create_task(rpc.client.unary(GET, filler(4 * MIB))) for _ in range(64)]
        await held.until(4)
        async with asyncio.timeout(60):
            assert overloaded(await next(asyncio.as_completed(large)))
        assert await rpc.still_serves()
        while sum(task.done() for task in large) < 60:
            await asyncio.wait([task for task in large if not task.done()], return_when="FIRST_COMPLETED")
        assert held.inside == 4
        held.go.set()
        answers = await asyncio.gather(*large)
        assert sum(answer.code == grpc.StatusCode.OK for answer in answers) == 4
        assert sum(overloaded(answer) for answer in answers if answer.code != grpc.StatusCode.OK) == 60
        # What was held is free again.
        assert (await rpc.client.unary(GET, filler(4 * MIB))).code == grpc.StatusCode.OK
        await rpc.ended()
        assert rpc.server._gate._requests.held == rpc.server._gate._answers.held == 0


async def test_refusing_is_told_once_a_second_and_not_for_each_call() -> None:
    async with running(ServerOptions(max_calls=1)) as rpc:
        held = Held()
        rpc.sessions.get = held.get
        first = asyncio.create_task(rpc.client.unary(GET))
        await held.until(1)
        with capture_logs() as lines:
            answers = [await rpc.client.unary(LIST, metadata=(("x-request-id", "mine"),)) for _ in range(50)]
        assert all(overloaded(answer) for answer in answers)
        assert {answer.trailers["x-request-id"] for answer in answers} == {"mine"}
        told = [line for line in lines if line["event"] == "overloaded"]
        assert 1 <= len(told) < 50
        assert not [line for line in lines if line["event"] == "call"]
        held.go.set()
        assert (await first).code == grpc.StatusCode.OK


class Frames:
    """A stream of frames of 1 MiB; `closed` once its generator has ended."""

    def __init__(self) -> None:
        self.made = 0
        self.closed = asyncio.Event()

    async def frames(self, _request: Any, _call: Any) -> AsyncIterator[bytes]:
        try:
            for _ in range(1_000):
                self.made += 1
                yield bytes(MIB)
        finally:
            self.closed.set()


async def stalled(rpc: Running) -> Any:
    """A stream whose client takes the first frame and then nothing."""
    call = rpc.client.channel.unary_stream(RESPOND)(b"")
    assert len(await call.read()) == MIB
    return call


async def to_the_end(call: Any) -> None:
    while await call.read() is not aio.EOF:
        pass


async def test_a_stalled_reader_costs_its_own_stream() -> None:
    """It is ended after a while; what it was to be sent is not made meanwhile; others are served."""
    async with running(ServerOptions(stall=0.5)) as rpc, asyncio.timeout(60):
        frames = Frames()
        rpc.runs.frames = frames.frames
        call = await stalled(rpc)
        assert await rpc.still_serves()
        await frames.closed.wait()
        # A connection's window or two, and the socket's buffers: not all that there is.
        assert frames.made < 100
        assert await rpc.still_serves()
        # Its place is free before it reads again, and then it is told.
        assert rpc.server._gate._working[True] == 0
        with pytest.raises(aio.AioRpcError, match="took nothing") as caught:
            await to_the_end(call)
        assert caught.value.code() == EXHAUSTED
        await rpc.ended()


async def test_answers_that_nobody_takes_are_bounded_together() -> None:
    async with running(ServerOptions(max_bytes=4 * MIB)) as rpc, asyncio.timeout(60):
        frames = Frames()
        rpc.runs.frames = frames.frames
        calls = []
        for count in range(1, 5):
            calls.append(await stalled(rpc))
            assert rpc.server._gate._answers.held == count * MIB
        answer = await rpc.client.stream(RESPOND)
        assert overloaded(answer)
        assert await rpc.still_serves()
        for call in calls:
            call.cancel()
        await rpc.ended()
        assert rpc.server._gate._answers.held == 0
