"""The conversation service over gRPC, one method for each call that the commands make.

Every method returns what the service answered, lists with all their pages, and raises ApiError.
Writes take a fresh request_id, so that none of them is done twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from stemma_cli.calls.audit import AuditCalls, DraftAuditCalls
from stemma_cli.calls.drafts import DraftCalls
from stemma_cli.calls.erasing import DraftErasingCalls, ErasingCalls
from stemma_cli.calls.files import FileCalls
from stemma_cli.calls.floors import FloorCalls
from stemma_cli.calls.keys import KeyCalls
from stemma_cli.calls.runs import RunCalls
from stemma_cli.calls.sessions import SessionCalls
from stemma_cli.calls.staged import StagedCalls
from stemma_cli.dialling import dial


class Client(SessionCalls, FloorCalls, RunCalls, FileCalls, StagedCalls, AuditCalls, KeyCalls, ErasingCalls):
    """See the module."""


@contextmanager
def connect(address: str) -> Iterator[Client]:
    """A client of the service at `address`. Connects with the first call."""
    with dial(address) as channel:
        yield Client(channel, address)


@contextmanager
def connect_drafts(address: str) -> Iterator[DraftCalls]:
    """A client of the draft service at `address`. Connects with the first call."""
    with dial(address) as channel:
        yield DraftCalls(channel, address)


@contextmanager
def connect_draft_audit(address: str) -> Iterator[DraftAuditCalls]:
    """A client of the draft service's audit."""
    with dial(address) as channel:
        yield DraftAuditCalls(channel, address)


@contextmanager
def connect_draft_erasing(address: str) -> Iterator[DraftErasingCalls]:
    """A client of the draft service's erasure."""
    with dial(address) as channel:
        yield DraftErasingCalls(channel, address)
