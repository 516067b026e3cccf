"""Clients that misuse the transport: 9, 52 and 53. Other clients are served all the while.

`IDLE_CONNECTIONS=10000 pytest tests/bad_inputs/test_abuse.py -k idle` opens as many as `make abuse` does.
"""

import asyncio
import os
import resource
import zlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import psutil
import pytest

from tests.bad_inputs.world import ON_SQLITE_ONLY, World, a_world, path_of
from tests.conftest import DatabaseFactory
from tests.rpc.raw_http2 import (
    END_HEADERS,
    HEADERS,
    PING,
    PREFACE,
    RST_STREAM,
    SETTINGS,
    WINDOW,
    call_headers,
    frame,
    message,
    raw_call,
)
from tests.support.client import Client, assistant, connect, request_for, user
from tests.support.databases import sqlite_url
from tests.support.processes import Running, conversation_service

pytestmark = pytest.mark.asyncio(loop_scope="session")

RESOURCE_EXHAUSTED = 8
MIB = 1024 * 1024
IDLE_CONNECTIONS = int(os.environ.get("IDLE_CONNECTIONS", "1000"))


def bomb(megabytes: int) -> bytes:
    """A gzip of that many MiB of zeros: every block is the same thousandth of what it becomes."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, 31)
    begin = deflate.compress(bytes(MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    block = deflate.compress(bytes(MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    return begin + block * (megabytes - 1)


@asynccontextmanager
async def a_process(folder: Path) -> AsyncIterator[Running]:
    environment = {
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_DATA": str(folder),
        "STEMMA_CONVERSATION_DATABASE_URL": sqlite_url(folder / "c.db"),
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_LOG_LEVEL": "WARNING",
    }
    async with conversation_service(environment) as service:
        yield service


def peak_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


async def test_bad_input_9_gzip_bombs(tmp_path: Path) -> None:
    """Sixteen at once, almost a gibibyte in all, from what one stream's window lets in."""
    squeezed = bomb(60)
    assert MIB // 32 < len(squeezed) < WINDOW
    async with a_process(tmp_path) as service, connect(service.address) as client:
        session = await client.new_session()
        before = peak_mib(service.pid)
        gzip = (("grpc-encoding", "gzip"),)
        calls = [
            raw_call(service.address, path_of(name), message(squeezed, compressed=True), extra=gzip)
            for name in ("AppendFloor", "GetSession", "Respond", "ExportSession") * 4
        ]
        assert set(await asyncio.gather(*calls)) == {RESOURCE_EXHAUSTED}
        assert peak_mib(service.pid) - before < 128
        assert await client.path_ids(session) == []


async def test_bad_input_52_several_messages_to_a_unary_method(database_factory: DatabaseFactory) -> None:
    """The first is answered, and nothing is done for the others."""
    with database_factory("sqlite") as url:
        async with a_world(url) as world:
            client = Client(world.raw.channel)
            session = await client.new_session()
            words = {"input": [user("asked")], "output": [assistant("said")]}
            several = [request_for("AppendFloor", session_id=session, **words) for _ in range(3)]
            call = world.raw.channel.stream_unary(path_of("AppendFloor"))
            raw = await call(iter([one.SerializeToString() for one in several]), timeout=30)
            assert len(await client.path_ids(session)) == 1
            # Each of them is still free to be said, and the first is remembered.
            assert await client.raw("AppendFloor", several[0]) == raw
            await client.send("AppendFloor", several[1])
            assert len(await client.path_ids(session)) == 2


async def opened(address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(PREFACE + frame(SETTINGS, 0, 0, b""))
    return reader, writer


async def served(world: World) -> None:
    """A client with a connection of its own is answered."""
    async with connect(world.service.address, own_connection=True) as client:
        assert (await client.call("GetSession", session_id=world.places.session)).session.session_id


@ON_SQLITE_ONLY
async def test_bad_input_53_a_flood_of_pings(world: World) -> None:
    reader, writer = await opened(world.service.address)
    try:
        for _ in range(200):
            writer.write(frame(PING, 0, 0, bytes(8)) * 50)
        await served(world)
        async with asyncio.timeout(30):
            received = await reader.read()
        # The connection is over, and the last thing said is why.
        assert b"too_many_pings" in received
    except ConnectionError:
        # Closed while we were still at it.
        pass
    finally:
        writer.close()
    await served(world)


@ON_SQLITE_ONLY
async def test_bad_input_53_rapid_reset(world: World) -> None:
    """Streams that are opened and reset at once leave nothing behind."""
    _, writer = await opened(world.service.address)
    block = call_headers(world.service.address, path_of("GetSession"))
    reset = (8).to_bytes(4, "big")
    try:
        for begin in range(1, 10_000, 500):
            writer.write(
                b"".join(
                    frame(HEADERS, END_HEADERS, stream, block) + frame(RST_STREAM, 0, stream, reset)
                    for stream in range(begin, begin + 500, 2)
                )
            )
            await writer.drain()
            await served(world)
    finally:
        writer.close()
    async with asyncio.timeout(30):
        await world.service.service.server._gate.idle()


async def test_bad_input_53_idle_connections(tmp_path: Path) -> None:
    """Half of them say nothing at all, and half are HTTP/2 connections without a call."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert most > IDLE_CONNECTIONS + 200, "too few file descriptors are allowed here"
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    async with a_process(tmp_path) as service, AsyncExitStack() as idle:
        begun = psutil.Process(service.pid).memory_info().rss
        for number in range(IDLE_CONNECTIONS):
            host, _, port = service.address.rpartition(":")
            _, writer = await asyncio.open_connection(host, int(port))
            idle.callback(writer.close)
            if number % 2:
                writer.write(PREFACE + frame(SETTINGS, 0, 0, b""))
        async with connect(service.address, own_connection=True) as client:
            session = await client.new_session()
            for _ in range(20):
                await client.call("AppendFloor", session_id=session, input=[user("x")])
            assert len(await client.path_ids(session)) == 20
        grown = (psutil.Process(service.pid).memory_info().rss - begun) / IDLE_CONNECTIONS
        assert grown < 256 * 1024


async def test_the_bomb_is_one() -> None:
    assert zlib.decompressobj(31).decompress(bomb(3)) == bytes(3 * MIB)
