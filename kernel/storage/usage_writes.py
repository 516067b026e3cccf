"""Counting what models take, in the transaction that ends their run."""

from datetime import datetime

from sqlalchemy import select

from kernel.storage import tables as t
from kernel.storage.writes import Writes
from kernel.tree.model import Floor, Usage

TOKENS, BYTES, SUMMING = "tokens", "bytes", "summing"


class UsageWrites(Writes):
    # Whether tokens are counted at all: only where somebody limits them.
    metered = False

    async def meter(self, floor: Floor, usage: Usage | None, written: int) -> None:
        if not self.metered or usage is not None:
            return
        above = self.where(t.floor, floor_id=floor.parent_floor_id)
        sent = await self.value(select(t.floor.c.path_tokens).where(above)) or 0
        await self._count_tokens(floor.run_id or "", sent + written, self._clock())

    async def _count_tokens(self, run_id: str, tokens: int, now: datetime) -> None:
        """In one of sixteen rows of the day, by the run."""
        statement = self.upsert(t.tenant_usage).values(
            tenant_id=self._tenant,
            kind=TOKENS,
            day=now.date().toordinal(),
            stripe=int(run_id[-1:] or "0", 16),
            value=tokens,
            update_time=now,
        )
        added = t.tenant_usage.c.value + statement.excluded.value
        await self._run(
            statement.on_conflict_do_update(
                index_elements=["tenant_id", "kind", "day", "stripe"],
                set_={"value": added, "update_time": statement.excluded.update_time},
            )
        )
