"""Runs, their log and their tool calls: reading."""

from typing import Any

from sqlalchemy import select, tuple_

from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.reads import Scoped
from kernel.verbs.records import CallState, Chunk, RecordedCall, Run


class RunReads(Scoped):
    async def run(self, run_id: str) -> Run | None:
        row = await self.one(select(t.run).where(self.where(t.run, run_id=run_id)))
        return row and rows.run(row)

    async def run_of_floor(self, floor_id: str) -> Run | None:
        floor_run = select(t.floor.c.run_id).where(self.where(t.floor, floor_id=floor_id)).scalar_subquery()
        row = await self.one(select(t.run).where(self.where(t.run), t.run.c.run_id == floor_run))
        return row and rows.run(row)

    async def chunks(self, run_id: str, after: tuple[int, int], limit: int) -> list[Chunk]:
        c = t.run_chunk.c
        query = select(t.run_chunk).where(self.where(t.run_chunk, run_id=run_id))
        query = query.where(tuple_(c.epoch, c.last_seq) > tuple_(*after))
        found = await self.all(query.order_by(c.epoch, c.first_seq).limit(limit))
        return [Chunk(r["run_id"], r["epoch"], r["first_seq"], r["last_seq"], r["events"]) for r in found]

    async def tool_calls(self, run_id: str) -> list[RecordedCall]:
        query = select(t.tool_call).where(self.where(t.tool_call, run_id=run_id))
        return [_call(row) for row in await self.all(query.order_by(t.tool_call.c.number))]

    async def floor_calls(self, floor_id: str) -> list[RecordedCall]:
        c, of_floor = t.tool_call.c, self.where(t.run, floor_id=floor_id)
        joined = (c.tenant_id == t.run.c.tenant_id) & (c.run_id == t.run.c.run_id)
        query = select(t.tool_call).join(t.run, joined).where(of_floor)
        return [
            _call(row)
            for row in await self.all(query.order_by(t.run.c.create_time, t.run.c.run_id, c.number))
        ]


_CALL = [name for name in RecordedCall.__dataclass_fields__ if name != "state"]


def _call(row: Any) -> RecordedCall:
    return RecordedCall(state=CallState(row["state"]), **{name: row[name] for name in _CALL})


def call_values(call: RecordedCall) -> dict[str, Any]:
    return {name: getattr(call, name) for name in _CALL} | {"state": call.state.value}
