"""Both services in this process, each on its own database, and a model whose answers a test can hold."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import grpc
from stemma.draft.v1 import draft_pb2
from stemma.kernel.v1 import floor_pb2, message_pb2

from draft_service.main import Service, build
from draft_service.settings import Settings
from kernel.clock import utc_now
from kernel.generation.provider import ChatRequest, Chunk
from tests.runs.stage import Cast, Part
from tests.support.client import Client, Refusal, request_for, user
from tests.support.service import SECRET_KEY, RunningService, running_service

PURPOSE = "candidate replies"


class Model(Cast):
    """Plays parts as for runs elsewhere. `sent`: what it was sent, oldest first."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[ChatRequest] = []

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Chunk, None]:
        self.sent.append(request)
        async for chunk in super().stream(request):
            yield chunk


@dataclass
class Replica:
    """One draft service, a client of it, and its model."""

    service: Service
    client: Client
    model: Model

    @property
    def sent(self) -> list[ChatRequest]:
        return self.model.sent

    def part(self, *replies: dict[str, Any], hold_at: int | None = None) -> Part:
        """What the model answers to a text of its own: by default a story in three pieces."""
        part = Part(replies, hold_at)
        self.model.add(part)
        return part

    async def sweep(self) -> None:
        """Until nothing is due."""
        while await self.service.sweeper.look():
            pass

    async def call(self, name: str, /, **fields: Any) -> Any:
        return await self.client.call(f"draft.{name}", **fields)

    async def refused(self, name: str, /, **fields: Any) -> Refusal:
        return await self.client.refused(f"draft.{name}", **fields)

    async def draft(self, **fields: Any) -> draft_pb2.Draft:
        return (await self.call("CreateDraft", purpose=PURPOSE, **fields)).draft

    async def get(self, draft_id: str) -> draft_pb2.Draft:
        return (await self.call("GetDraft", draft_id=draft_id)).draft

    async def say(self, draft_id: str, text: str) -> floor_pb2.Floor:
        return (await self.call("AppendMessage", draft_id=draft_id, message=user(text))).floor

    async def respond(self, draft_id: str, text: str = "", **fields: Any) -> floor_pb2.Floor:
        """Runs a turn to its end and returns the committed floor."""
        if text:
            fields["input"] = {"messages": [user(text)]}
        frames = await self.frames(draft_id, **fields)
        assert frames[-1].WhichOneof("event") == "floor_committed", frames[-1]
        return frames[-1].floor_committed.floor

    async def frames(self, draft_id: str, **fields: Any) -> list[Any]:
        return await self.client.frames(
            "draft.Respond", request_for("draft.Respond", draft_id=draft_id, **fields)
        )

    def context(self) -> list[tuple[int, str]]:
        """What the model was sent last: (role, text) of each message."""
        return [
            (int(message.role), "".join(getattr(part, "text", "") for part in message.parts))
            for message in self.sent[-1].messages
        ]


@dataclass
class Stage:
    """`canon`: the conversation service; `draft`: the first replica of the draft service."""

    canon: RunningService
    client: Client
    draft: Replica
    draft_url: str
    canon_url: str
    start: Callable[..., Any]
    replicas: list[Replica] = field(default_factory=list)

    @property
    def client_of_drafts(self) -> Client:
        return self.draft.client

    async def session(self, turns: int = 2, **fields: Any) -> str:
        """A session with that many turns, `user 1` and `answer 1` being the first."""
        session_id: str = (await self.client.call("CreateSession", **fields)).session.session_id
        for number in range(1, turns + 1):
            await self.turn(session_id, number)
        return session_id

    async def turn(self, session_id: str, number: int) -> floor_pb2.Floor:
        answer = message_pb2.Message(
            role=message_pb2.ROLE_ASSISTANT, parts=[{"text": {"text": f"answer {number}"}}]
        )
        return (
            await self.client.call(
                "AppendFloor", session_id=session_id, input=[user(f"user {number}")], output=[answer]
            )
        ).floor

    async def rows(self, query: str, *, canon: bool = False) -> list[tuple[Any, ...]]:
        """What a database answers to a query of its own."""
        return await rows(self.canon_url if canon else self.draft_url, query)

    async def execute(self, statement: str) -> None:
        """Something that only a test does to the draft database, such as moving a time."""
        async with self.draft.service.store._engines.writing() as connection:
            await connection.exec_driver_sql(statement)

    def id(self, value: str) -> str:
        """An id as a statement has it."""
        return f"'{value}'" if self.draft_url.startswith("postgresql") else f"x'{value.replace('-', '')}'"

    async def over(self, draft_id: str, column: str = "expire_time") -> None:
        """A time of the draft was a minute ago."""
        past = "clock_timestamp() - interval '1 minute'"
        if self.draft_url.startswith("sqlite"):
            past = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER) - 60000000"
        await self.execute(f"UPDATE draft SET {column} = {past} WHERE draft_id = {self.id(draft_id)}")


async def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    if url.startswith("postgresql"):
        connection = await asyncpg.connect(url)
        try:
            return [tuple(row) for row in await connection.fetch(query)]
        finally:
            await connection.close()
    return await asyncio.to_thread(_sqlite_rows, url.removeprefix("sqlite:///"), query)


def _sqlite_rows(path: str, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(Path(path))
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@asynccontextmanager
async def replica(
    url: str, conversation: str, *, ahead: timedelta = timedelta(), **settings: Any
) -> AsyncIterator[Replica]:
    """A draft service until the block ends, whose own clock goes `ahead`."""
    values: dict[str, Any] = {
        "draft": "127.0.0.1:0",
        "draft_database_url": url,
        "conversation": conversation,
        "secret_key": SECRET_KEY,
        "provider": "scripted",
    }
    async with build(Settings(**(values | settings)), clock=lambda: utc_now() + ahead) as service:
        model = Model()
        service.generation.providers.use(model)
        async with grpc.aio.insecure_channel(service.address) as channel:
            yield Replica(service, Client(channel), model)


@asynccontextmanager
async def on_stage(canon_url: str, draft_url: str, **settings: Any) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        canon = await stack.enter_async_context(running_service(canon_url))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(canon.address))
        first = await stack.enter_async_context(replica(draft_url, canon.address, **settings))

        async def start(**more: Any) -> Replica:
            """Another replica, on the same database."""
            return await stack.enter_async_context(replica(draft_url, canon.address, **(settings | more)))

        yield Stage(canon, Client(channel), first, draft_url, canon_url, start)
