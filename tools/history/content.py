"""Digests of what was asked and said, computed alike from requests, answers and what is there later."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from stemma.kernel.v1 import message_pb2

# What an answer fills in.
_OUTPUT_ONLY = ("message_id", "parent_message_id", "token_count")


def said(messages: Iterable[message_pb2.Message]) -> str:
    """The digest of one side of a turn, hex; empty for none."""
    digest, count = sha256(b"stemma.history.1"), 0
    for message in messages:
        plain = message_pb2.Message()
        plain.CopyFrom(message)
        for name in _OUTPUT_ONLY:
            plain.ClearField(name)
        raw = plain.SerializeToString(deterministic=True)
        digest.update(len(raw).to_bytes(8, "big") + raw)
        count += 1
    return digest.hexdigest() if count else ""
