"""Runs, their log and their tool calls: writing."""

from collections.abc import Sequence

from sqlalchemy import select, update

from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.runs import call_values
from kernel.storage.usage_writes import UsageWrites
from kernel.verbs.records import Chunk, RecordedCall, Run


class RunWrites(UsageWrites):
    async def lock_run(self, run_id: str) -> Run | None:
        query = select(t.run).where(self.where(t.run, run_id=run_id))
        row = await self.one(query.with_for_update(key_share=True))
        return row and rows.run(row)

    async def insert_run(self, run: Run) -> None:
        await self._run(self._insert(t.run, rows.run_values(run)))

    async def update_run(self, run: Run) -> None:
        values = rows.run_values(run)
        # The log says so by itself, at any moment.
        del values["logged"]
        await self._run(update(t.run).where(self.where(t.run, run_id=run.run_id)).values(**values))
        if self.metered and run.usage is not None and run.end_time is not None:
            tokens = run.usage.tokens_in + run.usage.tokens_out
            await self._count_tokens(run.run_id, tokens, run.end_time)

    async def insert_chunk(self, session_id: str, chunk: Chunk) -> None:
        values = {
            "session_id": session_id,
            "run_id": chunk.run_id,
            "epoch": chunk.epoch,
            "first_seq": chunk.first_seq,
            "last_seq": chunk.last_seq,
            "events": chunk.events,
        }
        await self._run(self._insert(t.run_chunk, values))
        await self._run(update(t.run).where(self.where(t.run, run_id=chunk.run_id)).values(logged=True))

    async def insert_calls(self, session_id: str, calls: Sequence[RecordedCall]) -> None:
        for call in calls:
            await self._run(self._insert(t.tool_call, call_values(call) | {"session_id": session_id}))

    async def update_calls(self, calls: Sequence[RecordedCall]) -> None:
        for call in calls:
            where = self.where(t.tool_call, run_id=call.run_id, call_id=call.call_id)
            await self._run(update(t.tool_call).where(where).values(**call_values(call)))
