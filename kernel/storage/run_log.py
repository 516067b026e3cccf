"""`kernel.verbs.run_store.RunLog`: one statement for all runs of a process, whatever their tenants."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, func, insert, select, tuple_, update

from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.storage.failures import Conflict, Retry, unavailable
from kernel.storage.turns import Turns
from kernel.verbs.records import OwnedChunk, RunMark, RunState

_TRIES = 4
_KEY = tuple_(t.run.c.tenant_id, t.run.c.run_id)


class SqlRunLog:
    def __init__(self, engines: Engines, turns: Turns) -> None:
        self._engines = engines
        self._turns = turns

    async def write(self, chunks: Sequence[OwnedChunk]) -> list[RunMark | None]:
        for _ in range(_TRIES):
            try:
                return await self._write(chunks)
            except (Conflict, Retry):
                # Somebody who ended a run has written the same frames: its row says so now.
                continue
        raise unavailable()

    async def _write(self, chunks: Sequence[OwnedChunk]) -> list[RunMark | None]:
        keys = {_key(owned) for owned in chunks}
        query = select(t.run).where(_KEY.in_(sorted(keys)))
        # Whoever takes a run over changes its row: so that waits for this transaction, or this for that. Not
        # a shared lock: of two that share it, neither could mark the run as logged.
        query = query.order_by(t.run.c.tenant_id, t.run.c.run_id).with_for_update(key_share=True)
        async with self._turns.of("", ""), self._engines.writing() as connection:
            found = {(r["tenant_id"], r["run_id"]): r for r in (await connection.execute(query)).mappings()}
            kept = [owned for owned in chunks if _holds(found.get(_key(owned)), owned)]
            if kept:
                rows = [_values(owned, found[_key(owned)]["session_id"]) for owned in kept]
                await connection.execute(insert(t.run_chunk), rows)
                unmarked = [key for key in map(_key, kept) if not found[key]["logged"]]
                if unmarked:
                    await connection.execute(update(t.run).where(_KEY.in_(unmarked)).values(logged=True))
        return [_mark(found.get(_key(owned)), owned.chunk.last_seq) for owned in chunks]

    async def marks(self, runs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], RunMark]:
        if not runs:
            return {}
        c = t.run_chunk.c
        of_run = (c.tenant_id == t.run.c.tenant_id) & (c.run_id == t.run.c.run_id)
        newest = select(func.max(c.last_seq)).where(of_run, c.epoch == t.run.c.epoch).scalar_subquery()
        query = select(t.run, newest.label("newest")).where(_KEY.in_(list(runs)))
        async with self._engines.reading() as connection:
            found = (await connection.execute(query)).mappings().all()
        marks = ((r["tenant_id"], r["run_id"], _mark(r, r["newest"] or 0)) for r in found)
        return {(tenant_id, run_id): mark for tenant_id, run_id, mark in marks if mark is not None}

    async def forget(self, ended_before: datetime, limit: int) -> int:
        ended = select(t.run.c.tenant_id, t.run.c.run_id).where(
            t.run.c.logged, t.run.c.end_time < ended_before
        )
        ended = ended.order_by(t.run.c.end_time).limit(limit)
        async with self._engines.reading() as connection:
            keys = [tuple(row) for row in await connection.execute(ended)]
        if keys:
            chunk_key: ColumnElement[Any] = tuple_(t.run_chunk.c.tenant_id, t.run_chunk.c.run_id)
            async with self._turns.of("", ""), self._engines.writing() as connection:
                await connection.execute(delete(t.run_chunk).where(chunk_key.in_(keys)))
                await connection.execute(update(t.run).where(_KEY.in_(keys)).values(logged=False))
        return len(keys)

    async def overdue(self, now: datetime, limit: int) -> list[tuple[str, str]]:
        query = select(t.run.c.tenant_id, t.run.c.run_id).where(t.run.c.state == RunState.WAITING.value)
        query = query.where(t.run.c.wait_time < now).order_by(t.run.c.wait_time).limit(limit)
        async with self._engines.reading() as connection:
            return [(row.tenant_id, row.run_id) for row in await connection.execute(query)]


def _key(owned: OwnedChunk) -> tuple[str, str]:
    return owned.tenant_id, owned.chunk.run_id


def _holds(row: Any, owned: OwnedChunk) -> bool:
    return (
        row is not None
        and row["state"] == RunState.RUNNING.value
        and row["owner"] == owned.owner
        and row["epoch"] == owned.chunk.epoch
    )


def _values(owned: OwnedChunk, session_id: str) -> dict[str, Any]:
    chunk = owned.chunk
    return {
        "tenant_id": owned.tenant_id,
        "run_id": chunk.run_id,
        "epoch": chunk.epoch,
        "first_seq": chunk.first_seq,
        "last_seq": chunk.last_seq,
        "session_id": session_id,
        "events": chunk.events,
    }


def _mark(row: Any, logged_seq: int) -> RunMark | None:
    if row is None:
        return None
    return RunMark(row["owner"], row["epoch"], RunState(row["state"]), row["asked"], logged_seq)
