"""What the servicers share: callers, writes, targets, content, page tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stemma.kernel.v1 import floor_pb2, message_pb2

from kernel.generation.registry import Providers
from kernel.prompt.config import Config
from kernel.rpc.call import TENANT_ROLES, Call
from kernel.rpc.checks import branch_name, enum_field, page_size, request_id, uuid_field
from kernel.rpc.fingerprint import fingerprint
from kernel.rpc.messages import check_messages
from kernel.rpc.tokens import Json, PageTokens
from kernel.tree.model import PageContent
from kernel.verbs.effects import Given
from kernel.verbs.env import MAIN, Caller, Target, Write
from kernel.verbs.records import Request
from kernel.wire.codec import page_content
from kernel.wire.config import config
from kernel.wire.effects import given

ABANDON = floor_pb2.ON_PENDING_ABANDON


def caller_of(call: Call) -> Caller:
    who = call.identity
    return Caller(
        who.tenant_id, who.principal, who.roles | call.granted, not who.roles.isdisjoint(TENANT_ROLES)
    )


def write_of(request: Any, call: Call) -> Write:
    """The write as it is remembered under its request id (R1)."""
    caller = caller_of(call)
    given = request_id(request.request_id)
    return Write(caller, Request(caller.principal, call.method, given, fingerprint(request)))


def target_of(request: Any, *, session_optional: bool = False) -> Target:
    """The four fields that every write on a branch has."""
    on_pending = enum_field(
        request.on_pending, floor_pb2.OnPending, "on_pending", floor_pb2.ON_PENDING_REFUSE
    )
    head = uuid_field(request.expected_head, "expected_head", required=False)
    return Target(
        uuid_field(request.session_id, "session_id", required=not session_optional),
        branch_name(request.branch, MAIN),
        head or None,
        on_pending == ABANDON,
    )


def content_of(
    messages: Sequence[message_pb2.Message], field: str, *, required: bool = False
) -> PageContent | None:
    """Checked messages as they are stored; None for none."""
    check_messages(messages, field, required=required)
    return page_content(messages)


def effects_of(request: Any) -> Given | None:
    """Checked effects; None where the request has no such field set."""
    return given(request.effects) if request.HasField("effects") else None


def config_of(message: Any, field: str, providers: Providers, call: Call) -> Config:
    """A checked configuration that this server can follow, as it is stored: its keys are sealed."""
    return providers.admitted(config(message, field), field, call.identity.tenant_id)


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of a listing: `filters` are what decides which items come, and in what order."""

    tokens: PageTokens
    tenant_id: str
    method: str
    filters: dict[str, Json]
    size: int
    last: Any

    def token(self, last: Json) -> str:
        return self.tokens.seal(self.tenant_id, self.method, self.filters, last)


def listing(tokens: PageTokens, request: Any, call: Call, filters: dict[str, Json]) -> Listing:
    """The page that a request asks for; `last` is what its token holds, None without one."""
    size = page_size(request.page_size)
    last = None
    if request.page_token:
        last = tokens.open(request.page_token, call.identity.tenant_id, call.method, filters)
    return Listing(tokens, call.identity.tenant_id, call.method, filters, size, last)
