"""The limit for the gateway: `python -m tools.bench.sse_forwarder ADDRESS`.

A Starlette application that turns a gRPC stream into Server-Sent Events, and does nothing else.
"""

import socket
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
import uvicorn
import uvloop
from google.protobuf.json_format import MessageToJson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route
from stemma.conversation.v1 import run_service_pb2

from tools.bench.sse_source import METHOD


def _application(channel: grpc.aio.Channel) -> Starlette:
    attach: Any = channel.unary_stream(
        METHOD,
        request_serializer=run_service_pb2.AttachRunRequest.SerializeToString,
        response_deserializer=run_service_pb2.AttachRunResponse.FromString,
    )

    async def events(run_id: str) -> AsyncIterator[str]:
        async for answer in attach(run_service_pb2.AttachRunRequest(run_id=run_id)):
            event = answer.event
            yield f"id: {event.epoch}.{event.seq}\ndata: {MessageToJson(event, indent=None)}\n\n"

    async def answered(request: Request) -> StreamingResponse:
        return StreamingResponse(events(request.path_params["run_id"]), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/runs/{run_id}/events", answered)])


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(f"forwarder listening on http://127.0.0.1:{port}", flush=True)


async def main(address: str) -> None:
    async with grpc.aio.insecure_channel(address) as channel:
        config = uvicorn.Config(_application(channel), port=0, log_level="warning", access_log=False)
        await _Server(config).serve()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
