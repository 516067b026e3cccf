"""A service with files going in and out, over gRPC and over REST."""

import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import httpx
from stemma.conversation.v1 import session_service_pb2 as pb
from stemma.conversation.v1 import session_service_pb2_grpc

from tests.gateway.harness import serve_gateway
from tests.support.client import TIMEOUT, Client, connect
from tests.support.service import RunningService, running_service

PIECE = 64 * 1024


def new_id() -> str:
    return str(uuid.uuid4())


def header(format: str, request_id: str = "", **fields: Any) -> pb.ImportSessionsRequest:
    given = pb.ImportHeader(request_id=request_id or new_id(), format=format, **fields)
    return pb.ImportSessionsRequest(header=given)


def chunk(data: bytes) -> pb.ImportSessionsRequest:
    return pb.ImportSessionsRequest(chunk=data)


async def upload(
    data: bytes, format: str, request_id: str = "", **fields: Any
) -> AsyncIterator[pb.ImportSessionsRequest]:
    """The messages of an import: the header, and the file in pieces."""
    yield header(format, request_id, **fields)
    for begin in range(0, len(data), PIECE):
        yield chunk(data[begin : begin + PIECE])


@dataclass(frozen=True)
class Files:
    """One service. `client` for all other calls."""

    service: RunningService
    client: Client
    stub: session_service_pb2_grpc.SessionServiceStub

    def open(self, messages: AsyncIterator[pb.ImportSessionsRequest]) -> Any:
        """The call: its messages are ImportSessionsResponse."""
        return self.stub.ImportSessions(messages, timeout=TIMEOUT)

    async def results(self, messages: AsyncIterator[pb.ImportSessionsRequest]) -> list[pb.ImportResult]:
        return [answer.result async for answer in self.open(messages)]

    async def imported(
        self, format: str, data: bytes, request_id: str = "", **fields: Any
    ) -> list[pb.ImportResult]:
        return await self.results(upload(data, format, request_id, **fields))

    async def one(self, format: str, data: bytes, **fields: Any) -> str:
        """The session of a file with one good conversation."""
        (result,) = await self.imported(format, data, **fields)
        assert not result.HasField("error"), result
        return str(result.session_id)

    async def exported(self, session_id: str, format: str = "stemma") -> bytes:
        request = pb.ExportSessionRequest(session_id=session_id, format=format)
        return b"".join([one.file.data async for one in self.stub.ExportSession(request, timeout=TIMEOUT)])

    async def sessions(self) -> list[Any]:
        return await self.client.everything("ListSessions", "sessions", page_size=1000)

    async def assert_sound(self, session_ids: Iterable[str]) -> None:
        for session_id in session_ids:
            answer = await self.client.call("VerifySession", session_id=session_id)
            assert list(answer.problems) == []


@asynccontextmanager
async def serving(database_url: str, **settings: Any) -> AsyncIterator[Files]:
    async with (
        running_service(database_url, **settings) as service,
        connect(service.address) as client,
        grpc.aio.insecure_channel(service.address) as channel,
    ):
        yield Files(service, client, session_service_pb2_grpc.SessionServiceStub(channel))


@asynccontextmanager
async def rest_of(files: Files) -> AsyncIterator[httpx.AsyncClient]:
    """A gateway before the service."""
    async with (
        serve_gateway(files.service.address) as url,
        httpx.AsyncClient(base_url=url, timeout=TIMEOUT, trust_env=False) as http,
    ):
        yield http
