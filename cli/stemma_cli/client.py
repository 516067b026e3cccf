"""The conversation service over gRPC, one method for each call that the commands make.

Every method returns what the service answered, lists with all their pages, and raises ApiError.
Writes take a fresh request_id, so that none of them is done twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import grpc

from stemma_cli.calls.drafts import DraftCalls
from stemma_cli.calls.files import FileCalls
from stemma_cli.calls.floors import FloorCalls
from stemma_cli.calls.runs import RunCalls
from stemma_cli.calls.sessions import SessionCalls
from stemma_cli.calls.staged import StagedCalls

_OPTIONS = [
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    # Back soon after a restart.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # The service is ours, and near: no proxy in between.
    ("grpc.enable_http_proxy", 0),
]


class Client(SessionCalls, FloorCalls, RunCalls, FileCalls, StagedCalls):
    """See the module."""


@contextmanager
def connect(address: str) -> Iterator[Client]:
    """A client of the service at `address`. Connects with the first call."""
    with grpc.insecure_channel(address, options=_OPTIONS) as channel:
        yield Client(channel, address)


@contextmanager
def connect_drafts(address: str) -> Iterator[DraftCalls]:
    """A client of the draft service at `address`. Connects with the first call."""
    with grpc.insecure_channel(address, options=_OPTIONS) as channel:
        yield DraftCalls(channel, address)
