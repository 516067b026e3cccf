"""Conversations as a client has them, over either transport, with a view of what the model got."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from stemma.conversation.v1 import context_service_pb2
from stemma.kernel.v1 import floor_pb2, message_pb2

from tests.e2e.rest import RestClient, connect_rest
from tests.gateway.harness import serve_gateway
from tests.support.client import Client, connect, request_for, text_of, user
from tests.support.service import running_service


class Talk:
    """One session. `sent` is every request that the scripted provider got, oldest first."""

    def __init__(self, client: Client | RestClient, sent: Sequence[Any], session_id: str) -> None:
        self.client = client
        self.sent = sent
        self.session_id = session_id

    async def say(self, text: str) -> floor_pb2.Floor:
        return await self.client.respond(self.session_id, input={"messages": [user(text)]})

    async def edit(self, floor: floor_pb2.Floor, text: str) -> floor_pb2.Floor:
        edit = {"floor_id": floor.floor_id, "messages": [user(text)]}
        return await self.client.respond(self.session_id, edit=edit)

    async def regenerate(self, floor: floor_pb2.Floor) -> floor_pb2.Floor:
        return await self.client.respond(self.session_id, regenerate={"floor_id": floor.floor_id})

    async def append(self, asked: str, answered: str) -> floor_pb2.Floor:
        turn = {"input": [user(asked)], "output": [message_pb2.Message(role=3, parts=[_text(answered)])]}
        return (await self.client.call("AppendFloor", session_id=self.session_id, **turn)).floor

    async def roll_back(self, floor: floor_pb2.Floor) -> None:
        await self.client.call("MoveHead", session_id=self.session_id, branch="main", floor_id=floor.floor_id)

    async def select(self, floor: floor_pb2.Floor) -> None:
        await self.client.call(
            "SelectSibling", session_id=self.session_id, branch="main", floor_id=floor.floor_id
        )

    async def context(self) -> context_service_pb2.AssembleContextResponse:
        return await self.client.call("AssembleContext", session_id=self.session_id)

    async def context_texts(self) -> list[str]:
        return [text_of(message) for message in (await self.context()).messages]

    async def context_bytes(self) -> bytes:
        """The assembled messages exactly as this transport brings them."""
        if isinstance(self.client, RestClient):
            return await self.client.context_bytes(self.session_id)
        raw = await self.client.raw(
            "AssembleContext", request_for("AssembleContext", session_id=self.session_id)
        )
        whole = context_service_pb2.AssembleContextResponse.FromString(raw)
        whole.ClearField("explanation")
        return raw[: whole.ByteSize()]

    def sent_texts(self, index: int = -1) -> list[str]:
        """The messages of one request to the model."""
        return [message.text for message in self.sent[index].messages]


def _text(text: str) -> message_pb2.Part:
    return message_pb2.Part(text={"text": text})


@asynccontextmanager
async def talking(transport: str, database_url: str, script: str = "") -> AsyncIterator[Talk]:
    """A session on a service of its own, over "rest" (through the real gateway) or "grpc"."""
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(running_service(database_url, script=script))
        if transport == "rest":
            base_url = await stack.enter_async_context(serve_gateway(service.address))
            client: Client | RestClient = await stack.enter_async_context(connect_rest(base_url))
        else:
            client = await stack.enter_async_context(connect(service.address))
        session = (await client.call("CreateSession")).session
        yield Talk(client, service.sent, session.session_id)


async def another_session(talk: Talk) -> Talk:
    """A second session of the same service."""
    session = (await talk.client.call("CreateSession")).session
    return Talk(talk.client, talk.sent, session.session_id)
