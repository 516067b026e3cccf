"""The load generator's side of runs: many Responds at once, read to their ends as fast as they come."""

import asyncio
import base64
import time
import uuid
from typing import Any

import grpc

from tools.bench.access import metadata
from tools.bench.requests import RESPOND


async def respond(channel: grpc.aio.Channel, bodies: list[str], spread: float) -> dict[str, Any]:
    """One run for each body, begun within `spread` seconds: milliseconds between the frames of a run that
    95 % of them came within, and frames a second."""
    method: Any = channel.unary_stream(RESPOND)
    gaps: list[float] = []

    async def one(number: int, body: bytes) -> int:
        await asyncio.sleep(spread * number / len(bodies))
        call = method(b"\x0a\x24" + str(uuid.uuid4()).encode() + body, timeout=120.0, metadata=metadata())
        before, frames = 0.0, 0
        async for _ in call:
            now = time.perf_counter()
            if before:
                gaps.append((now - before) * 1e3)
            before, frames = now, frames + 1
        return frames

    started = time.perf_counter()
    frames = await asyncio.gather(*(one(n, base64.b64decode(body)) for n, body in enumerate(bodies)))
    gaps.sort()
    return {
        "calls": sum(frames),
        "rate": sum(frames) / (time.perf_counter() - started),
        "p95_ms": gaps[len(gaps) * 95 // 100],
        "fewest": min(frames),
    }
