"""A real HTTP server on loopback that plays an OpenAI-compatible endpoint, byte by byte as told."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.generation.builders import PATIENCE

SSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class Exchange:
    """One request and the connection to answer on.

    Attributes:
        headers: Lowercase names.
        body: The request's JSON.
        sent: Bytes written so far.
    """

    def __init__(
        self, headers: dict[str, str], body: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.headers = headers
        self.body = body
        self.sent = 0
        self._writer = writer
        self._gone = asyncio.create_task(reader.read())

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        self.sent += len(data)
        await self._writer.drain()

    async def say(self, **delta: Any) -> None:
        """A chunk event with this delta."""
        await self.send(event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}))

    async def finish(self, reason: str = "stop", usage: tuple[int, int] | None = None) -> None:
        """The rest of a whole answer."""
        await self.send(event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
        if usage is not None:
            counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
            await self.send(event({"choices": [], "usage": counts}))
        await self.send(b"data: [DONE]\n\n")

    async def client_gone(self) -> None:
        """Until the client has closed the connection; TimeoutError when it does not."""
        async with asyncio.timeout(PATIENCE):
            await asyncio.shield(self._gone)

    async def client_gone_within(self, seconds: float) -> bool:
        done, _ = await asyncio.wait({self._gone}, timeout=seconds)
        return bool(done)

    def close(self) -> None:
        self._gone.cancel()


def event(data: Any) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


Behaviour = Callable[[Exchange], Awaitable[None]]


class Endpoint:
    """Where to ask (`base_url`), and every exchange so far."""

    def __init__(self, behaviour: Behaviour) -> None:
        self.base_url = ""
        self.exchanges: list[Exchange] = []
        self._behaviour = behaviour
        self._changed = asyncio.Event()

    async def asked(self) -> Exchange:
        """The first exchange, waiting for it."""
        await self._changed.wait()
        return self.exchanges[0]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            exchange = await _receive(reader, writer)
            self.exchanges.append(exchange)
            self._changed.set()
            try:
                await self._behaviour(exchange)
            finally:
                exchange.close()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # The client has what it needs, or the test is over.
            pass
        finally:
            writer.close()


async def _receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Exchange:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = json.loads(await reader.readexactly(int(headers["content-length"])))
    return Exchange(headers, body, reader, writer)


@asynccontextmanager
async def endpoint(behaviour: Behaviour) -> AsyncIterator[Endpoint]:
    """Serves `behaviour` on a free loopback port; afterwards everything is closed."""
    playing = Endpoint(behaviour)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(playing.serve(reader, writer)))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    playing.base_url = f"http://{host}:{port}/v1"
    try:
        yield playing
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)
        await server.wait_closed()
