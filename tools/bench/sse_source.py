"""What stands behind gateway and forwarder: a bare grpc.aio server.

Its AttachRun streams as many frames as the run id says, as fast as they are taken.
"""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import uvloop
from stemma.conversation.v1 import run_service_pb2
from stemma.kernel.v1 import run_pb2

METHOD = "/stemma.conversation.v1.RunService/AttachRun"
# A token or two.
_TEXT = "and then it "


def _frame(seq: int) -> bytes:
    delta = run_pb2.TextDelta(text=_TEXT)
    event = run_pb2.RunEvent(run_id="run", floor_id="floor", epoch=1, seq=seq, text_delta=delta)
    return run_service_pb2.AttachRunResponse(event=event).SerializeToString()


_FRAMES = [_frame(seq) for seq in range(1, 1_001)]


async def _attach(request: bytes, _context: Any) -> AsyncIterator[bytes]:
    for frame in _FRAMES[: int(run_service_pb2.AttachRunRequest.FromString(request).run_id)]:
        yield frame


class _Handler(grpc.GenericRpcHandler):
    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        handler: Any = grpc.unary_stream_rpc_method_handler(_attach)
        return handler if handler_call_details.method == METHOD else None


async def main() -> None:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((_Handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"source listening on 127.0.0.1:{port}", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    uvloop.run(main())
