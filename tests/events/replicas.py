"""Services on one database that are stopped and started again, and clients that do not mind."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import grpc
from google.protobuf.message import Message

from tests.conformance.schemas import execute
from tests.support.client import Client, answer_of, connect, refusal_of
from tests.support.service import running_service

# What a service that stops or is away answers: the call may have happened, so it is repeated as it was.
AWAY = {"UNAVAILABLE", "CANCELLED"}

_STRETCH = {
    # At the commit itself, when the positions have long been taken.
    "postgresql": """
        CREATE FUNCTION stretch() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_sleep(random() * 0.01); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER stretch AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION stretch()""",
    # Which has no deferred triggers: the transaction takes longer from the event on.
    "sqlite": """
        CREATE TRIGGER stretch AFTER INSERT ON event BEGIN
            SELECT count(*) FROM (
                WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 9999) SELECT i FROM n);
        END""",
}


async def stretch_commits(url: str) -> None:
    """From now on every transaction with events takes longer, by some milliseconds for each."""
    await execute(url, _STRETCH[url.partition(":")[0]])


class Replicas:
    """Running services. Each client call goes to one of them by chance."""

    def __init__(self, url: str, seed: int) -> None:
        self._url = url
        self._random = random.Random(seed)
        self._running: list[tuple[AsyncExitStack, Client]] = []
        # Open to the end: a channel that closes cancels those who wait on it.
        self._channels = AsyncExitStack()
        self._up = asyncio.Event()

    async def start(self) -> None:
        stack = AsyncExitStack()
        service = await stack.enter_async_context(running_service(self._url))
        client = await self._channels.enter_async_context(connect(service.address, own_connection=True))
        self._running.append((stack, client))
        self._up.set()

    async def stop_oldest(self) -> None:
        """With whatever is under way there."""
        stack, _ = self._running.pop(0)
        if not self._running:
            self._up.clear()
        await stack.aclose()

    async def close(self) -> None:
        while self._running:
            await self.stop_oldest()
        await self._channels.aclose()

    async def one(self) -> Client:
        """One of them, waiting until there is one."""
        await self._up.wait()
        return self._random.choice(self._running)[1]

    async def send(self, name: str, request: Message) -> Any:
        """The answer, however many repeats that takes (R1). Refusals are raised."""
        while True:
            client = await self.one()
            try:
                return answer_of(name, await client.raw(name, request))
            except grpc.aio.AioRpcError as error:
                if error.code().name not in AWAY:
                    raise

    async def refused(self, name: str, request: Message) -> str:
        """The refusal's reason; an answer is a failed test."""
        try:
            answer = await self.send(name, request)
        except grpc.aio.AioRpcError as error:
            return refusal_of(error).reason
        raise AssertionError(f"{name} was answered: {answer}")


@asynccontextmanager
async def replicas(url: str, number: int, seed: int) -> AsyncIterator[Replicas]:
    running = Replicas(url, seed)
    try:
        for _ in range(number):
            await running.start()
        yield running
    finally:
        await running.close()
