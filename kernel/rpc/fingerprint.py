"""What a request asks for, as one digest: a repeat with the same request_id must have the same (R1)."""

import hashlib

from google.protobuf import message


def fingerprint(request: message.Message) -> bytes:
    """sha256 over the parsed request without its `request_id` and without unknown fields, 32 bytes.

    Equal for equal requests however they were encoded. The server may parse more fields after an
    upgrade: a client that already sent them then gets REQUEST_ID_REUSED for its old request_id.
    """
    stripped = type(request)()
    stripped.CopyFrom(request)
    stripped.ClearField("request_id")
    stripped.DiscardUnknownFields()
    name = request.DESCRIPTOR.full_name.encode()
    return hashlib.sha256(name + b"\0" + stripped.SerializeToString(deterministic=True)).digest()
