"""`POST /v1/sessions:import`: a file that goes on to the service while it arrives."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import Any

import grpc
import httpx
import pytest
from stemma.conversation.v1 import session_service_pb2 as pb

from gateway.uploads import PIECE
from tests.gateway.fake_service import FakeService, error_info, refuse
from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import Connection, post, reason_of, request
from tests.gateway.test_requests import assert_refused

pytestmark = pytest.mark.asyncio(loop_scope="session")

PATH = "/v1/sessions:import"
REQUEST_ID = str(uuid.uuid4())
GOOD = pb.ImportResult(index=0, title="T", session_id="s-1", floors=2, messages=3, warnings=["w"])
BAD = pb.ImportResult(index=1, error=pb.ImportFailure(reason="INVALID", message="no tree"))


class Importer:
    """What the service got. `news` is set with each piece, `ended` when its call has ended."""

    def __init__(self, fake: FakeService, *results: pb.ImportResult) -> None:
        self.header = pb.ImportHeader()
        self.sizes: list[int] = []
        self.data = b""
        self.metadata: dict[str, Any] = {}
        self.news, self.ended = asyncio.Event(), asyncio.Event()
        self.seconds_left: float | None = None
        self._results = results
        fake.streams["ImportSessions"] = self._answer

    async def _answer(self, requests: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        self.seconds_left = context.time_remaining()
        self.metadata = dict(context.invocation_metadata() or ())
        try:
            async for one in requests:
                if one.WhichOneof("part") == "header":
                    self.header = one.header
                else:
                    self.sizes.append(len(one.chunk))
                    self.data += one.chunk
                    self.news.set()
            for result in self._results:
                yield pb.ImportSessionsResponse(result=result)
        finally:
            self.ended.set()


async def test_the_raw_body_reaches_the_service(client: httpx.AsyncClient, fake: FakeService) -> None:
    importer = Importer(fake, GOOD, BAD)
    data = bytes(range(256)) * 4096 + b"rest"
    query = {"format": "oasst", "fileName": "ä/../x.json", "project_id": "p", "requestId": REQUEST_ID}
    answer = await client.post(PATH, params=query, content=data)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == {
        "results": [
            {
                "index": 0,
                "title": "T",
                "sessionId": "s-1",
                "floors": 2,
                "messages": 3,
                "warnings": ["w"],
            },
            {
                "index": 1,
                "title": "",
                "sessionId": "",
                "floors": 0,
                "messages": 0,
                "warnings": [],
                "error": {"reason": "INVALID", "message": "no tree"},
            },
        ]
    }
    assert importer.header == pb.ImportHeader(
        request_id=REQUEST_ID, format="oasst", file_name="ä/../x.json", project_id="p"
    )
    assert importer.data == data
    assert importer.sizes == [PIECE] * 4 + [4]
    assert importer.metadata["x-request-id"] == answer.headers["x-request-id"]
    # It takes as long as it takes: the service has limits of its own.
    assert importer.seconds_left is None


@pytest.mark.parametrize(
    "kind", ["application/json", "application/zip", "text/plain; charset=latin-1", "x", ""]
)
async def test_any_content_type_is_a_file(fake: FakeService, base_url: str, kind: str) -> None:
    importer = Importer(fake)
    answer = await post(base_url, PATH, b"not json", f"Content-Type: {kind}")
    assert (answer.status, answer.json()) == (200, {"results": []})
    assert importer.data == b"not json"


async def test_no_body_is_an_empty_file(client: httpx.AsyncClient, fake: FakeService) -> None:
    importer = Importer(fake)
    assert (await client.post(PATH)).status_code == 200
    assert importer.sizes == []


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "multipart/form-data; boundary=x"},
        {"content-type": "Multipart/Mixed"},
        {"content-encoding": "gzip"},
    ],
)
async def test_bad_input_58_bodies_that_are_no_file(
    client: httpx.AsyncClient, fake: FakeService, headers: dict[str, str]
) -> None:
    importer = Importer(fake)
    answer = await client.post(PATH, content=b"x", headers=headers)
    assert (answer.status_code, reason_of(answer.json())) == (415, "INVALID")
    assert importer.data == b""


@pytest.mark.parametrize(
    "where",
    [
        {"params": {"requestId": REQUEST_ID}},
        {"headers": {"Idempotency-Key": REQUEST_ID}},
        {"params": {"request_id": REQUEST_ID}, "headers": {"Idempotency-Key": REQUEST_ID}},
    ],
)
async def test_a_request_id_comes_by_two_ways(
    client: httpx.AsyncClient, fake: FakeService, where: dict[str, Any]
) -> None:
    importer = Importer(fake)
    assert (await client.post(PATH, content=b"x", **where)).status_code == 200
    assert importer.header.request_id == REQUEST_ID


async def test_bad_input_58_parameters(client: httpx.AsyncClient, fake: FakeService) -> None:
    two = await client.post(f"{PATH}?requestId=a", headers={"Idempotency-Key": "b"}, content=b"x")
    assert_refused(two, fake, "request_id")
    for query, field in (
        ("format=a&format=a", "format"),
        ("fileName=a&file_name=a", "file_name"),
        ("title=x", "title"),
        ("header.format=x", "header.format"),
        ("fileName=%00", "file_name"),
    ):
        assert_refused(await client.post(f"{PATH}?{query}", content=b"x"), fake, field)
    assert (await client.get(PATH)).headers["allow"] == "POST"


async def test_it_goes_on_while_it_arrives(client: httpx.AsyncClient, fake: FakeService) -> None:
    importer = Importer(fake, GOOD)

    async def body() -> AsyncIterator[bytes]:
        for _ in range(3):
            importer.news.clear()
            yield b"x" * PIECE
            await asyncio.wait_for(importer.news.wait(), 10)
        yield b"end"

    answer = await client.post(PATH, content=body())
    assert answer.status_code == 200
    assert importer.sizes == [PIECE] * 3 + [3]


async def test_small_pieces_become_large_ones(client: httpx.AsyncClient, fake: FakeService) -> None:
    importer = Importer(fake)

    async def body() -> AsyncIterator[bytes]:
        for _ in range(1000):
            yield b"x"

    assert (await client.post(PATH, content=body())).status_code == 200
    assert importer.sizes == [1000]


async def test_a_file_that_is_refused_is_an_ordinary_error(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    async def after_results(requests: Any, context: Any) -> AsyncIterator[Any]:
        async for _ in requests:
            pass
        yield pb.ImportSessionsResponse(result=GOOD)
        await refuse(context, grpc.StatusCode.INVALID_ARGUMENT, "no such file", error_info("INVALID"))

    fake.streams["ImportSessions"] = after_results
    answer = await client.post(PATH, content=b"x")
    assert (answer.status_code, reason_of(answer.json())) == (400, "INVALID")
    assert answer.json()["message"] == "no such file"


async def test_a_refusal_while_it_arrives_is_answered_then(fake: FakeService, base_url: str) -> None:
    async def at_once(requests: Any, context: Any) -> AsyncIterator[Any]:
        await anext(aiter(requests))
        await refuse(context, grpc.StatusCode.NOT_FOUND, "no project", error_info("NOT_FOUND"))
        yield

    fake.streams["ImportSessions"] = at_once
    async with Connection(base_url) as one:
        one.write(request("POST", PATH, "Content-Length: 1000000").format(host=one.netloc).encode())
        one.write(b"x" * 1000)
        answer = await one.answer()  # the rest is never sent
        assert (answer.status, answer.reason) == (404, "NOT_FOUND")
        assert await one.closed()


async def test_a_service_that_is_away() -> None:
    async with serve_gateway("127.0.0.1:1") as url:
        answer = await post(url, PATH, b"x" * PIECE)
    assert (answer.status, answer.reason) == (503, "UNAVAILABLE")


@pytest.mark.parametrize("told", [True, False])
async def test_a_file_that_is_too_large(fake: FakeService, told: bool) -> None:
    importer = Importer(fake, GOOD)
    async with serve_gateway(fake.address, gateway_max_file=PIECE + 10) as url:
        async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
            assert (await client.post(PATH, content=b"x" * (PIECE + 10))).status_code == 200
            importer.data = b""
            importer.ended.clear()

            async def body() -> AsyncIterator[bytes]:
                yield b"x" * PIECE
                yield b"x" * 11

            content = b"x" * (PIECE + 11) if told else body()
            answer = await client.post(PATH, content=content)
        assert (answer.status_code, reason_of(answer.json())) == (413, "LIMIT")
        await asyncio.wait_for(importer.ended.wait(), 10)
    # Never to its end: the service would take the part for the whole.
    assert len(importer.data) <= PIECE


async def test_a_silent_client_is_408(fake: FakeService) -> None:
    importer = Importer(fake, GOOD)
    async with serve_gateway(fake.address, gateway_body_timeout=0.2) as url:
        answer = await post_part(url, b"x" * 10)
    assert (answer.status, answer.reason) == (408, "LIMIT")
    assert answer.headers["connection"] == "close"
    await asyncio.wait_for(importer.ended.wait(), 10)


async def post_part(url: str, part: bytes) -> Any:
    async with Connection(url) as one:
        one.write(request("POST", PATH, "Content-Length: 1000").format(host=one.netloc).encode())
        one.write(part)
        return await one.answer()


@pytest.mark.parametrize("sent", [PIECE * 2, PIECE])
async def test_a_client_that_leaves_cancels_the_call(fake: FakeService, base_url: str, sent: int) -> None:
    """While it uploads; or with all of it sent, while the service works."""
    importer = Importer(fake, GOOD)

    async def at_work(requests: Any, context: Any) -> AsyncIterator[Any]:
        try:
            async for one in requests:
                if one.WhichOneof("part") == "chunk":
                    importer.news.set()
            await asyncio.Event().wait()
            yield
        finally:
            importer.ended.set()

    fake.streams["ImportSessions"] = at_work
    async with Connection(base_url) as one:
        one.write(request("POST", PATH, f"Content-Length: {sent}").format(host=one.netloc).encode())
        one.write(b"x" * PIECE)
        await asyncio.wait_for(importer.news.wait(), 10)
    await asyncio.wait_for(importer.ended.wait(), 10)


async def test_the_openapi_document_describes_it(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    operation = document["paths"][PATH]["post"]
    assert [(one["in"], one["name"]) for one in operation["parameters"]] == [
        ("query", "requestId"),
        ("query", "format"),
        ("query", "fileName"),
        ("query", "projectId"),
        ("header", "Idempotency-Key"),
    ]
    assert list(operation["requestBody"]["content"]) == ["application/octet-stream"]
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
    result = answer["properties"]["results"]["items"]["$ref"].rsplit("/")[-1]
    assert set(document["components"]["schemas"][result]["properties"]) >= {"sessionId", "error", "logTokens"}


async def test_what_is_refused_at_once_is_refused_in_the_services_words(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    """The call may have ended before a piece of the file is written to it: grpc then has words of its own."""

    async def refusing(_: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        await refuse(context, grpc.StatusCode.UNAUTHENTICATED, "Who?", error_info("UNAUTHENTICATED"))
        yield pb.ImportSessionsResponse()

    fake.streams["ImportSessions"] = refusing
    for _ in range(30):
        answer = await client.post(PATH, content=b"x" * (3 * PIECE))
        assert (answer.status_code, reason_of(answer.json())) == (401, "UNAUTHENTICATED"), answer.text


async def test_what_is_refused_after_the_header_is_refused_in_the_services_words(
    client: httpx.AsyncClient, fake: FakeService
) -> None:
    async def refusing(requests: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
        assert (await anext(aiter(requests))).header.project_id == "p"
        await refuse(context, grpc.StatusCode.PERMISSION_DENIED, "No.", error_info("FORBIDDEN"))
        yield pb.ImportSessionsResponse()

    fake.streams["ImportSessions"] = refusing
    for _ in range(30):
        answer = await client.post(PATH, params={"projectId": "p"}, content=b"x" * (3 * PIECE))
        assert (answer.status_code, reason_of(answer.json())) == (403, "FORBIDDEN"), answer.text
