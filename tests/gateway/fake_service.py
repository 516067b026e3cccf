"""A conversation service that records what it is sent and answers what a test says.

A real grpc.aio server with the generated registrations, so that method paths and encodings are those
of the contract.
"""

import importlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2_grpc

from gateway.behind import PROBE
from gateway.credentials import FORWARDED
from gateway.services import MODULES, bindings
from gateway.upstream import CONVERSATION, DRAFT

Answer = Callable[[Any, grpc.aio.ServicerContext], Awaitable[Any]]
Frames = Callable[[Any, grpc.aio.ServicerContext], AsyncIterator[Any]]


@dataclass
class Call:
    """One call as it arrived."""

    name: str
    request: Any
    metadata: dict[str, Any]
    seconds_left: float | None
    # What it brought to say who calls, as often as it did.
    credentials: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class FakeService:
    """Stands for every servicer. `answers` and `streams` by RPC name; else an empty response. A stream of
    requests is recorded as the iterator that it is."""

    calls: list[Call] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    streams: dict[str, Frames] = field(default_factory=dict)
    health: Any = None
    address: str = ""
    package: str = CONVERSATION
    # Whether it asks who calls; only a gateway's question about that is ever refused.
    guarded: bool = True

    def reset(self) -> None:
        for one in (self.calls, self.answers, self.streams):
            one.clear()

    def reply(self, name: str, response: Message) -> None:
        async def answer(_: Any, __: Any) -> Message:
            return response

        self.answers[name] = answer

    def fail(self, name: str, code: grpc.StatusCode, message: str, *details: Message) -> None:
        """As the services fail: with a rich status when there are details, bare otherwise."""

        async def answer(_: Any, context: grpc.aio.ServicerContext) -> None:
            await refuse(context, code, message, *details)

        self.answers[name] = answer

    @property
    def last(self) -> Call:
        return self.calls[-1]

    def __getattr__(self, name: str) -> Any:
        method = METHODS[self.package].get(name)
        if method is None:
            if name in _DECLARED:
                return None
            raise AttributeError(name)
        return self._frames(name) if method.streaming else self._unary(name)

    def _record(self, name: str, request: Any, context: grpc.aio.ServicerContext) -> None:
        pairs = [(key, str(value)) for key, value in context.invocation_metadata() or ()]
        credentials = [pair for pair in pairs if pair[0] in FORWARDED]
        self.calls.append(Call(name, request, dict(pairs), context.time_remaining(), credentials))

    def _unary(self, name: str) -> Answer:
        async def handler(request: Any, context: grpc.aio.ServicerContext) -> Any:
            self._record(name, request, context)
            if self.last.metadata.get("x-request-id") == PROBE:
                self.calls.pop()
                if self.guarded:
                    await refuse(
                        context, grpc.StatusCode.UNAUTHENTICATED, "Who?", error_info("UNAUTHENTICATED")
                    )
            answer = self.answers.get(name)
            return await answer(request, context) if answer else METHODS[self.package][name].response()

        return handler

    def _frames(self, name: str) -> Frames:
        async def handler(request: Any, context: grpc.aio.ServicerContext) -> AsyncIterator[Any]:
            self._record(name, request, context)
            if name in self.streams:
                async for frame in self.streams[name](request, context):
                    yield frame

        return handler


METHODS = {
    package: {one.method.name: one.method for one in bindings() if one.method.package == package}
    for package in (CONVERSATION, DRAFT)
}
# In the generated registrations; what has no REST form is nobody's to serve here.
_DECLARED = {
    method.name
    for module in MODULES
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


async def refuse(
    context: grpc.aio.ServicerContext, code: grpc.StatusCode, message: str, *details: Message
) -> None:
    status = status_pb2.Status(code=code.value[0], message=message)
    for one in details:
        status.details.add().Pack(one)
    if details:
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    await context.abort(code, message)


def error_info(reason: str, **metadata: str) -> error_details_pb2.ErrorInfo:
    return error_details_pb2.ErrorInfo(reason=reason, domain="stemma", metadata=metadata)


@asynccontextmanager
async def running_fake() -> AsyncIterator[FakeService]:
    """Both services on one free port of loopback, saying SERVING. What the draft service is asked is recorded
    with the rest, and answered empty."""
    fake = FakeService(health=health.aio.HealthServicer())
    servicers = {CONVERSATION: fake, DRAFT: FakeService(calls=fake.calls, package=DRAFT)}
    server = grpc.aio.server()
    for module in MODULES:
        servicer = servicers[module.DESCRIPTOR.package]
        grpc_module = importlib.import_module(f"{module.__name__}_grpc")
        for service in module.DESCRIPTOR.services_by_name:
            getattr(grpc_module, f"add_{service}Servicer_to_server")(servicer, server)
    health_pb2_grpc.add_HealthServicer_to_server(fake.health, server)
    fake.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield fake
    finally:
        await server.stop(0)
