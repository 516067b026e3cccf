"""Many gRPC calls on one connection as hand-made HTTP/2 frames: a caller that costs next to nothing.

A gRPC client in Python needs as much of a core for a call as the server does; on a machine that holds both,
it could never offer twice what the server can answer.
"""

import asyncio
import re
import struct
import time
from collections import deque
from dataclasses import dataclass
from typing import cast

from tests.rpc.raw_http2 import (
    ACK,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    PREFACE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    call_headers,
    frame,
    message,
)

# No entry may refer to an earlier one (HEADER_TABLE_SIZE 0), and streams may be as long as they like.
_OURS = struct.pack(">HIHI", 1, 0, 4, 2**31 - 1)
_CONNECTION_WINDOW = 2**30
_STATUS = re.compile(rb"\x0bgrpc-status(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a call. `status`: gRPC's number, -1 when the stream or the connection was cut off;
    `seconds`: from sending to the end of the answer."""

    status: int
    seconds: float


class Connection(asyncio.Protocol):
    """Sends as many calls at once as it is told to; each is answered with an Answered, never an error."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._headers: dict[str, bytes] = {}
        self._stream = 1
        self._waiting: dict[int, tuple[float, asyncio.Future[Answered]]] = {}
        self._held = b""
        self._window = 65_535
        self._unsent: deque[tuple[int, bytes, bytes]] = deque()
        self._received = 0
        self._transport: asyncio.Transport | None = None
        self.lost = asyncio.get_running_loop().create_future()

    @property
    def under_way(self) -> int:
        return len(self._waiting)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # (uvloop's transports are none of asyncio's, but do what those do.)
        self._transport = cast(asyncio.Transport, transport)
        grow = frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", _CONNECTION_WINDOW))
        self._transport.write(PREFACE + frame(SETTINGS, 0, 0, _OURS) + grow)

    def call(self, path: str, request: bytes) -> "asyncio.Future[Answered]":
        """Sends the call at once, or as soon as the server's window allows."""
        block = self._headers.get(path)
        if block is None:
            block = self._headers[path] = call_headers(self._address, path)
        stream, self._stream = self._stream, self._stream + 2
        answered: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        self._waiting[stream] = (time.perf_counter(), answered)
        if self._transport is None or self._transport.is_closing():
            self._end(stream, -1)
            return answered
        self._unsent.append((stream, block, message(request)))
        self._send()
        return answered

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_lost(self, _error: Exception | None) -> None:
        for stream in list(self._waiting):
            self._end(stream, -1)
        if not self.lost.done():
            self.lost.set_result(None)

    def data_received(self, data: bytes) -> None:
        held = self._held + data if self._held else data
        at = 0
        while len(held) - at >= 9:
            length = int.from_bytes(held[at : at + 3], "big")
            if len(held) - at - 9 < length:
                break
            kind, flags = held[at + 3], held[at + 4]
            stream = int.from_bytes(held[at + 5 : at + 9], "big") & 0x7FFFFFFF
            self._frame(kind, flags, stream, held[at + 9 : at + 9 + length])
            at += 9 + length
        self._held = held[at:]

    def _frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        assert self._transport is not None
        if kind == HEADERS:
            # The answer's own head, or the trailers: only those end the stream.
            if flags & END_STREAM:
                found = _STATUS.search(payload)
                assert found is not None, payload
                start = found.end()
                self._end(stream, int(payload[start : start + found.group(1)[0]]))
        elif kind == DATA:
            self._received += len(payload)
            if self._received > _CONNECTION_WINDOW // 2:
                grow = struct.pack(">I", self._received)
                self._transport.write(frame(WINDOW_UPDATE, 0, 0, grow))
                self._received = 0
        elif kind == WINDOW_UPDATE and stream == 0:
            self._window += int.from_bytes(payload, "big")
            self._send()
        elif kind in (SETTINGS, PING) and not flags & ACK:
            self._transport.write(frame(kind, ACK, 0, payload if kind == PING else b""))
        elif kind == RST_STREAM:
            self._end(stream, -1)
        elif kind == GOAWAY:
            self.close()

    def _send(self) -> None:
        assert self._transport is not None
        while self._unsent and self._window >= len(self._unsent[0][2]):
            stream, block, body = self._unsent.popleft()
            self._window -= len(body)
            self._transport.write(
                frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, body)
            )

    def _end(self, stream: int, status: int) -> None:
        begun, answered = self._waiting.pop(stream, (0.0, None))
        if answered is not None and not answered.done():
            answered.set_result(Answered(status, time.perf_counter() - begun))


async def connect(address: str) -> Connection:
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(lambda: Connection(address), host, int(port))
    return connection
