"""The load generator, a process of its own: the same code calls the echo server and the service.

Requests are made beforehand and answers left unread, so that both cost it the same. It reads one JSON object
a line from standard input, {kind, …}, and prints the answer in one line. The kinds are the methods of Calls.
Bodies are base64 of a request; a write's is without its request_id, which is put before it (protobuf messages
join by concatenation).
"""

import asyncio
import base64
import json
import sys
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import grpc
import uvloop

from tools.bench.access import metadata
from tools.bench.run_client import respond
from tools.bench.sse_client import read_streams
from tools.bench.streams import stream

_OPTIONS = [("grpc.max_receive_message_length", 16 * 1024 * 1024), ("grpc.enable_http_proxy", 0)]
_TIMEOUT = 120.0

Unary = Callable[[bytes], Awaitable[bytes]]


def with_request_id(body: bytes) -> bytes:
    """Field 1 of every write, 36 characters, and then the rest."""
    return b"\x0a\x24" + str(uuid.uuid4()).encode() + body


class Calls:
    """Channels by address, open until the end."""

    def __init__(self, until: AsyncExitStack) -> None:
        self._until = until
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def channel(self, address: str) -> grpc.aio.Channel:
        if address not in self._channels:
            made = grpc.aio.insecure_channel(address, options=_OPTIONS)
            self._channels[address] = await self._until.enter_async_context(made)
            await made.channel_ready()
        return self._channels[address]

    async def unary(self, address: str, method: str) -> Unary:
        call: Any = (await self.channel(address)).unary_unary(method)
        brought = metadata()

        async def send(request: bytes) -> bytes:
            answer: bytes = await call(request, timeout=_TIMEOUT, metadata=brought)
            return answer

        return send

    async def whole(self, address: str, method: str) -> Unary:
        """As `unary`, for a stream of answers: the last of them."""
        call: Any = (await self.channel(address)).unary_stream(method)
        brought = metadata()

        async def send(request: bytes) -> bytes:
            """Fails when there is none."""
            *_, last = [answer async for answer in call(request, timeout=_TIMEOUT, metadata=brought)]
            return bytes(last)

        return send

    async def load(self, address: str, method: str, bodies: list[str], seconds: float) -> dict[str, Any]:
        """One caller for each body, each calling again as soon as it is answered. Failures count apart."""
        send = await self.unary(address, method)
        started = time.perf_counter()
        until = started + seconds
        taken: list[float] = []
        failed: Counter[str] = Counter()

        async def caller(body: bytes) -> None:
            while (begin := time.perf_counter()) < until:
                try:
                    await send(with_request_id(body))
                except grpc.aio.AioRpcError as error:
                    failed[error.code().name] += 1
                else:
                    taken.append(time.perf_counter() - begin)

        await asyncio.gather(*(caller(base64.b64decode(body)) for body in bodies))
        elapsed = time.perf_counter() - started
        if not taken:
            raise AssertionError(f"no call of {method} was answered: {failed}")
        taken.sort()
        return {
            "calls": len(taken),
            "failed": failed,
            "rate": len(taken) / elapsed,
            "p95_ms": taken[len(taken) * 95 // 100] * 1e3,
        }

    async def latency(self, calls: list[dict[str, Any]], times: int) -> dict[str, list[float]]:
        """Each call `times` times, one after the other in turns: milliseconds by the call's `name`.

        A call: {name, address, method, body, write, stream}, the answers of a stream read to their end. One
        is under way at a time.
        """
        sends = [
            (call, await (self.whole if call.get("stream") else self.unary)(call["address"], call["method"]))
            for call in calls
        ]
        found: dict[str, list[float]] = {}
        for _ in range(times):
            for call, send in sends:
                body = base64.b64decode(call["body"])
                request = with_request_id(body) if call.get("write") else body
                begin = time.perf_counter()
                await send(request)
                found.setdefault(call["name"], []).append((time.perf_counter() - begin) * 1e3)
        return found

    async def call(self, address: str, method: str, body: str, write: bool = False) -> str:
        """One call, and its answer in base64."""
        raw = base64.b64decode(body)
        answer = await (await self.unary(address, method))(with_request_id(raw) if write else raw)
        return base64.b64encode(answer).decode()

    async def sse(self, **fields: Any) -> dict[str, Any]:
        return await read_streams(**fields)

    async def runs(self, address: str, **fields: Any) -> dict[str, Any]:
        return await respond(await self.channel(address), **fields)

    async def stream(self, address: str, **fields: Any) -> dict[str, Any]:
        return await stream(await self.channel(address), **fields)


async def _answer(calls: Calls, question: dict[str, Any]) -> Any:
    return await getattr(calls, question.pop("kind"))(**question)


async def main() -> None:
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as until:
        calls = Calls(until)
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            print(json.dumps(await _answer(calls, json.loads(line))), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
