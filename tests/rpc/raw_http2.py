"""One gRPC call as hand-made HTTP/2 frames, for what no gRPC client would send."""

import asyncio
import re
import struct

# Kinds of frames, and their flags.
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
# What a peer takes in one frame, and of one stream before it says that it takes more.
MAX_FRAME, WINDOW = 16_384, 65_535
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


async def raw_call(address: str, path: str, data: bytes, *, extra: tuple[tuple[str, str], ...] = ()) -> int:
    """Sends `data` as the whole body of a call; gives the grpc-status of the answer's trailers.

    Raises AssertionError when the stream or the connection ends without one.
    """
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(PREFACE + frame(SETTINGS, 0, 0, b""))
        writer.write(frame(HEADERS, END_HEADERS, 1, call_headers(address, path, extra)))
        for at in range(0, len(data) or 1, MAX_FRAME):
            last = at + MAX_FRAME >= len(data)
            writer.write(frame(DATA, END_STREAM if last else 0, 1, data[at : at + MAX_FRAME]))
        await writer.drain()
        async with asyncio.timeout(10):
            return await _grpc_status(reader, writer)
    finally:
        writer.close()


def call_headers(address: str, path: str, extra: tuple[tuple[str, str], ...] = ()) -> bytes:
    """The header block that begins a call."""
    headers = (
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", address),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        *extra,
    )
    return b"".join(map(_header, headers))


def message(payload: bytes, *, compressed: bool = False, length: int | None = None) -> bytes:
    """gRPC's frame around a message; `length` may lie."""
    return struct.pack(">BI", compressed, len(payload) if length is None else length) + payload


async def _grpc_status(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    block = b""
    while True:
        head = await reader.readexactly(9)
        payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
        kind, flags = head[3], head[4]
        if kind == SETTINGS and not flags & ACK:
            writer.write(frame(SETTINGS, ACK, 0, b""))
        elif kind == PING and not flags & ACK:
            writer.write(frame(PING, ACK, 0, payload))
        elif kind == HEADERS:
            block += payload
            # The server's HPACK writes names and values as plain literals the first time.
            found = re.search(rb"grpc-status(.)", block, re.DOTALL)
            if found:
                start = found.end()
                return int(block[start : start + found.group(1)[0]])
        assert kind not in (RST_STREAM, GOAWAY), f"no grpc-status before frame {kind}: {payload!r}, {block!r}"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """One HTTP/2 frame; stream 0 is the connection."""
    return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload


def _header(pair: tuple[str, str]) -> bytes:
    """A literal, never indexed, not Huffman-coded; below 127 bytes each."""
    name, value = (text.encode("ascii") for text in pair)
    assert len(name) < 127
    assert len(value) < 127
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value
