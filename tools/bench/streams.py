"""The load generator's side of AppendFloors: many sessions on one stream, several items of each under way."""

import asyncio
import base64
import time
import uuid
from collections import deque
from typing import Any

import grpc
from stemma.conversation.v1 import floor_service_pb2

from tools.bench.access import metadata

METHOD = "/stemma.conversation.v1.FloorService/AppendFloors"
# `after_previous`.
_AFTER = b"\x50\x01"
# Of an answer only the id and whether it has a floor are looked at; reading it is not worth the time.
_REQUEST_ID, _FLOOR = 0x0A, 0x12


async def stream(
    channel: grpc.aio.Channel, bodies: list[str], seconds: float, ahead: int, streams: int
) -> dict[str, Any]:
    """Each body is a session; `ahead` of its items wait for their answer at a time, the later ones
    `after_previous`. The sessions are dealt out to `streams` streams."""
    started = time.perf_counter()
    decoded = [base64.b64decode(body) for body in bodies]
    counts = await asyncio.gather(
        *(_one(channel, decoded[number::streams], started + seconds, ahead) for number in range(streams))
    )
    return {"calls": sum(counts), "rate": sum(counts) / (time.perf_counter() - started)}


async def _one(channel: grpc.aio.Channel, bodies: list[bytes], until: float, ahead: int) -> int:
    method: Any = channel.stream_stream(METHOD)
    call = method(timeout=120.0, metadata=metadata())
    waiting: dict[bytes, int] = {}
    ready = deque(number for _ in range(ahead) for number in range(len(bodies)))
    begun: set[int] = set()
    answered = 0

    async def send() -> None:
        while ready:
            number = ready.popleft()
            request_id = str(uuid.uuid4()).encode()
            waiting[request_id] = number
            after = _AFTER if number in begun else b""
            begun.add(number)
            await call.write(b"\x0a\x24" + request_id + bodies[number] + after)

    await send()
    while waiting:
        raw = await call.read()
        fields = message_fields(raw)
        if _FLOOR not in fields:
            raise AssertionError(f"an item failed: {floor_service_pb2.AppendFloorsResponse.FromString(raw)}")
        number = waiting.pop(fields[_REQUEST_ID])
        answered += 1
        if time.perf_counter() < until:
            ready.append(number)
            await send()
    await call.done_writing()
    return answered


def message_fields(raw: bytes) -> dict[int, bytes]:
    """By their tags; all fields of the answer are length-delimited."""
    found = {}
    at = 0
    while at < len(raw):
        tag, at, size, shift = raw[at], at + 1, 0, 0
        while True:
            byte, at = raw[at], at + 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        found[tag] = raw[at : at + size]
        at += size
    return found
