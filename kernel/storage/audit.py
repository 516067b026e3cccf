"""The audit's chain: reading it, and who waits to be in it. What is promised is written at
`kernel.verbs.audit_store`."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select

from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.storage.reads import Scoped
from kernel.verbs import audit
from kernel.verbs.audit import Act, Entry, Head, Known
from kernel.verbs.audit_store import AuditFilter

_ENTRY, _NOTICE = t.audit_entry.c, t.audit_notice.c
_NULLABLE = {"on_behalf_of", "target_id", "session_id", "project_id", "request_id"}


def act_values(act: Act) -> dict[str, Any]:
    values = dict(zip(audit.FIELDS, audit.values(act), strict=True))
    for name in _NULLABLE:
        values[name] = values[name] or None
    return values


def act_of(row: Any) -> Act:
    values: dict[str, Any] = {name: "" if row[name] is None else row[name] for name in audit.FIELDS}
    return Act(**values)


def _entry(row: Any) -> Entry:
    return Entry(row["number"], act_of(row), row["digest"])


class AuditReads(Scoped):
    async def audit_head(self) -> Head | None:
        row = await self.one(select(t.audit_head).where(self.where(t.audit_head)))
        return row and Head(row["number"], row["digest"])

    async def anything_unsealed(self) -> bool:
        request = select(t.request.c.request_id).where(self.where(t.request), ~t.request.c.audited)
        notice = select(_NOTICE.notice_id).where(self.where(t.audit_notice))
        return bool(await self.value(select(or_(request.exists(), notice.exists()))))

    async def audit_chain(self, after: int, limit: int) -> list[Entry]:
        query = select(t.audit_entry).where(self.where(t.audit_entry), _ENTRY.number > after)
        return [_entry(row) for row in await self.all(query.order_by(_ENTRY.number).limit(limit))]

    async def audit_entries(self, where: AuditFilter, before: int | None, limit: int) -> list[Entry]:
        wanted = {name: getattr(where, name) for name in ("action", "session_id", "project_id", "request_id")}
        wanted["outcome"] = where.outcome
        query = select(t.audit_entry).where(
            self.where(t.audit_entry, **{name: value for name, value in wanted.items() if value})
        )
        if before is not None:
            query = query.where(_ENTRY.number < before)
        if where.principal:
            alias = await self._alias(where.principal)
            query = query.where(or_(_ENTRY.principal == alias, _ENTRY.on_behalf_of == alias))
        if where.target_id:
            alias = await self._alias(where.target_id)
            query = query.where(_ENTRY.target_id.in_([where.target_id, alias]))
        found = [_entry(row) for row in await self.all(query.order_by(_ENTRY.number.desc()).limit(limit))]
        names = await self._names({alias for entry in found for alias in audit.people(entry.act)})
        return [Entry(one.number, audit.renamed(one.act, names), one.digest) for one in found]

    async def _alias(self, name: str) -> str:
        """What stands for a name in entries; what nothing has when it is nobody's."""
        query = select(t.audit_principal.c.alias).where(self.where(t.audit_principal, name=name))
        return str(await self.value(query) or audit.alias_shown(name) or "nobody")

    async def _names(self, aliases: Iterable[str]) -> dict[str, str]:
        known = {alias: audit.erased(alias) for alias in aliases}
        query = select(t.audit_principal.c.alias, t.audit_principal.c.name)
        query = query.where(self.where(t.audit_principal), t.audit_principal.c.alias.in_(sorted(known)))
        return known | {row["alias"]: row["name"] for row in await self.all(query)}

    async def audit_principals(self) -> list[Known]:
        query = select(t.audit_principal).where(self.where(t.audit_principal))
        rows = await self.all(query.order_by(t.audit_principal.c.alias))
        return [Known(row["alias"], row["name"], row["salt"]) for row in rows]


class Chains:
    """The audits of all tenants at once, for the process itself: no caller of an RPC sees it."""

    def __init__(self, engines: Engines, clock: Callable[[], datetime]) -> None:
        self._engines = engines
        self._clock = clock

    async def tenants(self) -> list[str]:
        """Those with acts that have no entry and are due. One step of the index for each: however many rows
        wait."""
        waiting = _tenants(t.request.c.tenant_id, ~t.request.c.audited)
        due = _tenants(_NOTICE.tenant_id, _NOTICE.due_time <= self._clock())
        async with self._engines.reading() as connection:
            found = {row[0] for query in (waiting, due) for row in await connection.execute(query)}
        return sorted(tenant_id for tenant_id in found if tenant_id is not None)


def _tenants(column: ColumnElement[str], condition: ColumnElement[bool]) -> Any:
    first = select(func.min(column).label("tenant_id")).where(condition)
    walk = first.cte("walk", recursive=True)
    after = select(func.min(column)).where(condition, column > walk.c.tenant_id).scalar_subquery()
    walk = walk.union_all(select(after).where(walk.c.tenant_id.is_not(None)))
    return select(walk.c.tenant_id)
