"""Connections that do nothing are closed, and more than a number are not taken."""

import asyncio

from kernel.rpc.server import ServerOptions
from tests.rpc.plumbing import Running, running
from tests.rpc.raw_http2 import GOAWAY, PREFACE, SETTINGS, frame

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connected(rpc: Running, first: bytes = b"") -> Connection:
    host, _, port = rpc.server.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(first)
    return reader, writer


async def ended(connection: Connection) -> bytes:
    """What came until the server closed it."""
    reader, writer = connection
    try:
        async with asyncio.timeout(30):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_a_connection_that_says_nothing_is_closed() -> None:
    async with running(ServerOptions(handshake=0.3)) as rpc:
        await ended(await connected(rpc))
        assert await rpc.still_serves()


async def test_a_connection_without_a_call_is_told_to_go_and_calls_go_on() -> None:
    async with running(ServerOptions(idle=0.3)) as rpc:
        assert await rpc.still_serves()
        hello = PREFACE + frame(SETTINGS, 0, 0, b"")
        came = await ended(await connected(rpc, hello))
        assert came[-14 - 64 :].find(bytes([GOAWAY, 0])) >= 0
        # The client's own was idle as long: it connects again by itself.
        assert await rpc.still_serves()


async def test_more_connections_than_allowed_are_closed_at_once() -> None:
    async with running(ServerOptions(max_connections=3)) as rpc:
        assert await rpc.still_serves()
        hello = PREFACE + frame(SETTINGS, 0, 0, b"")
        held = [await connected(rpc, hello) for _ in range(2)]
        for reader, _ in held:
            await reader.readexactly(9)
        await ended(await connected(rpc, hello))
        assert await rpc.still_serves()
        for _, writer in held:
            writer.close()
