"""A server that is busy once and then knows nobody; over gRPC and over HTTP. Keeps what it was asked with."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as Packed
from google.rpc import error_details_pb2, status_pb2
from grpc import aio
from grpc_status import rpc_status
from stemma.conversation.v1 import project_service_pb2


@dataclass
class Asked:
    """One try. `seconds`: the time that it was given, None where the transport does not tell."""

    request_id: str
    key: str
    seconds: float | None


@dataclass
class Fake:
    address: str
    asked: list[Asked] = field(default_factory=list)


def _status(code: int, message: str, *details: Any) -> status_pb2.Status:
    status = status_pb2.Status(code=code, message=message)
    for detail in details:
        packed = Packed()
        packed.Pack(detail)
        status.details.append(packed)
    return status


def _busy() -> status_pb2.Status:
    info = error_details_pb2.ErrorInfo(reason="OVERLOADED", domain="stemma")
    retry = error_details_pb2.RetryInfo()
    retry.retry_delay.FromMilliseconds(50)
    return _status(8, "Too much to do.", info, retry)


def _unknown() -> status_pb2.Status:
    info = error_details_pb2.ErrorInfo(reason="UNAUTHENTICATED", domain="stemma")
    return _status(16, "No such key.", info)


@asynccontextmanager
async def over_grpc() -> AsyncIterator[Fake]:
    server = aio.server()
    fake = Fake(f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}")

    async def create(request: project_service_pb2.CreateProjectRequest, context: Any) -> None:
        key = dict(context.invocation_metadata()).get("authorization", "")
        fake.asked.append(Asked(request.request_id, key, context.time_remaining()))
        status = _busy() if len(fake.asked) == 1 else _unknown()
        await context.abort_with_status(rpc_status.to_status(status))

    handler = grpc.unary_unary_rpc_method_handler(
        create, project_service_pb2.CreateProjectRequest.FromString, lambda answer: answer
    )
    services = {"CreateProject": handler}
    name = "stemma.conversation.v1.ProjectService"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, services),))
    await server.start()
    try:
        yield fake
    finally:
        await server.stop(None)


@asynccontextmanager
async def over_http() -> AsyncIterator[Fake]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
        await reader.readexactly(int(headers.get("content-length", "0")))
        fake.asked.append(Asked(headers.get("idempotency-key", ""), headers.get("authorization", ""), None))
        first = len(fake.asked) == 1
        info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo"}
        reason = "OVERLOADED" if first else "UNAUTHENTICATED"
        body = json.dumps(
            {"code": 8 if first else 16, "message": "No.", "details": [info | {"reason": reason}]}
        )
        line = "429 Too Many Requests\r\nretry-after: 0" if first else "401 Unauthorized"
        writer.write(
            f"HTTP/1.1 {line}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n{body}".encode()
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    fake = Fake(f"http://{host}:{port}")
    try:
        yield fake
    finally:
        server.close()
        await server.wait_closed()
