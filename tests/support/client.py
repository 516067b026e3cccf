"""A thin client over the generated contract: any RPC by its name, with fresh request ids.

async with connect(address) as client:
    session = (await client.call("CreateSession")).session
    await client.call("AppendFloor", session_id=session.session_id, input=[user("hi")])
"""

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from stemma.conversation.v1 import (
    access_service_pb2,
    admin_service_pb2,
    audit_service_pb2,
    context_service_pb2,
    event_service_pb2,
    floor_service_pb2,
    project_service_pb2,
    run_service_pb2,
    session_service_pb2,
    snapshot_service_pb2,
    staged_write_service_pb2,
    state_service_pb2,
)
from stemma.draft.v1 import admin_service_pb2 as draft_admin_pb2
from stemma.draft.v1 import audit_service_pb2 as draft_audit_pb2
from stemma.draft.v1 import draft_service_pb2
from stemma.kernel.v1 import floor_pb2, message_pb2, run_pb2

from kernel.rpc.kinds import is_write

TIMEOUT = 60.0
Metadata = tuple[tuple[str, str], ...]
MODULES = (
    access_service_pb2,
    admin_service_pb2,
    audit_service_pb2,
    context_service_pb2,
    event_service_pb2,
    floor_service_pb2,
    project_service_pb2,
    run_service_pb2,
    session_service_pb2,
    snapshot_service_pb2,
    staged_write_service_pb2,
    state_service_pb2,
)


def _methods() -> Iterator[MethodDescriptor]:
    for module in MODULES:
        for service in module.DESCRIPTOR.services_by_name.values():
            yield from service.methods


METHODS = {method.name: method for method in _methods()}
# Of the draft service, by names such as `draft.GetTree`: some are those of the conversation service, too.
DRAFT_METHODS = {
    f"draft.{method.name}": method
    for service in (
        draft_service_pb2.DESCRIPTOR.services_by_name["DraftService"],
        draft_audit_pb2.DESCRIPTOR.services_by_name["AuditService"],
        draft_admin_pb2.DESCRIPTOR.services_by_name["AdminService"],
    )
    for method in service.methods
}


def writes(name: str) -> bool:
    return is_write(method_of(name).name, method_of(name).input_type)


def method_of(name: str) -> MethodDescriptor:
    return DRAFT_METHODS[name] if name in DRAFT_METHODS else METHODS[name]


@dataclass(frozen=True)
class Refusal:
    """A failed call: the canonical code's name, and the ErrorInfo."""

    code: str
    reason: str
    metadata: dict[str, str]


def refusal_of(error: grpc.aio.AioRpcError) -> Refusal:
    """Reads grpc-status-details-bin. Fails when there is no ErrorInfo: R7 promises one."""
    trailers = dict(error.trailing_metadata() or ())
    if "grpc-status-details-bin" not in trailers:
        raise AssertionError(f"no status details in {error!r}") from error
    status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
    assert status.code == error.code().value[0]
    for detail in status.details:
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            assert info.domain == "stemma"
            return Refusal(error.code().name, info.reason, dict(info.metadata))
    raise AssertionError(f"no ErrorInfo in {status}") from error


def reason_of(error: grpc.aio.AioRpcError) -> str:
    return refusal_of(error).reason


def say(role: int, text: str, **fields: Any) -> message_pb2.Message:
    return message_pb2.Message(role=role, parts=[{"text": {"text": text}}], **fields)


def user(text: str, **fields: Any) -> message_pb2.Message:
    return say(message_pb2.ROLE_USER, text, **fields)


def assistant(text: str, **fields: Any) -> message_pb2.Message:
    return say(message_pb2.ROLE_ASSISTANT, text, **fields)


def text_of(message: message_pb2.Message) -> str:
    return "".join(part.text.text for part in message.parts)


def texts(page: message_pb2.Page) -> list[str]:
    return [text_of(message) for message in page.messages]


def request_for(name: str, /, **fields: Any) -> Message:
    """The request of an RPC; a write without a request_id gets a random one."""
    kind = method_of(name).input_type
    if writes(name) and "request_id" in kind.fields_by_name and "request_id" not in fields:
        fields["request_id"] = str(uuid.uuid4())
    return message_factory.GetMessageClass(kind)(**fields)


def answer_of(name: str, raw: bytes) -> Any:
    return message_factory.GetMessageClass(method_of(name).output_type).FromString(raw)


class Client:
    """Calls of one channel. Errors are grpc.aio.AioRpcError; see `refusal_of`."""

    def __init__(self, channel: grpc.aio.Channel, metadata: Metadata = ()) -> None:
        """`metadata` goes with every call: a credential."""
        self._channel = channel
        self.metadata = metadata

    def bringing(self, metadata: Metadata) -> "Client":
        """Another caller over the same channel."""
        return Client(self._channel, metadata)

    async def raw(self, name: str, request: Message) -> bytes:
        """The answer's bytes as they came."""
        call = self._channel.unary_unary(_path(name), request_serializer=_bytes)
        return await call(request, timeout=TIMEOUT, metadata=self.metadata)

    async def send(self, name: str, request: Message) -> Any:
        return answer_of(name, await self.raw(name, request))

    async def call(self, name: str, /, **fields: Any) -> Any:
        return await self.send(name, request_for(name, **fields))

    async def refusal(self, name: str, request: Message) -> Refusal:
        """The call's refusal; an answer is a failed test."""
        try:
            if method_of(name).server_streaming:
                answer: Any = await self.frames(name, request)
            else:
                answer = await self.send(name, request)
        except grpc.aio.AioRpcError as error:
            return refusal_of(error)
        raise AssertionError(f"{name} was answered: {answer}")

    async def refused(self, name: str, /, **fields: Any) -> Refusal:
        return await self.refusal(name, request_for(name, **fields))

    def stream(self, name: str, request: Message) -> Any:
        """The open server-streaming call; its messages are RespondResponse and the like."""
        call = self._channel.unary_stream(
            _path(name), request_serializer=_bytes, response_deserializer=lambda raw: answer_of(name, raw)
        )
        return call(request, timeout=TIMEOUT, metadata=self.metadata)

    async def frames(self, name: str, request: Message) -> list[run_pb2.RunEvent]:
        """All frames of a run, to its end."""
        return [answer.event async for answer in self.stream(name, request)]

    async def respond(self, session_id: str, **fields: Any) -> floor_pb2.Floor:
        """Runs a turn to its end and returns the committed floor."""
        frames = await self.frames("Respond", request_for("Respond", session_id=session_id, **fields))
        assert frames[-1].WhichOneof("event") == "floor_committed", frames[-1]
        return frames[-1].floor_committed.floor

    async def everything(self, name: str, field: str, /, **fields: Any) -> list[Any]:
        """All items of a paged list."""
        found: list[Any] = []
        token = ""
        while True:
            answer = await self.call(name, page_token=token, **fields)
            found += getattr(answer, field)
            token = answer.next_page_token
            if not token:
                return found

    async def new_session(self) -> str:
        return (await self.call("CreateSession")).session.session_id

    async def path_ids(self, session_id: str, branch: str = "main") -> list[str]:
        floors = await self.everything("ListPath", "floors", session_id=session_id, branch=branch)
        return [floor.floor_id for floor in floors]


def _path(name: str) -> str:
    method = method_of(name)
    return f"/{method.containing_service.full_name}/{method.name}"


def _bytes(message: Message) -> bytes:
    return message.SerializeToString()


@asynccontextmanager
async def connect(address: str, *, own_connection: bool = False) -> AsyncIterator[Client]:
    """`own_connection`: channels to one address otherwise share one TCP connection."""
    options = [("grpc.use_local_subchannel_pool", 1)] if own_connection else []
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        yield Client(channel)
