"""Bad inputs to HTTP itself: each gets its status in the contract's shape, and the gateway lives on."""

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.gateway.fake_service import FakeService
from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import Answer, Connection, get, post, request, send

pytestmark = pytest.mark.asyncio(loop_scope="session")

JSON = "Content-Type: application/json"


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def unharmed(base_url: str, fake: FakeService) -> AsyncIterator[None]:
    """After each: the server is alive, and nothing reached the service."""
    yield
    assert fake.calls == []
    assert (await get(base_url, "/healthz")).status == 200


def assert_shape(answer: Answer, status: int, code: int, reason: str) -> None:
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"
    assert (answer.json()["code"], answer.reason) == (code, reason)
    assert answer.json()["message"]


@pytest.mark.parametrize("body", [b"null", b"[]", b"[{}]", b'"x"', b"0", b"\xff", b"{", b"[" * 100_000])
async def test_bad_input_58_body_that_is_no_object(base_url: str, body: bytes) -> None:
    assert_shape(await post(base_url, "/v1/sessions", body), 400, 3, "INVALID")


@pytest.mark.parametrize(
    "header",
    [
        "Content-Type: text/plain",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: application/json; charset=latin-1",
        "Content-Type: application/json; boundary=x",
        "Content-Type: application/jsonp",
        "Content-Type:",
    ],
)
async def test_bad_input_58_content_type(base_url: str, header: str) -> None:
    assert_shape(await post(base_url, "/v1/sessions", b"{}", header), 415, 3, "INVALID")


async def test_bad_input_58_compressed_body(base_url: str) -> None:
    headers = (JSON, "Content-Encoding: gzip")
    assert_shape(await post(base_url, "/v1/sessions", b"{}", *headers), 415, 3, "INVALID")


async def test_a_charset_may_be_named(base_url: str, fake: FakeService) -> None:
    for kind in ('application/json; charset="UTF-8"', "Application/JSON;charset=utf-8", "application/json;"):
        assert (await post(base_url, "/v1/sessions", b"{}", f"Content-Type: {kind}")).status == 200
    assert len(fake.calls) == 3
    fake.reset()


async def test_bad_input_58_body_where_none_belongs(base_url: str) -> None:
    head = request("GET", "/v1/sessions", JSON, "Content-Length: 2")
    assert_shape(await send(base_url, head, b"{}"), 400, 3, "INVALID")


@pytest.mark.parametrize(
    "segment", ["..%2f", "%2e%2e", "..", "%2F", "a%3ab", "a:b", "%00", "%0d%0a", "%e2%80%8f"]
)
async def test_bad_input_58_path(base_url: str, segment: str) -> None:
    assert_shape(await get(base_url, f"/v1/sessions/{segment}/path"), 400, 3, "INVALID")
    assert (await get(base_url, f"/v1/sessions/{segment}")).status in {400, 404}


@pytest.mark.parametrize(
    "path", ["/v1/sessions/", "/nothing", "/v1/sessions/a:nothing", "/healthz/", "//healthz"]
)
async def test_bad_input_58_unknown_path(base_url: str, path: str) -> None:
    assert_shape(await get(base_url, path), 404, 5, "NOT_FOUND")


async def test_bad_input_58_method(base_url: str) -> None:
    answer = await send(base_url, request("PUT", "/v1/sessions", "Content-Length: 0"))
    assert_shape(answer, 405, 3, "INVALID")
    assert answer.headers["allow"] == "GET, POST"
    answer = await send(base_url, request("POST", "/healthz", "Content-Length: 0"))
    assert_shape(answer, 405, 3, "INVALID")
    assert "GET" in answer.headers["allow"]


@pytest.mark.parametrize("query", ["pageSize=1&pageSize=2", "pageSize=1&page_size=1", "x=1", "pageSize"])
async def test_bad_input_58_duplicate_and_unknown_query_keys(base_url: str, query: str) -> None:
    assert_shape(await get(base_url, f"/v1/sessions?{query}"), 400, 3, "INVALID")


async def test_bad_input_58_chunked_body_without_end(fake: FakeService) -> None:
    head = request("POST", "/v1/sessions", JSON, "Transfer-Encoding: chunked")
    async with serve_gateway(fake.address, gateway_body_timeout=0.2) as url, Connection(url) as one:
        one.write(head.format(host=one.netloc).encode() + b"1\r\n{\r\n")
        answer = await one.answer()
        assert_shape(answer, 408, 4, "LIMIT")
        assert answer.headers["connection"] == "close"
        assert await one.closed()


async def test_bad_input_58_head_without_end(fake: FakeService) -> None:
    async with serve_gateway(fake.address, gateway_header_timeout=0.2) as url:
        async with Connection(url) as one:
            one.write(b"GET /healthz HTTP/1.1\r\nHost: loc")
            assert_shape(await one.answer(), 408, 4, "LIMIT")
            assert await one.closed()
        async with Connection(url) as silent:
            assert await silent.closed()
        async with Connection(url) as used:
            # The limit is on a head, not on a connection: it may be used again later.
            for _ in range(2):
                used.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert (await used.answer()).status == 200


@pytest.mark.parametrize("body", [b"zz\r\n", b"1\r\n{}\r\n", b"-1\r\n", b"1\r{\r\n"])
async def test_bad_input_58_broken_chunks(base_url: str, body: bytes) -> None:
    head = request("POST", "/v1/sessions", JSON, "Transfer-Encoding: chunked")
    assert_shape(await send(base_url, head, body), 400, 3, "INVALID")


async def test_bad_input_58_body_too_large(fake: FakeService) -> None:
    async with serve_gateway(fake.address, gateway_max_body=1000) as url:
        declared = request("POST", "/v1/sessions", JSON, "Content-Length: 1001")
        assert_shape(await send(url, declared), 413, 8, "LIMIT")
        chunked = request("POST", "/v1/sessions", JSON, "Transfer-Encoding: chunked")
        assert_shape(await send(url, chunked, b"3e9\r\n" + b" " * 1001 + b"\r\n"), 413, 8, "LIMIT")
        fits = b'{"title": "' + b"x" * 900 + b'"}'
        assert (await post(url, "/v1/sessions", fits)).status == 200
    fake.reset()


async def test_bad_input_58_a_refused_body_is_read_off(fake: FakeService) -> None:
    """A client that goes on sending gets its answer, not a reset, and may use the connection again."""
    async with serve_gateway(fake.address, gateway_max_body=1000) as url, Connection(url) as one:
        head = request("POST", "/v1/sessions", JSON, "Content-Length: 2000000")
        one.write(head.format(host=one.netloc).encode() + b" " * 2_000_000)
        assert (await one.answer()).status == 413
        one.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await one.answer()).status == 200


async def test_bad_input_58_message_over_four_mebibytes(base_url: str) -> None:
    body = json.dumps({"title": "x" * (4 * 1024 * 1024 + 1)}).encode()
    assert_shape(await post(base_url, "/v1/sessions", body), 413, 8, "LIMIT")


@pytest.mark.parametrize("size", [70_000, 200_000, 1_000_000])
async def test_bad_input_58_header(base_url: str, size: int) -> None:
    answer = await get(base_url, "/healthz", f"X-Large: {'x' * size}")
    assert_shape(answer, 431, 8, "LIMIT")


async def test_bad_input_58_many_headers_and_long_targets(base_url: str) -> None:
    many = [f"X-{number}: {'x' * 1000}" for number in range(70)]
    assert_shape(await get(base_url, "/healthz", *many), 431, 8, "LIMIT")
    assert_shape(await get(base_url, "/healthz?" + "x" * 70_000), 431, 8, "LIMIT")
    assert (await get(base_url, "/healthz", "X-Large: " + "x" * 60_000)).status == 200


@pytest.mark.parametrize(
    "header",
    ["X-A: b\rX-C: d", "X-A: b\x00", "X A: b", " X-A: b", "X-A : b", ": b", "X-A"],
)
async def test_bad_input_58_broken_header(base_url: str, header: str) -> None:
    assert_shape(await get(base_url, "/healthz", header), 400, 3, "INVALID")


async def test_bad_input_58_crlf_does_not_make_a_header(base_url: str, fake: FakeService) -> None:
    """Encoded in a value that is echoed or forwarded, it stays out of headers and metadata."""
    answer = await get(base_url, "/v1/sessions?pageToken=a%0d%0aX-Evil:%20b")
    assert answer.status == 200
    assert fake.last.request.page_token == "a\r\nX-Evil: b"
    assert "x-evil" not in answer.headers
    fake.reset()


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: 2", "Transfer-Encoding: chunked"],
        ["Content-Length: 2", "Content-Length: 3"],
        ["Content-Length: +2"],
        ["Content-Length: 2x"],
        ["Transfer-Encoding: gzip"],
    ],
)
async def test_bad_input_58_two_lengths(base_url: str, lines: list[str]) -> None:
    head = request("POST", "/v1/sessions", JSON, *lines)
    assert_shape(await send(base_url, head, b"0\r\n\r\n"), 400, 3, "INVALID")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8080",
        "127.0.0.1.evil.example",
        "localhost.",
        "",
        "a@localhost",
        "localhost:x",
        "0x7f.1",
    ],
)
async def test_bad_input_58_host(base_url: str, host: str) -> None:
    answer = await get(base_url, "/v1/sessions", f"Host: {host}")
    assert_shape(answer, 400, 3, "INVALID")


async def test_bad_input_58_no_host_and_two_hosts(base_url: str) -> None:
    assert_shape(await send(base_url, "GET /v1/sessions HTTP/1.1\r\n\r\n"), 400, 3, "INVALID")
    assert_shape(await send(base_url, "GET /v1/sessions HTTP/1.0\r\n\r\n"), 400, 3, "INVALID")
    two = request("GET", "/v1/sessions", "Host: localhost", "Host: evil.example")
    assert_shape(await send(base_url, two), 400, 3, "INVALID")
    absolute = request("GET", "http://evil.example/v1/sessions", "Host: localhost")
    assert (await send(base_url, absolute)).status == 404


async def test_hosts_that_are_allowed(fake: FakeService) -> None:
    async with serve_gateway(fake.address, allowed_hosts="api.example, Other.Example") as url:
        own = ("localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:80")
        for host in (*own, "api.example", "other.example:443"):
            assert (await get(url, "/healthz", f"Host: {host}")).status == 200
        assert (await get(url, "/healthz", "Host: third.example")).status == 400


@pytest.mark.parametrize("name", ["Content-Type", "Idempotency-Key", "X-Request-Id", "Last-Event-ID"])
async def test_bad_input_58_header_given_twice(base_url: str, name: str) -> None:
    answer = await get(base_url, "/v1/sessions", f"{name}: application/json", f"{name}: application/json")
    assert_shape(answer, 400, 3, "INVALID")


@pytest.mark.parametrize(
    "data", [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\r\n\r\n"]
)
async def test_bad_input_58_what_is_not_http(base_url: str, data: bytes) -> None:
    assert_shape(await send(base_url, data), 400, 3, "INVALID")


async def test_bad_input_58_a_client_that_leaves_in_mid_body(base_url: str) -> None:
    async with Connection(base_url) as one:
        one.write(request("POST", "/v1/sessions", JSON, "Content-Length: 9").encode())
        one.write(b"{")
        await one.writer.drain()
