"""Bad inputs through the real gateway in front of the real service, for every REST form of every RPC."""

import gzip
import json
import random
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from tests.bad_inputs.rest import BINDINGS, JSON, Binding, refused
from tests.bad_inputs.test_faults import SECRET, break_store
from tests.bad_inputs.test_ids import BAD_IDS
from tests.bad_inputs.world import ON_SQLITE_ONLY, World, fields_of, unknown
from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import Connection, get, request, send
from tests.support.client import writes

pytestmark = [pytest.mark.asyncio(loop_scope="session"), ON_SQLITE_ONLY]

WITH_BODY = tuple(binding for binding in BINDINGS if binding.body)
WITH_ID = tuple((binding, name) for binding in BINDINGS for name in binding.variables if name.endswith("_id"))


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def gateway(shared_world: World) -> AsyncIterator[str]:
    async with serve_gateway(shared_world.service.address, gateway_body_timeout=0.3) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def base_url(world: World, gateway: str) -> AsyncIterator[str]:
    """The gateway, which is alive and ready after each test."""
    yield gateway
    assert (await get(gateway, "/healthz")).status == 200
    assert (await get(gateway, "/readyz")).status == 200


def parts(world: World, binding: Binding, **path: str) -> tuple[str, bytes]:
    """The binding's sample. What is on a project or a session is on the one that its path names."""
    either = {"session_id": world.places.session, "project_id": world.places.project}
    changes = {}
    if set(either) <= set(fields_of(binding.name)) and set(either) & set(binding.variables):
        changes = {name: value if name in binding.variables else "" for name, value in either.items()}
    return binding.parts(world.sample(binding.name, **changes), **path)


async def test_bad_input_1_and_3_bytes_that_are_no_json(world: World, base_url: str) -> None:
    for seed, binding in enumerate(WITH_BODY):
        target, body = parts(world, binding)
        for garbage in (b"\xff" + random.Random(seed).randbytes(100), body[:-1] + b',"x":"\xc3\x28"}'):
            refused(await binding.send(base_url, target, garbage), "INVALID")


async def test_bad_input_4_nesting(world: World, base_url: str) -> None:
    for binding in WITH_BODY:
        target, _ = parts(world, binding)
        for depth in (33, 100_000):
            refused(await binding.send(base_url, target, b'{"x":' + b"[" * depth), "INVALID")


async def test_bad_input_5_empty_bodies(world: World, base_url: str) -> None:
    for binding in WITH_BODY:
        if binding.name in {"VerifySession", "AssembleContext"}:
            # They need no more than their path.
            continue
        target, _ = parts(world, binding)
        for body in (b"", b"{}"):
            refused(await binding.send(base_url, target, body), "INVALID")


async def test_bad_input_9_a_body_that_would_unpack_to_much(world: World, base_url: str) -> None:
    """Nothing is unpacked: what is compressed is refused by its header."""
    squeezed = gzip.compress(bytes(64 * 1024 * 1024))
    for binding in WITH_BODY:
        target, _ = parts(world, binding)
        answer = await binding.send(base_url, target, squeezed, "Content-Encoding: gzip")
        refused(answer, "INVALID", 415)


async def test_bad_input_18_malformed_ids_in_the_path(world: World, base_url: str) -> None:
    for binding, name in WITH_ID:
        for value in [*BAD_IDS, "a:b", "..%2f"]:
            if len(value) > 1_000 or value == "main":
                # The one is tested by gRPC; the other is a name for the gateway, as any.
                continue
            target, body = parts(world, binding, **{name: quote(value, safe="")})
            refused(await binding.send(base_url, target, body), "INVALID")


async def test_bad_input_19_unknown_ids_in_the_path(world: World, base_url: str) -> None:
    for binding, name in WITH_ID:
        target, body = parts(world, binding, **{name: unknown()})
        refused(await binding.send(base_url, target, body), "NOT_FOUND")


async def test_bad_input_20_and_21_request_ids(world: World, base_url: str) -> None:
    for binding in BINDINGS:
        if not writes(binding.name):
            continue
        target, body = parts(world, binding)
        fields = json.loads(body) if binding.body else {}
        fields.pop("request_id", None)
        target = target.split("?")[0]
        for headers in ((), ("Idempotency-Key: nothing",), (f"Idempotency-Key: {'a' * 300}",)):
            answer = await binding.send(base_url, target, json.dumps(fields).encode(), *headers)
            assert "request_id" in refused(answer, "INVALID").json()["message"]
        twice = json.dumps(fields | {"requestId": unknown()}).encode()
        if binding.body:
            answer = await binding.send(base_url, target, twice, f"Idempotency-Key: {unknown()}")
            refused(answer, "INVALID")


async def test_bad_input_24_a_stale_head(world: World, base_url: str) -> None:
    for binding in WITH_BODY:
        if "expected_head" in fields_of(binding.name):
            target, body = parts(world, binding)
            stale = json.dumps(json.loads(body) | {"expected_head": world.places.root}).encode()
            refused(await binding.send(base_url, target, stale), "HEAD_MOVED")


@pytest.mark.parametrize("query", ["pageSize=-1", "pageSize=2147483648", "pageSize=1.5", "pageSize=x"])
async def test_bad_input_35_page_sizes(world: World, base_url: str, query: str) -> None:
    for binding in BINDINGS:
        if "page_size" in fields_of(binding.name):
            target = parts(world, binding)[0].split("?")[0]
            required = "&target=long" if binding.name == "DiffBranches" else ""
            refused(await get(base_url, f"{target}?{query}{required}"), "INVALID")


@pytest.mark.parametrize("token", ["x", "A" * 3_000, "%00", "%0d%0aX-Evil:%20b", "%ff"])
async def test_bad_input_36_page_tokens(world: World, base_url: str, token: str) -> None:
    for binding in BINDINGS:
        if "page_token" in fields_of(binding.name):
            target = parts(world, binding)[0].split("?")[0]
            required = "&target=long" if binding.name == "DiffBranches" else ""
            answer = await get(base_url, f"{target}?pageToken={token}{required}")
            assert "x-evil" not in refused(answer, "INVALID").headers


@pytest.mark.parametrize("value", [99, -1, "ROLE_NOBODY", "", "user", None, True, 1.5, [], {}])
async def test_bad_input_41_unknown_enums(world: World, base_url: str, value: object) -> None:
    words = [{"role": value, "parts": [{"text": {"text": "x"}}]}]
    for binding in WITH_BODY:
        fields = fields_of(binding.name)
        target, body = parts(world, binding)
        for name in {"input", "output"} & set(fields):
            given = {"messages": words} if fields[name].message_type.name != "Message" else words
            changed = json.dumps(json.loads(body) | {name: given}).encode()
            refused(await binding.send(base_url, target, changed), "INVALID")
        if "on_pending" in fields:
            changed = json.dumps(json.loads(body) | {"onPending": value}).encode()
            refused(await binding.send(base_url, target, changed), "INVALID")


@pytest.mark.parametrize("body", [b"null", b"[]", b'"x"', b"0", b"true", b"{", b'{"a":1,"a":2}', b"{}x"])
async def test_bad_input_58_bodies_that_are_no_object(world: World, base_url: str, body: bytes) -> None:
    for binding in WITH_BODY:
        refused(await binding.send(base_url, parts(world, binding)[0], body), "INVALID")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_bad_input_58_content_types(world: World, base_url: str, kind: str) -> None:
    for binding in WITH_BODY:
        target, body = parts(world, binding)
        refused(await binding.send(base_url, target, body, f"Content-Type: {kind}"), "INVALID", 415)


async def test_bad_input_58_keys_twice_and_unknown(world: World, base_url: str) -> None:
    for binding in BINDINGS:
        target, body = parts(world, binding)
        target = target.split("?")[0]
        for query in ("x=1", "requestId=a&requestId=b", "requestId=a&request_id=a"):
            refused(await binding.send(base_url, f"{target}?{query}", body), "INVALID")
        if binding.body:
            unknown_field = json.dumps(json.loads(body) | {"nobody": 1}).encode()
            refused(await binding.send(base_url, target, unknown_field), "INVALID")
        for name in set(binding.variables) if binding.body else ():
            contradiction = json.dumps(json.loads(body) | {name: "another"}).encode()
            refused(await binding.send(base_url, target, contradiction), "INVALID")


async def test_bad_input_58_paths(world: World, base_url: str) -> None:
    session = f"/v1/sessions/{world.places.session}"
    for path in (
        f"{session}/",
        f"{session}//path",
        f"{session}:nothing",
        "/v1",
        "/v2/sessions",
        "/v1/Sessions",
    ):
        refused(await get(base_url, path), "NOT_FOUND")
    for path in (
        "/v1/sessions/..%2f..%2fetc",
        "/v1/sessions/%2e%2e/path",
        f"{session}%2fpath",
        f"{session}%00",
    ):
        answer = await get(base_url, path)
        assert answer.status in (400, 404)
        refused(answer, "INVALID" if answer.status == 400 else "NOT_FOUND")


async def test_bad_input_58_last_event_ids(world: World, base_url: str) -> None:
    """Places that no run has, and that this one has not come to."""
    run = f"/v1/runs/{world.places.run}/events"
    for place, reason in (
        ("9.999999", "CURSOR_AHEAD"),
        ("x", "INVALID"),
        ("1.1.1", "INVALID"),
        ("-1.0", "INVALID"),
    ):
        answer = await get(base_url, run, f"Last-Event-ID: {place}", "Accept: text/event-stream")
        assert (answer.status, answer.reason) == (400, reason)


async def test_bad_input_58_heads(world: World, base_url: str) -> None:
    target = f"/v1/sessions/{world.places.session}"
    large = await get(base_url, target, f"X-Large: {'x' * 1_000_000}")
    assert (large.status, large.reason) == (431, "LIMIT")
    for header in ("X-A: b\rX-C: d", "X-A: b\x00", "X A: b"):
        answer = await get(base_url, target, header)
        assert (answer.status, answer.reason) == (400, "INVALID")
    for host in ("evil.example", "", "127.0.0.1.evil.example"):
        refused(await get(base_url, target, f"Host: {host}"), "INVALID")


async def test_bad_input_58_a_chunked_body_without_end(world: World, base_url: str) -> None:
    target = f"/v1/sessions/{world.places.session}/floors"
    head = request("POST", target, JSON, "Transfer-Encoding: chunked")
    async with Connection(base_url) as one:
        one.write(head.format(host=one.netloc).encode() + b"1\r\n{\r\n")
        answer = await one.answer()
        assert (answer.status, answer.reason) == (408, "LIMIT")
        assert await one.closed()


async def test_bad_input_58_a_body_too_large(world: World, base_url: str) -> None:
    target = f"/v1/sessions/{world.places.session}/floors"
    declared = request("POST", target, JSON, f"Content-Length: {64 * 1024 * 1024}")
    answer = await send(base_url, declared)
    assert (answer.status, answer.reason) == (413, "LIMIT")


async def test_bad_input_60_an_exception_inside(
    world: World, base_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, capture_logs():
        break_store(patch, world, lambda: RuntimeError(SECRET))
        for binding in BINDINGS:
            answer = await binding.send(base_url, *parts(world, binding))
            assert b"secret" not in refused(answer, "INTERNAL").body
            (info,) = [one for one in answer.json()["details"] if "ErrorInfo" in one["@type"]]
            assert info["metadata"]["error_id"]
