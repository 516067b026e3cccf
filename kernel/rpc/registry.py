"""From a service's descriptor and a servicer object to the handlers that grpc calls."""

import inspect
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import grpc
from google.protobuf import empty_pb2, message_factory
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from grpc import aio

from kernel.errors import Unimplemented
from kernel.rpc import status as statuses
from kernel.rpc.admission import Gate, overloaded
from kernel.rpc.exchange import Exchange, Method, Proceed, Step
from kernel.rpc.interceptors import chain, outermost, request_id_of
from kernel.rpc.policy import while_permitted

_Context = aio.ServicerContext[Any, Any]
# Generic for mypy only.
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_WORD_START = re.compile(r"(?<!^)(?=[A-Z])")


class BadServicer(TypeError):
    """A servicer does not fit its service; the text lists every RPC at fault, and why."""


def methods(service: ServiceDescriptor, servicer: object) -> list[Method]:
    """One method for each RPC of the service, answered by the servicer's method in snake_case.

    `AppendFloor` is answered by `async def append_floor(self, request, call) -> Response`, a
    server stream by an async generator, or by a function that returns an async iterator; when the
    client streams as well, `request` is an async iterator of its messages. A
    response is the RPC's message, or its bytes already serialised. Raises BadServicer.
    """
    found, problems = [], []
    for rpc in service.methods:
        name = snake_case(rpc.name)
        handler = getattr(servicer, name, None)
        problem = _problem(rpc, name, handler)
        if handler is None or problem:
            problems.append(f"{service.full_name}.{rpc.name}: {problem}")
            continue
        request_class = message_factory.GetMessageClass(rpc.input_type)
        path = f"/{service.full_name}/{rpc.name}"
        found.append(Method(path, request_class, rpc.server_streaming, handler, rpc.client_streaming))
    if problems:
        raise BadServicer(f"{type(servicer).__name__} does not serve " + "; ".join(problems))
    return found


def snake_case(name: str) -> str:
    """`AppendFloor` as `append_floor`."""
    return _WORD_START.sub("_", name).lower()


def _problem(rpc: MethodDescriptor, name: str, handler: object) -> str:
    if rpc.client_streaming and not rpc.server_streaming:
        return "client streams with one answer are not supported"
    if handler is None:
        return f"there is no method {name}"
    if not callable(handler):
        return f"{name} is not a method"
    if rpc.server_streaming and inspect.iscoroutinefunction(handler):
        return f"{name} must be an async generator, as the RPC streams"
    if not rpc.server_streaming and not inspect.iscoroutinefunction(handler):
        return f"{name} must be async"
    return ""


class Router(grpc.GenericRpcHandler):
    """Finds the handler of a call by its method's name; UNIMPLEMENTED for all that it does not know.

    Every RPC is registered as one with a request stream, whatever its arity: only then can the
    request be read inside the interceptors, under the deadline, and its absence be answered. (grpc
    itself leaves a unary call without a request unanswered, and costs the same.)
    """

    def __init__(self, served: Sequence[Method], steps: Sequence[Step], gate: Gate) -> None:
        self._gate = gate
        self._handlers = {method.name: (_rpc_handler(method, steps), method.streams) for method in served}
        self._overloaded = {streams: _overloaded(streams) for streams in (False, True)}

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> _Handler:
        name = handler_call_details.method
        found = self._handlers.get(name)
        if found is None:
            return _unknown(name)
        handler, streams = found
        # Here and not only in the interceptors: what is refused must cost a small part of what is
        # answered, or refusing alone would take all the time there is.
        return self._overloaded[streams] if self._gate.full(streams) else handler


def _rpc_handler(method: Method, steps: Sequence[Step]) -> _Handler:
    if method.streams:
        return _streaming(method, chain(steps, _stream))
    return _unary(method, chain(steps, _answer))


def _unary(method: Method, proceed: Proceed) -> _Handler:
    async def behavior(_requests: object, context: _Context) -> bytes:
        return await proceed(Exchange(method, context))

    return grpc.stream_unary_rpc_method_handler(behavior)


def _streaming(method: Method, proceed: Proceed) -> _Handler:
    async def behavior(_requests: object, context: _Context) -> None:
        await proceed(Exchange(method, context))

    return grpc.stream_stream_rpc_method_handler(behavior)


async def _answer(exchange: Exchange) -> bytes:
    request = await exchange.read()
    await exchange.permit(request)
    return exchange.encoded(await exchange.method.handler(request, exchange.call()))


async def _stream(exchange: Exchange) -> bytes:
    if exchange.policy is None:
        return await _streamed(exchange, await _asked(exchange))
    request = await _asked(exchange)
    return await while_permitted(_streamed(exchange, request), lambda: _again(exchange, request))


async def _asked(exchange: Exchange) -> Any:
    if exchange.method.client_streams:
        return exchange.requests()
    request = await exchange.read()
    await exchange.permit(request)
    return request


async def _again(exchange: Exchange, request: Any) -> None:
    """Whether the stream may go on: the credential is still good, and so is the caller's role."""
    await exchange.identify_again()
    if not exchange.method.client_streams:
        await exchange.permit(request)


async def _streamed(exchange: Exchange, request: Any) -> bytes:
    responses = exchange.method.handler(request, exchange.call())
    try:
        async for response in responses:
            await exchange.write(response)
    finally:
        # A client that goes away while a frame is sent ends the loop outside the generator.
        close = getattr(responses, "aclose", None)
        if close is not None:
            await close()
    return b""


def _overloaded(streams: bool) -> _Handler:
    """Refuses a call that has not been looked at, with the same status for all."""
    status = statuses.to_status(overloaded())
    code, details = statuses.code(status), (statuses.DETAILS_KEY, status.SerializeToString())

    async def behavior(_requests: object, context: _Context) -> None:
        request_id = request_id_of(tuple(context.invocation_metadata() or ()))
        await context.abort(code, status.message, (("x-request-id", request_id), details))

    if streams:
        return grpc.stream_stream_rpc_method_handler(behavior)
    return grpc.stream_unary_rpc_method_handler(behavior)


def _unknown(name: str) -> _Handler:
    method = Method(name[:200], empty_pb2.Empty, True, _no_handler)
    return _streaming(method, chain(outermost(), _refuse))


async def _no_handler(_request: object, _call: object) -> bytes:
    raise Unimplemented("This method")


async def _refuse(_exchange: Exchange) -> bytes:
    raise Unimplemented("This method")
