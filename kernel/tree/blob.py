"""Stored page bytes as a list of framed messages, without reading any of them.

A blob is a run of (tag of field 1, length, message): the wire encoding of a repeated field. So
blobs join by concatenation, and one message is a slice.
"""

TAG = b"\x0a"
_TAG_BYTE = TAG[0]
# Five bytes tell of 32 GiB, far more than a page holds. A bound keeps broken bytes cheap to refuse.
_LENGTH_BYTES = 5


def frame(message: bytes) -> bytes:
    """One message as it stands in a blob."""
    return TAG + _varint(len(message)) + message


def split(blob: bytes) -> list[bytes]:
    """The framed messages, in order; ValueError when the bytes are not a blob."""
    return [blob[start:end] for start, _, end in _places(blob)]


def split_bodies(blob: bytes) -> list[bytes]:
    """The messages without their frames; ValueError when the bytes are not a blob."""
    return [blob[body:end] for _, body, end in _places(blob)]


def _places(blob: bytes) -> list[tuple[int, int, int]]:
    """Where each frame starts, its message starts, and both end."""
    places = []
    at = 0
    while at < len(blob):
        if blob[at] != _TAG_BYTE:
            raise ValueError("not a run of messages")
        length, body = _read_varint(blob, at + 1)
        end = body + length
        if end > len(blob):
            raise ValueError("a message is cut off")
        places.append((at, body, end))
        at = end
    return places


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    # Nearly all of them have two bytes.
    two = data[at : at + 2]
    if len(two) == 2 and two[0] >= 0x80 > two[1]:
        return two[0] & 0x7F | two[1] << 7, at + 2
    value = 0
    for index, byte in enumerate(data[at : at + _LENGTH_BYTES]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, at + index + 1
    raise ValueError("a length is cut off or too long")
