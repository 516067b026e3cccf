"""Deadlines and cancellation. Nothing here waits for a fixed time: handlers wait until they are cut."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from stemma.conversation.v1 import run_service_pb2, session_service_pb2

from kernel.rpc.server import ServerOptions
from tests.rpc.plumbing import GET, RESPOND, SESSION_ID, Running, running
from tests.rpc.raw_http2 import message, raw_call

DEADLINE_EXCEEDED = grpc.StatusCode.DEADLINE_EXCEEDED
REQUEST = session_service_pb2.GetSessionRequest(session_id=SESSION_ID)
FRAME = run_service_pb2.RespondResponse().SerializeToString()


class Stuck:
    """A handler that never answers, and notes how it ended."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cut = asyncio.Event()

    async def __call__(self, _request: Any, _call: Any) -> bytes:
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cut.set()
            raise
        raise AssertionError

    async def frames(self, request: Any, call: Any) -> AsyncIterator[bytes]:
        yield FRAME
        await self(request, call)


def soon() -> ServerOptions:
    return ServerOptions(unary_deadline=0.2, stream_deadline=0.2)


@pytest.mark.parametrize("timeout", [0.001, 0, -1])
async def test_bad_input_49_deadline_of_1_ms_or_passed(rpc: Running, timeout: float) -> None:
    for _ in range(20):
        assert (await rpc.client.unary(GET, REQUEST, timeout=timeout)).code == DEADLINE_EXCEEDED
    await rpc.ended()
    assert not rpc.sessions.requests
    assert await rpc.still_serves()


@pytest.mark.parametrize("timeout", ["1m", "1n", "0n", "0S"])
async def test_bad_input_49_the_server_answers_it_itself(rpc: Running, timeout: str) -> None:
    # Raw, so that no client's clock can answer first.
    body = message(REQUEST.SerializeToString())
    status = await raw_call(rpc.server.address, GET, body, extra=(("grpc-timeout", timeout),))
    assert status == DEADLINE_EXCEEDED.value[0]
    assert not rpc.sessions.requests
    assert await rpc.still_serves()


async def test_bad_input_49_deadline_passes_in_the_handler(rpc: Running) -> None:
    stuck = rpc.sessions.get = Stuck()
    assert (await rpc.client.unary(GET, REQUEST, timeout=0.2)).code == DEADLINE_EXCEEDED
    async with asyncio.timeout(10):
        await stuck.cut.wait()
    await rpc.ended()
    assert await rpc.still_serves()


async def test_bad_input_49_no_deadline_gets_the_servers() -> None:
    async with running(soon()) as rpc:
        stuck = rpc.sessions.get = Stuck()
        answer = await rpc.client.unary(GET, REQUEST)
        assert answer.refused(DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED")
        assert stuck.cut.is_set()
        assert await rpc.still_serves()


async def test_bad_input_49_a_stream_gets_the_servers_deadline() -> None:
    async with running(soon()) as rpc:
        stuck = Stuck()
        rpc.runs.frames = stuck.frames
        answer = await rpc.client.stream(RESPOND)
        assert answer.refused(DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED")
        assert answer.messages == (FRAME,)
        assert stuck.cut.is_set()


async def test_a_request_that_never_comes_is_cut_by_the_deadline() -> None:
    async with running(soon()) as rpc:
        call = rpc.client.channel.stream_unary(GET)()
        assert await call.code() == DEADLINE_EXCEEDED
        assert not rpc.sessions.requests


async def test_a_shielded_commit_survives_the_deadline() -> None:
    async with running(soon()) as rpc:
        go_on, committed = asyncio.Event(), asyncio.Event()
        commits = []

        async def commit() -> None:
            await go_on.wait()
            committed.set()

        async def get(_request: Any, _call: Any) -> bytes:
            commits.append(asyncio.create_task(commit()))
            await asyncio.shield(commits[0])
            raise AssertionError

        rpc.sessions.get = get
        answer = await rpc.client.unary(GET, REQUEST)
        assert answer.code == DEADLINE_EXCEEDED
        assert not committed.is_set()
        go_on.set()
        async with asyncio.timeout(10):
            await committed.wait()
            await commits[0]


async def test_the_handler_knows_its_time(rpc: Running) -> None:
    answer = await rpc.client.unary(GET, REQUEST, timeout=20)
    assert answer.code == grpc.StatusCode.OK
    assert 0 < rpc.sessions.calls[0].remaining() < 21  # rounded up on its way
    await rpc.client.unary(GET, REQUEST)
    assert 21 < rpc.sessions.calls[1].remaining() <= 30


async def test_a_handlers_own_timeout_is_not_the_calls(rpc: Running) -> None:
    async def get(_request: Any, _call: Any) -> bytes:
        raise TimeoutError

    rpc.sessions.get = get
    answer = await rpc.client.unary(GET, REQUEST)
    assert answer.refused(grpc.StatusCode.INTERNAL, "INTERNAL")


async def test_a_client_that_goes_away_cancels_the_handler(rpc: Running) -> None:
    stuck = rpc.sessions.get = Stuck()
    call = rpc.client.channel.unary_unary(GET)(REQUEST.SerializeToString())
    waiting = asyncio.ensure_future(_code(call))
    async with asyncio.timeout(10):
        await stuck.started.wait()
        call.cancel()
        await stuck.cut.wait()
        assert await waiting == grpc.StatusCode.CANCELLED
    await rpc.ended()
    assert await rpc.still_serves()


async def test_a_client_that_goes_away_closes_the_stream_it_read(rpc: Running) -> None:
    """Also when the server is sending at that moment, and not waiting in the handler."""
    closed = asyncio.Event()

    async def frames(_request: Any, _call: Any) -> AsyncIterator[bytes]:
        try:
            while True:
                yield bytes(1024 * 1024)
        finally:
            closed.set()

    # Kept, so that it is not the garbage collector that closes it.
    kept = []

    def keep(request: Any, call: Any) -> AsyncIterator[bytes]:
        kept.append(frames(request, call))
        return kept[0]

    rpc.runs.frames = keep
    call = rpc.client.channel.unary_stream(RESPOND)(b"")
    async with asyncio.timeout(10):
        assert await call.read() == bytes(1024 * 1024)
        call.cancel()
        await closed.wait()
    await rpc.ended()
    assert await rpc.still_serves()


async def _code(call: Any) -> grpc.StatusCode:
    with contextlib.suppress(asyncio.CancelledError, grpc.aio.AioRpcError):
        await call
    return await call.code()


async def test_a_cancellation_let_out_does_not_hang_the_client(rpc: Running) -> None:
    async def get(_request: Any, _call: Any) -> bytes:
        raise asyncio.CancelledError

    rpc.sessions.get = get
    answer = await rpc.client.unary(GET, REQUEST, timeout=20)
    assert answer.refused(grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE")
    assert await rpc.still_serves()
