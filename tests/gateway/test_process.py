"""Settings, health, and the process from its first line to its exit code."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from grpc_health.v1 import health_pb2
from pydantic import ValidationError

from gateway.server import listen
from gateway.settings import Settings, split_address
from tests.gateway.fake_service import FakeService
from tests.gateway.harness import serve_gateway
from tests.gateway.raw_http import Connection, get, reason_of, request
from tests.gateway.test_respond import COMMITTED, PATH, STARTED

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def process(**settings: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """`python -m gateway` with these settings and no others."""
    paths = os.pathsep.join(str(ROOT / one) for one in (".", "protos/gen"))
    pipe = asyncio.subprocess.PIPE
    one = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gateway", env={"PYTHONPATH": paths, **settings}, stdout=pipe, stderr=pipe
    )
    try:
        yield one
    finally:
        if one.returncode is None:
            one.kill()
        await one.communicate()


async def ready_url(one: asyncio.subprocess.Process) -> str:
    assert one.stdout is not None
    line = (await asyncio.wait_for(one.stdout.readline(), 30)).decode()
    assert line.startswith("gateway listening on http://127.0.0.1:")
    return line.split()[-1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_lets_open_responses_end_and_exits_with_0(fake: FakeService, number: int) -> None:
    goes_on = asyncio.Event()

    async def stream(_: Any, __: Any) -> AsyncIterator[Any]:
        yield STARTED
        await goes_on.wait()
        yield COMMITTED

    fake.streams["Respond"] = stream
    async with process(STEMMA_HTTP="127.0.0.1:0", STEMMA_CONVERSATION=fake.address) as one:
        url = await ready_url(one)
        async with Connection(url) as open_one:
            head = request("POST", PATH, "Accept: text/event-stream", "Content-Length: 0")
            open_one.write(head.format(host=open_one.netloc).encode())
            await asyncio.wait_for(open_one.reader.readuntil(b"id: 3.1\n"), 10)
            one.send_signal(number)
            await asyncio.wait_for(no_longer_listening(url), 10)
            with pytest.raises(TimeoutError):  # the open response is neither cut nor hurried
                await asyncio.wait_for(open_one.reader.readuntil(b"id: "), 0.5)
            goes_on.set()
            rest = await asyncio.wait_for(open_one.reader.read(), 10)
            assert b"id: 3.3\n" in rest
            assert rest.endswith(b"0\r\n\r\n")
        stdout, _ = await asyncio.wait_for(one.communicate(), 10)
        assert (one.returncode, stdout) == (0, b"")


async def no_longer_listening(url: str) -> None:
    """Returns once a connection is refused: the drain has begun.

    One that waited to be accepted when the listener closed is reset instead.
    """
    with contextlib.suppress(ConnectionRefusedError, ConnectionResetError):
        while True:
            async with Connection(url):
                pass


async def test_a_response_without_end_is_cut_at_the_end_of_the_drain(fake: FakeService) -> None:
    async def stream(_: Any, __: Any) -> AsyncIterator[Any]:
        yield STARTED
        await asyncio.Event().wait()

    fake.streams["Respond"] = stream
    settings = {"STEMMA_HTTP": "127.0.0.1:0", "STEMMA_GATEWAY_DRAIN": "1"}
    async with process(STEMMA_CONVERSATION=fake.address, **settings) as one:
        url = await ready_url(one)
        async with Connection(url) as open_one:
            head = request("POST", PATH, "Accept: text/event-stream", "Content-Length: 0")
            open_one.write(head.format(host=open_one.netloc).encode())
            await asyncio.wait_for(open_one.reader.readuntil(b"id: 3.1\n"), 10)
            one.send_signal(signal.SIGTERM)
            await asyncio.wait_for(open_one.reader.read(), 10)
        assert await asyncio.wait_for(one.wait(), 10) == 0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"STEMMA_HTTP": "0.0.0.0:0", "STEMMA_AUTH": "off"},
            "STEMMA_AUTH=off is for loopback addresses only",
        ),
        (
            {"STEMMA_AUTH": "on", "STEMMA_TLS_CA": "/nowhere"},
            "STEMMA_TLS_CA names a file that cannot be read",
        ),
        (
            {"STEMMA_TLS_CA": "/ca.pem", "STEMMA_TLS_CERT": "/cert.pem", "STEMMA_TLS_KEY": "/key.pem"},
            "everybody here would call the services by that certificate",
        ),
        ({"STEMMA_HTTP": "8080"}, "STEMMA_HTTP: must be HOST:PORT"),
    ],
)
async def test_settings_that_it_refuses_to_start_with(settings: dict[str, str], said: str) -> None:
    async with process(**settings) as one:
        stdout, stderr = await asyncio.wait_for(one.communicate(), 30)
    assert (one.returncode, stdout) == (2, b"")
    assert stderr.decode().startswith("gateway: ")
    assert said in stderr.decode()
    assert stderr.count(b"\n") == 1


async def test_an_address_that_is_taken(base_url: str) -> None:
    async with process(STEMMA_HTTP=base_url.removeprefix("http://")) as one:
        stdout, stderr = await asyncio.wait_for(one.communicate(), 30)
    assert (one.returncode, stdout) == (1, b"")
    assert b"cannot listen on 127.0.0.1" in stderr
    assert b"Traceback" not in stderr


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "192.168.1.1", "example.com", "[::]", "[2001:db8::1]", "0.0.0.1"]
)
async def test_without_authentication_it_listens_on_loopback_only(host: str) -> None:
    with pytest.raises(ValidationError):
        Settings(http=f"{host}:8080", auth="off")
    assert Settings(http=f"{host}:8080").access_on
    assert not Settings(http="127.0.0.1:8080").access_on
    assert Settings(http="127.0.0.1:8080", auth="on").access_on


async def test_addresses() -> None:
    assert split_address("[::1]:0") == ("::1", 0)
    assert split_address("localhost:65535") == ("localhost", 65535)
    for bad in (
        "",
        "8080",
        "localhost",
        "::1:80",
        "localhost:65536",
        "a b:1",
        "http://x:1",
        "x:-1",
        "user@x:1",
    ):
        with pytest.raises(ValueError, match="HOST:PORT"):
            split_address(bad)


async def test_answers_do_not_wait_for_acknowledgements() -> None:
    nodelay: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        one = writer.get_extra_info("socket")
        nodelay.set_result(one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with listen("127.0.0.1:0") as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with await asyncio.start_server(accepted, sock=listener), Connection(url):
            assert await asyncio.wait_for(nodelay, 10) != 0


async def test_ipv6(fake: FakeService) -> None:
    async with serve_gateway(fake.address, http="[::1]:0") as url:
        assert url.startswith("http://[::1]:")
        async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
            assert (await client.get("/healthz")).status_code == 200


async def test_healthz_asks_nobody(fake: FakeService) -> None:
    async with serve_gateway("127.0.0.1:1") as url:
        answer = await get(url, "/healthz")
        assert (answer.status, answer.json()) == (200, {"status": "ok"})


async def test_readyz_says_which_service_is_not(client: httpx.AsyncClient, fake: FakeService) -> None:
    assert (await client.get("/readyz")).json() == {"status": "ok"}
    await fake.health.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
    try:
        answer = await client.get("/readyz")
    finally:
        await fake.health.set("", health_pb2.HealthCheckResponse.SERVING)
    assert (answer.status_code, reason_of(answer.json())) == (503, "UNAVAILABLE")
    assert answer.json()["details"][0]["metadata"]["stemma.conversation.v1"] == "NOT_SERVING"
    assert (await client.get("/readyz")).status_code == 200


async def test_readyz_when_the_service_is_away(fake: FakeService) -> None:
    async with serve_gateway("127.0.0.1:1") as url:
        answer = await get(url, "/readyz")
        assert (answer.status, answer.json()["details"][0]["metadata"]) == (
            503,
            {"stemma.conversation.v1": "UNAVAILABLE", "stemma.draft.v1": "UNAVAILABLE"},
        )


async def test_readyz_without_the_draft_service(fake: FakeService) -> None:
    """Everything canonical goes on without it."""
    async with serve_gateway(fake.address, draft="127.0.0.1:1") as url:
        answer = await get(url, "/readyz")
        assert (answer.status, answer.json()) == (200, {"status": "ok", "absent": ["stemma.draft.v1"]})
