"""Calls by their short names, over one channel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from stemma.conversation.v1 import admin_service_pb2, floor_service_pb2, session_service_pb2

METHODS: dict[str, MethodDescriptor] = {
    method.name: method
    for module in (admin_service_pb2, floor_service_pb2, session_service_pb2)
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
# Seconds: for one call, and between the tries of a read.
_PATIENCE = 60.0
_PAUSES = (0.1, 0.3, 1.0, 3.0, 5.0)
_BUSY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED)


def request_of(method: str, /, **fields: Any) -> Any:
    return message_factory.GetMessageClass(METHODS[method].input_type)(**fields)


class Caller:
    """A channel of its own connection. Errors are grpc.aio.AioRpcError."""

    def __init__(self, address: str) -> None:
        # Whoever waits for a service that starts again should not wait long after it has.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_reconnect_backoff_ms", 500)]
        self._channel = grpc.aio.insecure_channel(address, options=options)

    async def ready(self) -> None:
        """Returns when there is a connection."""
        await self._channel.channel_ready()

    async def raw(self, method: str, request: Message, timeout: float = _PATIENCE) -> bytes:
        """The bytes of the answer."""
        path = f"/{METHODS[method].containing_service.full_name}/{method}"
        call: Any = self._channel.unary_unary(path, request_serializer=_bytes)
        answer: bytes = await call(request, timeout=timeout)
        return answer

    async def read(self, method: str, /, **fields: Any) -> Any:
        """The answer of a call that changes nothing: so it is simply made again when the service is busy."""
        request = request_of(method, **fields)
        for pause in _PAUSES:
            try:
                return answer_of(method, await self.raw(method, request))
            except grpc.aio.AioRpcError as error:
                if error.code() not in _BUSY:
                    raise
            await asyncio.sleep(pause)
        return answer_of(method, await self.raw(method, request))

    async def everything(self, method: str, field: str, /, **fields: Any) -> AsyncIterator[Any]:
        """The items of a paged list, in its order."""
        token = ""
        while True:
            answer = await self.read(method, page_size=1000, page_token=token, **fields)
            for item in getattr(answer, field):
                yield item
            token = answer.next_page_token
            if not token:
                return

    async def close(self) -> None:
        await self._channel.close()


def answer_of(method: str, raw: bytes) -> Any:
    return message_factory.GetMessageClass(METHODS[method].output_type).FromString(raw)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call failed. `answered`: the service said so itself, in an ErrorInfo; otherwise the reason is the
    code's name, and who knows what happened."""

    reason: str
    metadata: dict[str, str]
    answered: bool


def refusal_of(error: grpc.aio.AioRpcError) -> Refusal:
    trailers = dict(error.trailing_metadata() or ())
    details = trailers.get("grpc-status-details-bin", b"")
    for detail in status_pb2.Status.FromString(details).details if isinstance(details, bytes) else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            return Refusal(info.reason, dict(info.metadata), answered=True)
    return Refusal(error.code().name, {}, answered=False)


def _bytes(message: Message) -> bytes:
    return message.SerializeToString()
