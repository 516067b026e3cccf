"""`GET /v1/sessions/{session_id}/export`: a server stream as the file that it is."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
import pytest
from google.api import httpbody_pb2
from stemma.conversation.v1 import session_service_pb2 as pb

from tests.gateway.fake_service import FakeService, error_info, refuse
from tests.gateway.raw_http import Connection, reason_of, request

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATH = "/v1/sessions/s-1/export"


def piece(data: bytes, kind: str = "application/jsonl") -> pb.ExportSessionResponse:
    return pb.ExportSessionResponse(file=httpbody_pb2.HttpBody(content_type=kind, data=data))


def say(fake: FakeService, *pieces: pb.ExportSessionResponse) -> None:
    async def stream(_: Any, __: Any) -> AsyncIterator[Any]:
        for one in pieces:
            yield one

    fake.streams["ExportSession"] = stream


async def test_the_answer_is_the_raw_file(client: httpx.AsyncClient, fake: FakeService) -> None:
    say(fake, piece(b'{"a":"\xc3\xa4"}\n'), piece(b""), piece(bytes(range(256))))
    answer = await client.get(PATH, params={"format": "oasst"})
    assert answer.status_code == 200
    assert answer.content == b'{"a":"\xc3\xa4"}\n' + bytes(range(256))
    assert answer.headers["content-type"] == "application/jsonl"
    assert answer.headers["content-disposition"] == 'attachment; filename="s-1.jsonl"'
    assert "content-length" not in answer.headers
    assert fake.last.request == pb.ExportSessionRequest(session_id="s-1", format="oasst")


@pytest.mark.parametrize(("kind", "ending"), [("application/json", "json"), ("application/x-other", "bin")])
async def test_the_name_follows_the_type(
    client: httpx.AsyncClient, fake: FakeService, kind: str, ending: str
) -> None:
    say(fake, piece(b"[]", kind))
    answer = await client.get(PATH)
    assert answer.headers["content-type"] == kind
    assert answer.headers["content-disposition"] == f'attachment; filename="s-1.{ending}"'


async def test_bad_input_58_a_name_cannot_leave_its_quotes(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    say(fake, piece(b"x"))
    answer = await client.get("/v1/sessions/a%22%3B%20b/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="a___b.jsonl"'


async def test_a_file_of_nothing(client: httpx.AsyncClient, fake: FakeService) -> None:
    say(fake, piece(b""))
    answer = await client.get(PATH)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "application/jsonl"
    say(fake)
    answer = await client.get(PATH)
    assert (answer.status_code, answer.content) == (200, b"")


async def test_a_refusal_before_the_first_piece(client: httpx.AsyncClient, fake: FakeService) -> None:
    async def stream(_: Any, context: Any) -> AsyncIterator[Any]:
        await refuse(context, grpc.StatusCode.NOT_FOUND, "no session", error_info("NOT_FOUND"))
        yield

    fake.streams["ExportSession"] = stream
    answer = await client.get(PATH)
    assert (answer.status_code, reason_of(answer.json())) == (404, "NOT_FOUND")
    assert answer.headers["content-type"] == "application/json"


async def test_a_break_in_the_middle_ends_the_connection(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    async def stream(_: Any, context: Any) -> AsyncIterator[Any]:
        yield piece(b"x" * 70_000)
        await refuse(context, grpc.StatusCode.DATA_LOSS, "secret-text", error_info("DIGEST_MISMATCH"))

    fake.streams["ExportSession"] = stream
    with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
        await client.get(PATH)
    async with client.stream("GET", PATH) as answer:
        assert answer.status_code == 200


async def test_pieces_arrive_as_they_are_made(client: httpx.AsyncClient, fake: FakeService) -> None:
    seen = asyncio.Event()

    async def stream(_: Any, __: Any) -> AsyncIterator[Any]:
        yield piece(b"one")
        await asyncio.wait_for(seen.wait(), 10)
        yield piece(b"two")

    fake.streams["ExportSession"] = stream
    got = b""
    async with client.stream("GET", PATH) as answer:
        async for part in answer.aiter_raw():
            got += part
            seen.set()
    assert got == b"onetwo"


@pytest.mark.parametrize("pieces", [0, 1])
async def test_a_client_that_leaves_cancels_the_call(fake: FakeService, base_url: str, pieces: int) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def stream(_: Any, __: Any) -> AsyncIterator[Any]:
        try:
            for _n in range(pieces):
                yield piece(b"one")
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    fake.streams["ExportSession"] = stream
    async with Connection(base_url) as one:
        one.write(request("GET", PATH).format(host=one.netloc).encode())
        await asyncio.wait_for(begun.wait(), 10)
        if pieces:
            await asyncio.wait_for(one.reader.readuntil(b"one"), 10)
    await asyncio.wait_for(ended.wait(), 10)


async def test_the_openapi_document_describes_it(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    operation = document["paths"]["/v1/sessions/{sessionId}/export"]["get"]
    assert [(one["in"], one["name"]) for one in operation["parameters"]] == [
        ("path", "sessionId"),
        ("query", "format"),
    ]
    assert set(operation["responses"]["200"]["content"]) == {"application/json", "application/jsonl"}
