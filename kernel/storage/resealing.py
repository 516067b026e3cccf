"""Secrets that are stored sealed, brought under the newest of the server's keys, beside whoever writes.

Row by row, in the order of the keys: a row is written only if its text is still the one that was read, so a
writer in between is never undone; what moved is found by the next pass. Whatever ends it, it can begin again.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import Column, Table, and_, case, literal, select, tuple_, update

from kernel.sealing import Seals, resealed_text
from kernel.steady import steadily
from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.storage.failures import Retry

# Everything whose text may hold a configuration with its keys. Prompts' records, snapshots and exports hold
# none: `without_keys`, `without_endpoints`.
SEALED: tuple[Column[Any], ...] = (
    t.project.c.config,
    t.session.c.config,
    t.config_version.c.config,
    t.request.c.answer,
    t.run.c.plan,
)
# Rows that are read at once.
_ROWS = 1_000
# Beside a service: after a statement, so many times what it took; between two runs, in seconds.
_REST, _AGAIN = 4.0, 3_600.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Resealed:
    """`changed`: secrets that were under an old key; `moved`: rows that somebody else wrote meanwhile;
    `unreadable`: secrets that no key of the server opens. When a pass changed and met nothing, no secret is
    left under an old key."""

    changed: int = 0
    moved: int = 0
    unreadable: int = 0

    @property
    def none_left(self) -> bool:
        return not self.changed and not self.moved

    def plus(self, other: "Resealed") -> "Resealed":
        return Resealed(
            self.changed + other.changed, self.moved + other.moved, self.unreadable + other.unreadable
        )


class Resealing:
    """`rest`: how long to leave the database to others after each statement, in its own lengths."""

    def __init__(self, engines: Engines, seals: Seals, *, rest: float = 0.0) -> None:
        self._engines = engines
        self._seals = seals
        self._rest = rest

    async def run(self) -> Resealed:
        """Passes until one finds nothing to do. -> what all of them changed, and what the last one left."""
        changed = 0
        while True:
            done = await self.one_pass()
            changed += done.changed
            if done.none_left:
                return Resealed(changed, 0, done.unreadable)

    async def one_pass(self) -> Resealed:
        """Every row once."""
        total = Resealed()
        for column in SEALED:
            after: tuple[Any, ...] | None = None
            while True:
                begun = time.monotonic()
                rows = await self._rows(column, after)
                for row in rows:
                    if row["text"] is not None:
                        total = total.plus(await self._row(column, row))
                await asyncio.sleep(self._rest * (time.monotonic() - begun))
                if len(rows) < _ROWS:
                    break
                after = tuple(rows[-1][key.name] for key in column.table.primary_key)
        return total

    async def _rows(self, column: Column[Any], after: tuple[Any, ...] | None) -> list[Any]:
        """The next rows by their keys, with the text of those that may hold something."""
        keys = list(_table(column).primary_key)
        text = case((column.like("%api_key%s1.%"), column)).label("text")
        query = select(*keys, text).order_by(*keys).limit(_ROWS)
        if after is not None:
            last = [literal(value, key.type) for value, key in zip(after, keys, strict=True)]
            query = query.where(tuple_(*keys) > tuple_(*last))
        async with self._engines.reading() as connection:
            return list((await connection.execute(query)).mappings())

    async def _row(self, column: Column[Any], row: Any) -> Resealed:
        made = resealed_text(self._seals, row["tenant_id"], row["text"])
        if not made.changed:
            return Resealed(unreadable=made.unreadable)
        table = _table(column)
        same = [key == row[key.name] for key in table.primary_key]
        statement = update(table).where(and_(*same, column == row["text"])).values({column.name: made.text})
        try:
            async with self._engines.writing() as connection:
                written = (await connection.execute(statement)).rowcount == 1
        except Retry:
            written = False
        return Resealed(made.changed, 0, made.unreadable) if written else Resealed(moved=1)


def _table(column: Column[Any]) -> Table:
    assert isinstance(column.table, Table)
    return column.table


@asynccontextmanager
async def resealing(engines: Engines, seals: Seals) -> AsyncIterator[None]:
    """While the server has an old key: brings what it sealed under the new one, now and then again, since
    other processes may still seal with the old one."""
    if not seals.several:
        yield
        return

    async def work() -> None:
        while True:
            done = await Resealing(engines, seals, rest=_REST).run()
            _log.info(
                "no secret here is sealed under an old STEMMA_SECRET_KEY",
                resealed=done.changed,
                unreadable=done.unreadable,
            )
            await asyncio.sleep(_AGAIN)

    working = asyncio.create_task(steadily(work, again=30.0))
    try:
        yield
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working
