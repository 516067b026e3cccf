"""The limit to measure against: a bare grpc.aio server on uvloop.

`Echo` answers with the bytes it got, `Sized` with as many as it is asked for. `Turn` parses an append and
builds its answer from the same messages, as every server with generated code has to.
"""

import functools
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import uvloop
from stemma.conversation.v1 import floor_service_pb2

METHOD, SIZED, TURN = "/bench.Echo/Echo", "/bench.Echo/Sized", "/bench.Echo/Turn"
_OPTIONS = [("grpc.max_send_message_length", 16 * 1024 * 1024)]


async def _echo(request: bytes, _context: Any) -> bytes:
    return request


@functools.lru_cache(maxsize=8)
def _zeros(count: bytes) -> bytes:
    return bytes(int(count))


async def _sized(request: bytes, _context: Any) -> bytes:
    return _zeros(request)


async def _turn(request: bytes, _context: Any) -> bytes:
    asked = floor_service_pb2.AppendFloorRequest.FromString(request)
    answer = floor_service_pb2.AppendFloorResponse()
    answer.floor.session_id = asked.session_id
    answer.floor.input_page.messages.extend(asked.input)
    answer.floor.output_page.messages.extend(asked.output)
    return answer.SerializeToString()


_METHODS: dict[str, Callable[[bytes, Any], Awaitable[bytes]]] = {METHOD: _echo, SIZED: _sized, TURN: _turn}


class _Handler(grpc.GenericRpcHandler):
    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        method: Any = _METHODS.get(handler_call_details.method)
        return method and grpc.unary_unary_rpc_method_handler(method)


async def main() -> None:
    server = grpc.aio.server(options=_OPTIONS)
    server.add_generic_rpc_handlers((_Handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"echo listening on 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(main())
