"""The audit as the contract shows it: the same in both services, each with messages of its own."""

from typing import Any

from stemma.kernel.v1 import audit_pb2

from kernel.rpc.call import Call
from kernel.rpc.checks import text_field, uuid_field
from kernel.rpc.tokens import PageTokens
from kernel.verbs.audit import Entry
from kernel.verbs.audit_store import AuditFilter
from kernel.verbs.sealer import Sealer
from kernel.verbs.store import Store
from kernel.wire.requests import listing
from kernel.wire.trees import time_pb

_MAX_NAME = 256


class Audits:
    """AuditService, of a service that says which response it gives."""

    def __init__(self, store: Store, sealer: Sealer, tokens: PageTokens, response: type[Any]) -> None:
        self._store = store
        self._sealer = sealer
        self._tokens = tokens
        self._response = response

    async def list_audit_entries(self, request: Any, call: Call) -> Any:
        tenant_id, where = call.identity.tenant_id, _filter(request)
        filters = [getattr(where, name) for name in where.__slots__]
        page = listing(self._tokens, request, call, {"f": filters})
        await self._sealer.flush(tenant_id)
        async with self._store.reading(tenant_id) as tx:
            found = await tx.audit_entries(where, page.last, page.size + 1)
            head = await tx.audit_head()
        shown = found[: page.size]
        return self._response(
            audit_entries=map(entry_pb, shown),
            next_page_token=page.token(shown[-1].number) if len(found) > page.size else "",
            head=str(head) if head else "",
        )


def _filter(request: Any) -> AuditFilter:
    def text(name: str) -> str:
        return text_field(getattr(request, name), name, maximum=_MAX_NAME)

    def uuid(name: str) -> str:
        return uuid_field(getattr(request, name), name, required=False)

    return AuditFilter(
        principal=text("principal"),
        action=text("action"),
        target_id=text("target"),
        session_id=uuid("session_id"),
        project_id=uuid("project_id"),
        request_id=uuid("request_id"),
        outcome=text("outcome"),
    )


def entry_pb(entry: Entry) -> audit_pb2.AuditEntry:
    act = entry.act
    return audit_pb2.AuditEntry(
        number=entry.number,
        create_time=time_pb(act.time),
        principal=act.principal,
        on_behalf_of=act.on_behalf_of,
        action=act.action,
        target_kind=act.target_kind,
        target_id=act.target_id,
        session_id=act.session_id,
        project_id=act.project_id,
        request_id=act.request_id,
        outcome=act.outcome,
        reason=act.reason,
        count=act.count,
        digest=entry.digest.hex(),
    )
