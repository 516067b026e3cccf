"""The load generator's side of Server-Sent Events: many streams at once, read to their ends."""

import asyncio
import time
from typing import Any
from urllib.parse import urlsplit

_EVENT = b"\ndata: "


async def read_streams(url: str, streams: int, frames: int) -> dict[str, Any]:
    """`streams` GETs at once, of `frames` events each: events a second. Fails when one brings fewer."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 0
    request = (
        f"GET /v1/runs/{frames}/events HTTP/1.1\r\nHost: {parts.netloc}\r\n"
        "Accept: text/event-stream\r\nConnection: close\r\n\r\n"
    ).encode()

    async def one() -> int:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(request)
        body = await reader.read()
        writer.close()
        return body.count(_EVENT)

    started = time.perf_counter()
    counts = await asyncio.gather(*(one() for _ in range(streams)))
    elapsed = time.perf_counter() - started
    if set(counts) != {frames}:
        raise AssertionError(f"streams of {frames} events brought {sorted(set(counts))}")
    return {"calls": sum(counts), "rate": sum(counts) / elapsed}
