"""The ledger: writing. What the methods promise is written at `kernel.verbs.staged_store`."""

from collections.abc import Sequence

from sqlalchemy import update

from kernel.storage import staged
from kernel.storage import tables as t
from kernel.storage.writes import Writes
from kernel.verbs.staged_store import Decision, StagedState, StagedWrite


class StagedWrites(Writes):
    async def insert_staged_write(self, entry: StagedWrite) -> None:
        await self._run(self._insert(t.staged_write, staged.entry_values(entry)))

    async def lock_staged_write(self, staged_write_id: str) -> StagedWrite | None:
        row = await self.one(self._staged(staged_write_id).with_for_update())
        return row and staged.entry(row)

    async def settle_staged_write(self, staged_write_id: str, decision: Decision) -> bool:
        return bool(await self.settle_expired([staged_write_id], decision))

    async def settle_expired(self, staged_write_ids: Sequence[str], decision: Decision) -> list[StagedWrite]:
        columns = t.staged_write.c
        undecided = self.where(t.staged_write, state=StagedState.STAGED.value)
        statement = (
            update(t.staged_write)
            .where(undecided, columns.staged_write_id.in_(staged_write_ids))
            .values(**staged.decision_values(decision))
            .returning(*staged.COLUMNS_WITHOUT_BODIES)
        )
        found = [staged.entry(row) for row in (await self._run(statement)).mappings()]
        return sorted(found, key=lambda entry: entry.staged_write_id)
