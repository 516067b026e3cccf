"""A stream whose reader takes nothing is cut off, and keeps nothing; a slow one is not."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from grpc import aio

from kernel.rpc.call import Call
from kernel.rpc.server import ServerOptions
from tests.rpc.plumbing import RESPOND, Running, running
from tests.support.client import Refusal, refusal_of

FRAME = bytes(1024 * 1024)
# Far more than all buffers on the way hold.
FRAMES = 64


@pytest.fixture
async def rpc() -> AsyncIterator[Running]:
    async with running(ServerOptions(stall=0.3)) as rpc:
        yield rpc


def streaming(rpc: Running) -> Any:
    """An open stream, of which nothing has been read."""
    return rpc.client.channel.unary_stream(RESPOND)(b"")


async def read_all(call: Any, taken: list[bytes]) -> None:
    while (frame := await call.read()) is not aio.EOF:
        taken.append(frame)


async def test_a_reader_that_takes_nothing_is_cut_off(rpc: Running) -> None:
    ended = asyncio.Event()

    async def frames(_request: Any, _call: Call) -> AsyncIterator[bytes]:
        try:
            for _ in range(FRAMES):
                yield FRAME
        finally:
            ended.set()

    rpc.runs.frames = frames
    call = streaming(rpc)
    await asyncio.wait_for(ended.wait(), 30)
    taken: list[bytes] = []
    with pytest.raises(aio.AioRpcError) as caught:
        await read_all(call, taken)
    assert refusal_of(caught.value) == Refusal("RESOURCE_EXHAUSTED", "LIMIT", {})
    assert 0 < len(taken) < FRAMES


async def test_a_reader_that_takes_one_now_and_then_is_served(rpc: Running) -> None:
    async def frames(_request: Any, _call: Call) -> AsyncIterator[bytes]:
        for _ in range(FRAMES):
            yield FRAME

    rpc.runs.frames = frames
    call = streaming(rpc)
    taken = [await call.read() for _ in range(FRAMES)]
    assert taken == [FRAME] * FRAMES
    assert await call.read() is aio.EOF
    assert await call.code() is grpc.StatusCode.OK
