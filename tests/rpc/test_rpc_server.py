"""Starting, health, reflection, draining, and what a servicer must have."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from stemma.conversation.v1 import session_service_pb2

from kernel.rpc.registry import BadServicer, snake_case
from kernel.rpc.server import CannotListen, Server, serve
from tests.rpc.plumbing import GET, RESPOND, RUNS, SESSION_ID, SESSIONS, Running, Runs, Sessions, running

REQUEST = session_service_pb2.GetSessionRequest(session_id=SESSION_ID)
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


async def health(rpc: Running, service: str) -> int:
    stub = health_pb2_grpc.HealthStub(rpc.client.channel)
    return (await stub.Check(health_pb2.HealthCheckRequest(service=service))).status


@pytest.mark.parametrize("name", ["", SESSIONS.full_name, RUNS.full_name])
async def test_health_of_the_server_and_of_each_service(rpc: Running, name: str) -> None:
    assert await health(rpc, name) == SERVING


async def test_health_of_an_unknown_service(rpc: Running) -> None:
    with pytest.raises(aio.AioRpcError) as caught:
        await health(rpc, "stemma.conversation.v1.NoService")
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


async def test_reflection_lists_the_services(rpc: Running) -> None:
    stub = reflection_pb2_grpc.ServerReflectionStub(rpc.client.channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    async for response in stub.ServerReflectionInfo(iter([request])):
        names = {service.name for service in response.list_services_response.service}
        assert {SESSIONS.full_name, RUNS.full_name, "grpc.health.v1.Health"} <= names
        return
    raise AssertionError("no answer")


async def test_a_taken_address_is_refused_with_what_to_do(rpc: Running) -> None:
    with pytest.raises(CannotListen, match=r"Choose another address, or port 0"):
        await serve({SESSIONS: Sessions()}, rpc.server.address)


@pytest.mark.parametrize("address", ["50051", ":50051", ""])
async def test_an_address_needs_a_host_and_a_port(address: str) -> None:
    with pytest.raises(CannotListen, match="host:port"):
        await serve({SESSIONS: Sessions()}, address)


async def test_a_servicer_must_answer_every_rpc() -> None:
    class Half:
        async def create_session(self, request: Any, call: Any) -> Any: ...

        def get_session(self, request: Any, call: Any) -> Any: ...

        list_sessions = "none"

    with pytest.raises(BadServicer) as caught:
        Server({SESSIONS: Half()}, "127.0.0.1:0")
    for expected in (
        "GetSession: get_session must be async",
        "ListSessions: list_sessions is not a method",
    ):
        assert expected in str(caught.value)
    assert "CreateSession" not in str(caught.value)

    with pytest.raises(BadServicer) as caught:
        Server({RUNS: Half()}, "127.0.0.1:0")
    for name in ("respond", "attach_run", "get_run", "cancel_run"):
        assert f"there is no method {name}" in str(caught.value)


async def test_a_stream_must_be_a_generator() -> None:
    class Wrong(Runs):
        async def respond(self, request: Any, call: Any) -> Any: ...

    with pytest.raises(BadServicer, match="respond must be an async generator, as the RPC streams"):
        Server({RUNS: Wrong()}, "127.0.0.1:0")


def test_snake_case() -> None:
    assert snake_case("AppendFloor") == "append_floor"
    assert snake_case("Respond") == "respond"


class Lasting:
    """A stream that goes on until what it lives on is ended."""

    def __init__(self) -> None:
        self.started, self.end = asyncio.Event(), asyncio.Event()

    async def frames(self, _request: Any, _call: Any) -> AsyncIterator[bytes]:
        yield b"first"
        self.started.set()
        await self.end.wait()
        yield b"last"


async def test_drain_ends_streams_with_their_last_frame() -> None:
    lasting = Lasting()
    refused, seen = [], []

    async def before_stop() -> None:
        refused.append(await rpc.client.unary(GET, REQUEST))
        seen.extend([await health(rpc, ""), await health(rpc, SESSIONS.full_name)])
        lasting.end.set()

    async with running(before_stop=before_stop) as rpc:
        rpc.runs.frames = lasting.frames
        stream = asyncio.create_task(rpc.client.stream(RESPOND))
        async with asyncio.timeout(20):
            await lasting.started.wait()
            await asyncio.gather(rpc.server.drain(10), rpc.server.drain(10))
            answer = await stream
            await rpc.server.wait()
    assert answer.code == grpc.StatusCode.OK
    assert answer.messages == (b"first", b"last")
    assert refused[0].refused(grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE")
    assert seen == [NOT_SERVING, NOT_SERVING]
    assert not rpc.sessions.requests


async def test_drain_waits_for_calls_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing but the waiting itself may keep the call alive.
    monkeypatch.setattr("kernel.rpc.server._GOODBYE", 0.0)
    started, go_on = asyncio.Event(), asyncio.Event()

    async def get(_request: Any, _call: Any) -> bytes:
        started.set()
        await go_on.wait()
        return b"answer"

    async with running() as rpc, asyncio.timeout(20):
        rpc.sessions.get = get
        call = asyncio.create_task(rpc.client.unary(GET, REQUEST))
        await started.wait()
        draining = asyncio.create_task(rpc.server.drain(3_600))
        while (await rpc.client.unary(GET, REQUEST, timeout=5)).code != grpc.StatusCode.UNAVAILABLE:
            pass
        go_on.set()
        await draining
        assert (await call).messages == (b"answer",)


async def test_drain_waits_for_no_watcher_of_the_health() -> None:
    async with running() as rpc:
        stub = health_pb2_grpc.HealthStub(rpc.client.channel)
        watch = stub.Watch(health_pb2.HealthCheckRequest())
        async with asyncio.timeout(20):
            assert (await watch.read()).status == SERVING
            # Far longer than this test may take.
            await rpc.server.drain(3_600)
            assert (await watch.read()).status == NOT_SERVING


@pytest.mark.parametrize("where", ["call", "before_stop"])
async def test_drain_cuts_off_what_is_left_at_the_end_of_its_grace(where: str) -> None:
    forever, started = asyncio.Event(), asyncio.Event()

    async def wait(*_: Any) -> bytes:
        started.set()
        await forever.wait()
        return b""

    async with running(before_stop=wait if where == "before_stop" else None) as rpc:  # type: ignore[arg-type]
        rpc.sessions.get = wait
        call = asyncio.create_task(rpc.client.unary(GET, REQUEST))
        async with asyncio.timeout(20):
            await started.wait() if where == "call" else await asyncio.sleep(0)
            await rpc.server.drain(0.05)
            answer = await call
    assert answer.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
