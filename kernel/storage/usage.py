"""`kernel.verbs.quotas.UsageRows`: what a tenant uses, as the rows say."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import LargeBinary, Table, and_, cast, delete, func, or_, select
from sqlalchemy.dialects import postgresql, sqlite

from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.storage.usage_writes import BYTES, SUMMING, TOKENS
from kernel.verbs.quotas import Used

# What holds people's words and grows with them. Rows of ids and times are not counted.
Counted = Mapping[Table, Sequence[str]]
OF_TREES: Counted = {
    t.floor: ("input_blob", "output_blob", "effects"),
    t.page: ("blob", "effects"),
    t.prompt_block: ("blob",),
    t.tool_call: ("arguments", "content"),
    t.config_version: ("config",),
    t.live_value: ("value",),
    t.staged_write: ("input_blob", "output_blob", "operations", "effects"),
}
_KEY = ["tenant_id", "kind", "day", "stripe"]


class SqlUsage:
    """`counted`: the tables and columns whose bytes are summed."""

    def __init__(self, engines: Engines, counted: Counted = OF_TREES) -> None:
        self._engines = engines
        self._counted = counted

    async def used(self, tenant_id: str, day: int) -> Used:
        c = t.tenant_usage.c
        wanted = or_(and_(c.kind == TOKENS, c.day == day), c.kind == BYTES)
        query = select(c.kind, c.value, c.update_time).where(c.tenant_id == tenant_id, wanted)
        async with self._engines.reading() as connection:
            rows = (await connection.execute(query)).all()
        summed = next((row for row in rows if row.kind == BYTES), None)
        tokens = sum(row.value for row in rows if row.kind == TOKENS)
        return Used(summed.value if summed else 0, summed.update_time if summed else None, tokens)

    async def sum_bytes(self, tenant_id: str, now: datetime, before: datetime) -> bool:
        if not await self._claim(tenant_id, now, before):
            return False
        total = 0
        # A snapshot for each table: none is held for long, and a sum is as old as it is anyway.
        for table, names in self._counted.items():
            async with self._engines.reading() as connection:
                total += int((await connection.execute(self._sum(tenant_id, table, names))).scalar_one())
        insert = self._insert(tenant_id, BYTES, total, now)
        newer = {name: insert.excluded[name] for name in ("value", "update_time")}
        async with self._engines.writing() as connection:
            await connection.execute(insert.on_conflict_do_update(index_elements=_KEY, set_=newer))
        return True

    async def _claim(self, tenant_id: str, now: datetime, before: datetime) -> bool:
        """One process sums, and the others read what it found. Whoever dies at it is followed later."""
        insert = self._insert(tenant_id, SUMMING, 0, now)
        claim = insert.on_conflict_do_update(
            index_elements=_KEY,
            set_={"update_time": insert.excluded.update_time},
            where=t.tenant_usage.c.update_time <= before,
        )
        async with self._engines.writing() as connection:
            claimed = await connection.execute(claim.returning(t.tenant_usage.c.kind))
            return claimed.first() is not None

    def _insert(self, tenant_id: str, kind: str, value: int, now: datetime) -> Any:
        dialect: Any = postgresql if self._engines.dialect == "postgresql" else sqlite
        values = {"kind": kind, "day": 0, "stripe": 0, "value": value, "update_time": now}
        return dialect.insert(t.tenant_usage).values(tenant_id=tenant_id, **values)

    def _sum(self, tenant_id: str, table: Table, names: Sequence[str]) -> Any:
        sizes = [func.coalesce(self._size(table.c[name]), 0) for name in names]
        query = select(func.coalesce(func.sum(sum(sizes[1:], sizes[0])), 0))
        return query.where(table.c.tenant_id == tenant_id)

    def _size(self, column: Any) -> Any:
        if self._engines.dialect == "postgresql":
            return func.octet_length(column)
        # Of a text, SQLite's length counts characters; a blob's is known without reading it.
        return func.length(column if isinstance(column.type, LargeBinary) else cast(column, LargeBinary))

    async def forget_days(self, tenant_id: str, before: int) -> None:
        c = t.tenant_usage.c
        statement = delete(t.tenant_usage).where(c.tenant_id == tenant_id, c.kind == TOKENS, c.day < before)
        async with self._engines.writing() as connection:
            await connection.execute(statement)

    async def answered(self, tenant_id: str, principal: str, method: str, request_id: str) -> bool:
        try:
            known = str(UUID(request_id))
        except ValueError:
            return False
        c = t.request.c
        query = select(c.method).where(
            c.tenant_id == tenant_id, c.principal == principal, c.method == method, c.request_id == known
        )
        async with self._engines.reading() as connection:
            return (await connection.execute(query)).first() is not None
