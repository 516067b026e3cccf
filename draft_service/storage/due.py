"""What the sweeper has to do, of whatever tenant."""

from sqlalchemy import select

from draft_service.storage import tables as t
from draft_service.storage.clock import database_now
from kernel.storage.engine import Engines

Due = list[tuple[str, str]]


class DueDrafts:
    """(tenant, id) pairs, the longest due first. Only a look: whoever acts on it judges again."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def expired(self, limit: int) -> Due:
        """Active drafts whose time is up."""
        draft = t.draft.c
        up = draft.expire_time <= database_now(self._engines.dialect)
        query = select(draft.tenant_id, draft.draft_id).where(draft.state == "active", up)
        return await self._found(query.order_by(draft.expire_time).limit(limit))

    async def purgeable(self, limit: int) -> Due:
        """Ended drafts whose purge_time has come and that owe no export."""
        draft, export = t.draft.c, t.export.c
        same = (export.tenant_id == draft.tenant_id) & (export.draft_id == draft.draft_id)
        owes = select(export.export_id).where(same, export.state == "pending").exists()
        due = draft.purge_time <= database_now(self._engines.dialect)
        query = select(draft.tenant_id, draft.draft_id).where(due, ~owes)
        return await self._found(query.order_by(draft.purge_time).limit(limit))

    async def exports(self, limit: int) -> list[tuple[str, str, str]]:
        """(tenant, draft id, export id) of those that are not settled, the oldest first."""
        export = t.export.c
        query = select(export.tenant_id, export.draft_id, export.export_id).where(export.state == "pending")
        async with self._engines.reading() as connection:
            found = await connection.execute(query.order_by(export.create_time).limit(limit))
            return [(row[0], row[1], row[2]) for row in found]

    async def scrubbed(self) -> bool:
        """As `Engines.scrubbed`."""
        return await self._engines.scrubbed()

    async def _found(self, query: object) -> Due:
        async with self._engines.reading() as connection:
            return [(row[0], row[1]) for row in await connection.execute(query)]  # type: ignore[call-overload]
