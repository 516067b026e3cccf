"""A server stream of google.api.HttpBody as the file that it is.

The caller has read the first piece already, so that what is refused before it is an ordinary error
answer. A break after it ends the connection in the middle of the body: no client takes the part for
the whole.
"""

import re
from collections.abc import Mapping
from typing import Any

import grpc
import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.connected import while_connected

_log = structlog.get_logger("gateway")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_ENDINGS: Mapping[str, str] = {"application/json": "json", "application/jsonl": "jsonl"}


class BrokenFile(Exception):
    """The service's stream broke in the middle: the server must break the connection."""


class Download(Response):
    """`first` and the rest of `call`, the field of each response alone. Cancels the call when the client
    leaves. Raises BrokenFile."""

    def __init__(self, first: Any, call: Any, field: str, *, name: str) -> None:
        media_type = getattr(first, field).content_type
        ending = _ENDINGS.get(media_type, "bin")
        file_name = f"{_UNSAFE.sub('_', name)}.{ending}"
        super().__init__(
            media_type=media_type, headers={"content-disposition": f'attachment; filename="{file_name}"'}
        )
        del self.headers["content-length"]  # nobody knows it
        self._first, self._call, self._field = first, call, field

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        try:
            await while_connected(Request(scope, receive), self._send(send))
        except grpc.aio.AioRpcError as error:
            _log.warning("a file broke in the middle", code=error.code().name)
            raise BrokenFile from None
        finally:
            self._call.cancel()

    async def _send(self, send: Send) -> None:
        response = self._first
        while response is not grpc.aio.EOF:
            piece = getattr(response, self._field).data
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            response = await self._call.read()
        await send({"type": "http.response.body", "body": b""})


def file_answer(first: Any, call: Any, field: str, *, name: str) -> Response:
    """The response; an empty file when the stream has ended before its first piece."""
    if first is grpc.aio.EOF:
        return Response(b"", media_type="application/octet-stream")
    return Download(first, call, field, name=name)
