"""Request ids, admission, identity, and the line that each call leaves in the log."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
import structlog
from stemma.conversation.v1 import session_service_pb2
from structlog.testing import capture_logs

from kernel.errors import Unauthenticated
from kernel.rpc.call import Identity, Metadata, Peer, no_peer
from kernel.rpc.server import ServerOptions
from tests.rpc.plumbing import GET, LIST, RESPOND, SESSION_ID, Running, running

REQUEST = session_service_pb2.GetSessionRequest(session_id=SESSION_ID)
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.mark.parametrize("given", ["a", "trace-1/2", "!~" * 64])
async def test_the_callers_request_id_is_kept(rpc: Running, given: str) -> None:
    answer = await rpc.client.unary(GET, REQUEST, metadata=(("x-request-id", given),))
    assert answer.trailers["x-request-id"] == given
    assert rpc.sessions.calls[0].request_id == given


@pytest.mark.parametrize("given", ["", "a b", "x" * 129, None])
async def test_an_unusable_request_id_is_replaced(rpc: Running, given: str | None) -> None:
    metadata = () if given is None else (("x-request-id", given),)
    answer = await rpc.client.unary(GET, REQUEST, metadata=metadata)
    assert UUID.fullmatch(answer.trailers["x-request-id"])
    assert rpc.sessions.calls[0].request_id == answer.trailers["x-request-id"]


async def test_the_request_id_comes_back_with_errors_and_streams(rpc: Running) -> None:
    async def frames(_request: Any, _call: Any) -> AsyncIterator[bytes]:
        yield b""

    rpc.runs.frames = frames
    metadata = (("x-request-id", "mine"),)
    failed = await rpc.client.unary(GET, b"", metadata=metadata)
    streamed = await rpc.client.stream(RESPOND, metadata=metadata)
    assert failed.code == grpc.StatusCode.INVALID_ARGUMENT
    assert failed.trailers["x-request-id"] == streamed.trailers["x-request-id"] == "mine"


class Held:
    """Holds calls until they are let go."""

    def __init__(self) -> None:
        self.inside = 0
        self.entered = asyncio.Condition()
        self.go = asyncio.Event()

    async def get(self, _request: Any, _call: Any) -> bytes:
        async with self.entered:
            self.inside += 1
            self.entered.notify_all()
        await self.go.wait()
        return b""

    async def frames(self, request: Any, call: Any) -> AsyncIterator[bytes]:
        yield await self.get(request, call)

    async def until(self, inside: int) -> None:
        async with asyncio.timeout(10), self.entered:
            await self.entered.wait_for(lambda: self.inside == inside)


async def test_too_many_calls_at_once_are_overload() -> None:
    async with running(ServerOptions(max_calls=2, max_streams=1)) as rpc:
        held = Held()
        rpc.sessions.get, rpc.runs.frames = held.get, held.frames
        first = [asyncio.create_task(rpc.client.unary(GET, REQUEST)) for _ in range(2)]
        await held.until(2)
        answer = await rpc.client.unary(GET, REQUEST)
        assert answer.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
        assert answer.retry.retry_delay.ToMilliseconds() > 0

        stream = asyncio.create_task(rpc.client.stream(RESPOND))
        await held.until(3)
        answer = await rpc.client.stream(RESPOND)
        assert answer.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED")
        assert rpc.server.active == 3

        held.go.set()
        answers = await asyncio.gather(*first, stream)
        assert {answer.code for answer in answers} == {grpc.StatusCode.OK}
        await rpc.ended()
        assert await rpc.still_serves()


async def test_auth_off_is_the_local_owner(rpc: Running) -> None:
    await rpc.client.unary(GET, REQUEST)
    assert rpc.sessions.calls[0].identity == Identity(
        "local", "local", frozenset({"owner", "admin", "service"})
    )
    assert rpc.sessions.calls[0].method == GET


class OneKey:
    async def authenticate(self, metadata: Metadata, method: str, peer: Peer = no_peer) -> Identity:
        given = [value for key, value in metadata if key == "authorization"]
        if given != ["Bearer good"]:
            raise Unauthenticated("UNAUTHENTICATED", "A valid key is needed.")
        return Identity("t1", "p1", frozenset({"observer"}))


async def test_an_authenticator_decides_who_calls() -> None:
    async with running(authenticator=OneKey()) as rpc:
        good = ("authorization", "Bearer good")
        assert (await rpc.client.unary(GET, REQUEST, metadata=(good,))).code == grpc.StatusCode.OK
        assert rpc.sessions.calls[0].identity.tenant_id == "t1"
        for metadata in ((), (good, good), (("authorization", "Bearer bad"),)):
            answer = await rpc.client.unary(GET, REQUEST, metadata=metadata)
            assert answer.refused(grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
        assert len(rpc.sessions.calls) == 1


async def test_each_call_leaves_one_line_without_its_content(rpc: Running) -> None:
    title = "words of a user"
    request = session_service_pb2.ListSessionsRequest(page_token=title, page_size=1)
    last = asyncio.Event()

    def watch(_logger: object, _level: str, event: Any) -> Any:
        if event.get("code") == "UNIMPLEMENTED":
            last.set()
        return event

    # As in production, but kept: the fields bound to the call are merged in.
    with capture_logs(processors=[structlog.contextvars.merge_contextvars, watch]) as lines:
        answer = await rpc.client.unary(LIST, request)
        await rpc.client.unary(GET, b"\x07")
        await rpc.client.unary("/no.Service/Method")
        # A line is written once the answer is out, so the client may be first.
        async with asyncio.timeout(10):
            await last.wait()
    listed, refused, unknown = [line for line in lines if line["event"] == "call"]
    assert listed["method"] == LIST
    assert listed["code"] == "OK"
    assert listed["ms"] >= 0
    assert listed["request_id"] == answer.trailers["x-request-id"]
    assert (listed["tenant"], listed["principal"]) == ("local", "local")
    assert (refused["method"], refused["code"]) == (GET, "INVALID_ARGUMENT")
    assert (unknown["method"], unknown["code"]) == ("/no.Service/Method", "UNIMPLEMENTED")
    assert "tenant" not in unknown
    assert title not in repr(lines)
