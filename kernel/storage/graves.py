"""Graves on either engine. Promises: `kernel.verbs.erasure_store`.

A write looks for the grave of its principal in its own transaction. On SQLite nobody writes meanwhile. On
PostgreSQL whoever digs takes the table from everybody: it waits for each transaction that has looked, and who
comes later looks after it.
"""

import json
from collections import Counter
from collections.abc import Sequence

from sqlalchemy import select, text, update

from kernel.storage import tables as t
from kernel.storage.writes import Writes
from kernel.verbs.graves import grave_of
from kernel.verbs.records import Erased


class GraveWrites(Writes):
    async def bury(self, principal: str) -> None:
        if self._dialect == "postgresql":
            await self._run(text("SET LOCAL lock_timeout = '1500ms'"))
            await self._run(text("LOCK TABLE grave IN ACCESS EXCLUSIVE MODE"))
        values = {
            "tenant_id": self._tenant,
            "digest": grave_of(self._tenant, principal),
            "create_time": self._clock(),
        }
        await self._run(self.upsert(t.grave).values(values).on_conflict_do_nothing())

    async def taken_from(self, principal: str) -> tuple[Erased, ...]:
        where = self.where(t.grave, digest=grave_of(self._tenant, principal))
        found = await self.value(select(t.grave.c.receipt).where(where))
        return tuple(Erased(store, rows) for store, rows in sorted(json.loads(found or "{}").items()))

    async def add_taken(self, principal: str, taken: Sequence[Erased]) -> None:
        where = self.where(t.grave, digest=grave_of(self._tenant, principal))
        found = await self.value(select(t.grave.c.receipt).where(where).with_for_update())
        total = Counter(json.loads(found or "{}"))
        total.update({one.store: one.rows for one in taken if one.rows})
        await self._run(update(t.grave).where(where).values(receipt=json.dumps(total, sort_keys=True)))
