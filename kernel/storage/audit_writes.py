"""The audit: what is not in the chain yet, and sealing it. What is promised is written at
`kernel.verbs.audit_store`."""

import json
import secrets
from collections.abc import Iterable, Sequence
from datetime import timedelta

from sqlalchemy import bindparam, delete, func, insert, select, update

from kernel.storage import tables as t
from kernel.storage.audit import act_of, act_values
from kernel.storage.writes import Writes
from kernel.verbs import audit
from kernel.verbs.audit import START, Act, Entry, Head
from kernel.verbs.audit_store import Unsealed

_ENTRY, _NOTICE = t.audit_entry.c, t.audit_notice.c
_REQUEST_KEY = ("principal", "method", "request_id")
_MARK = (
    update(t.request)
    .where(
        t.request.c.tenant_id == bindparam("of_tenant"),
        *(t.request.c[name] == bindparam(f"of_{name}") for name in _REQUEST_KEY),
    )
    .values(audited=True)
)


class AuditWrites(Writes):
    async def lock_audit_head(self) -> Head:
        query = select(t.audit_head).where(self.where(t.audit_head)).with_for_update()
        row = await self.one(query)
        if row is None:
            start = {"tenant_id": self._tenant, "number": START.number, "digest": START.digest}
            await self._run(self.upsert(t.audit_head).values(start).on_conflict_do_nothing())
            row = await self.one(query)
        assert row is not None, "it was inserted, by this transaction or by one that has committed"
        return Head(row["number"], row["digest"])

    async def unsealed(self, limit: int, *, words_of: str = "", everything: bool = False) -> list[Unsealed]:
        found = await self._requests(limit, words_of)
        if not words_of and len(found) < limit:
            found += await self._notices(limit - len(found), everything)
        return found

    async def _requests(self, limit: int, words_of: str) -> list[Unsealed]:
        request = t.request.c
        query = select(*(request[name] for name in (*_REQUEST_KEY, "answer", "create_time")))
        query = query.where(self.where(t.request), ~request.audited)
        if words_of:
            query = query.where(request.words_of == words_of)
        rows = await self.all(query.order_by(request.create_time).limit(limit))
        said = [audit.subject(json.loads(row["answer"] or "{}")) for row in rows]
        projects = await self._projects_of_sessions(said)
        found = []
        for row, subject in zip(rows, said, strict=True):
            project_id = subject["project_id"] or projects.get(subject["session_id"], "")
            act = Act(
                time=row["create_time"],
                principal=row["principal"],
                action=row["method"].rpartition("/")[2],
                request_id=row["request_id"],
                **{**subject, "project_id": project_id},
            )
            found.append(Unsealed(act, False, tuple(row[name] for name in _REQUEST_KEY)))
        return found

    async def _projects_of_sessions(self, said: Sequence[dict[str, str]]) -> dict[str, str]:
        """Of the sessions that came without their project. One that is gone is known from what was done
        to it: in this batch, or in an entry."""
        known = {one["session_id"]: one["project_id"] for one in said if one["project_id"]}
        asked = {one["session_id"] for one in said} - set(known) - {""}
        known |= await self.session_projects(asked)
        if gone := asked - set(known):
            query = select(_ENTRY.session_id, func.max(_ENTRY.number)).where(self.where(t.audit_entry))
            query = query.where(_ENTRY.session_id.in_(sorted(gone)), _ENTRY.project_id.is_not(None))
            newest = [row["max_1"] for row in await self.all(query.group_by(_ENTRY.session_id))]
            told = select(_ENTRY.session_id, _ENTRY.project_id).where(self.where(t.audit_entry))
            rows = await self.all(told.where(_ENTRY.number.in_(newest)))
            known |= {row["session_id"]: row["project_id"] for row in rows}
        return known

    async def session_projects(self, session_ids: Iterable[str]) -> dict[str, str]:
        """Of those that there are. A service whose sessions belong to something else says so here."""
        query = select(t.session.c.session_id, t.session.c.project_id)
        query = query.where(self.where(t.session), t.session.c.session_id.in_(sorted(session_ids)))
        return {row["session_id"]: row["project_id"] for row in await self.all(query)}

    async def _notices(self, limit: int, everything: bool) -> list[Unsealed]:
        query = select(t.audit_notice).where(self.where(t.audit_notice))
        if not everything:
            query = query.where(_NOTICE.due_time <= self._clock())
        # One that is being counted up is waited for, and then taken with its count.
        query = query.order_by(_NOTICE.due_time, _NOTICE.notice_id).limit(limit).with_for_update()
        return [Unsealed(act_of(row), True, row["notice_id"]) for row in await self.all(query)]

    async def aliases(self, names: frozenset[str]) -> dict[str, str]:
        principal = t.audit_principal
        query = select(principal.c.name, principal.c.alias).where(self.where(principal))
        query = query.where(principal.c.name.in_(sorted(names)))
        known = {row["name"]: row["alias"] for row in await self.all(query)}
        for name in sorted(names - set(known)):
            salt = secrets.token_bytes(audit.SALT_BYTES)
            known[name] = audit.alias_of(name, salt)
            values = {"tenant_id": self._tenant, "alias": known[name], "name": name, "salt": salt}
            await self._run(insert(principal).values(values))
        return known

    async def seal(self, entries: Sequence[Entry], sealed: Sequence[Unsealed]) -> None:
        rows = [
            {
                "tenant_id": self._tenant,
                "number": entry.number,
                **act_values(entry.act),
                "digest": entry.digest,
            }
            for entry in entries
        ]
        await self._run(insert(t.audit_entry), rows)
        head = {"number": entries[-1].number, "digest": entries[-1].digest}
        await self._run(update(t.audit_head).where(self.where(t.audit_head)).values(head))
        if marked := [one.key for one in sealed if not one.is_notice]:
            keys = [
                {
                    "of_tenant": self._tenant,
                    **{f"of_{name}": v for name, v in zip(_REQUEST_KEY, key, strict=True)},
                }
                for key in marked
            ]
            await self._run(_MARK, keys)
        if done := [one.key for one in sealed if one.is_notice]:
            gone = delete(t.audit_notice).where(self.where(t.audit_notice), _NOTICE.notice_id.in_(done))
            await self._run(gone)

    async def insert_notice(self, notice_id: str, act: Act, due_seconds: float = 0.0) -> None:
        due = act.time + timedelta(seconds=due_seconds)
        values = {"tenant_id": self._tenant, "notice_id": notice_id, "due_time": due, **act_values(act)}
        statement = self.upsert(t.audit_notice).values(values)
        counted = {"count": _NOTICE.count + statement.excluded["count"]}
        statement = statement.on_conflict_do_update(index_elements=["tenant_id", "notice_id"], set_=counted)
        await self._run(statement)

    async def forget_auditor(self, name: str) -> str:
        principal = t.audit_principal
        alias = await self.value(select(principal.c.alias).where(self.where(principal, name=name)))
        await self._run(delete(principal).where(self.where(principal, name=name)))
        return str(alias or "")
