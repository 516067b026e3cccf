"""What somebody is where a thing is: `kernel.verbs.access.AccessReads`."""

from sqlalchemy import Select, Table, and_, select

from kernel.storage import tables as t
from kernel.storage.reads import Scoped

_TABLES: dict[str, tuple[Table, str]] = {
    "session": (t.session, "session_id"),
    "floor": (t.floor, "floor_id"),
    "page": (t.page, "page_id"),
    "run": (t.run, "run_id"),
    "staged write": (t.staged_write, "staged_write_id"),
}


class AccessReads(Scoped):
    async def role_at(self, kind: str, target_id: str, principal: str) -> str:
        return str(await self.value(self._role(kind, target_id, principal)) or "")

    async def projects_of(self, principal: str, limit: int) -> list[str]:
        query = select(t.member.c.project_id).where(self.where(t.member, principal=principal))
        return [
            row["project_id"] for row in await self.all(query.order_by(t.member.c.project_id).limit(limit))
        ]

    def _role(self, kind: str, target_id: str, principal: str) -> Select[tuple[str]]:
        theirs = self.where(t.member, principal=principal)
        if kind == "project":
            return select(t.member.c.role).where(theirs, t.member.c.project_id == target_id)
        table, key = _TABLES[kind]
        query = select(t.member.c.role).where(theirs, self.where(table, **{key: target_id}))
        if "project_id" in table.c:
            return query.where(t.member.c.project_id == table.c.project_id).limit(1)
        of_session = and_(self.where(t.session), t.session.c.session_id == table.c.session_id)
        return query.where(of_session, t.member.c.project_id == t.session.c.project_id).limit(1)
