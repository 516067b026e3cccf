"""32 callers at once, and proof that they were."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import Message

from tests.support.client import Client, Refusal, connect, refusal_of

WRITERS = 32
CHANNELS = 8
ROUNDS = 6
ATTEMPTS = 20
PATIENCE = 30.0


@dataclass(frozen=True)
class Call:
    """`answer`: the answer's bytes, or the refusal; times from one clock."""

    began: float
    ended: float
    answer: bytes | Refusal


class Writers:
    """32 callers over eight TCP connections."""

    def __init__(self, clients: list[Client]) -> None:
        self._clients = clients

    @property
    def one(self) -> Client:
        return self._clients[0]

    async def at_once(self, name: str, requests: list[Message]) -> list[Call]:
        """All of them, each released by the same event."""
        go = asyncio.Event()

        async def call(client: Client, request: Message) -> Call:
            await go.wait()
            began = time.perf_counter()
            try:
                answer: bytes | Refusal = await client.raw(name, request)
            except grpc.aio.AioRpcError as error:
                answer = refusal_of(error)
            return Call(began, time.perf_counter(), answer)

        calls = [
            asyncio.create_task(call(self._clients[number % CHANNELS], request))
            for number, request in enumerate(requests)
        ]
        go.set()
        return await asyncio.gather(*calls)


@asynccontextmanager
async def writers(address: str) -> AsyncIterator[Writers]:
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(connect(address, own_connection=True)) for _ in range(CHANNELS)
        ]
        # Connected beforehand, so that no round waits for a handshake.
        await asyncio.gather(*(client.new_session() for client in clients))
        yield Writers(clients)


@contextmanager
def meeting(store: Any, seam: str) -> Iterator[None]:
    """Holds every caller at the store's door until all are there: each has looked at the tree by
    then, none has changed it. Later tries of the same callers pass."""
    arrived, everybody, enter = 0, asyncio.Event(), getattr(store, seam)

    async def wait_then_enter(*args: Any, **kwargs: Any) -> Any:
        nonlocal arrived
        arrived += 1
        if arrived == WRITERS:
            everybody.set()
        await asyncio.wait_for(everybody.wait(), PATIENCE)
        return await enter(*args, **kwargs)

    setattr(store, seam, wait_then_enter)
    try:
        yield
    finally:
        delattr(store, seam)


async def rounds(store: Any, seam: str, one_round: Callable[[], Awaitable[list[Call]]]) -> None:
    """Repeats a round, which checks itself, until enough counted: those in which every call began
    before any ended. The callers of every second round also meet at `seam`, a method of the store."""
    counted = 0
    for attempt in range(ATTEMPTS):
        with meeting(store, seam) if attempt % 2 else nullcontext():
            calls = await one_round()
        counted += max(call.began for call in calls) < min(call.ended for call in calls)
        if counted == ROUNDS:
            return
    raise AssertionError(f"only {counted} of {ATTEMPTS} rounds overlapped")
