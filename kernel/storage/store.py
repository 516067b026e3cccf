"""The store: begin, retry, commit. What the methods promise is written at `kernel.verbs.store`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, TypeVar

from kernel.errors import StemmaError
from kernel.storage import append_postgres, append_sqlite
from kernel.storage.coalescer import Coalescer
from kernel.storage.engine import HOT_WRITERS, Engines, SqliteThread
from kernel.storage.failures import Conflict, Retry, unavailable
from kernel.storage.glances import SqlGlances
from kernel.storage.paths import PathReads
from kernel.storage.persons import PersonWrites
from kernel.storage.run_log import SqlRunLog
from kernel.storage.turns import Turns
from kernel.verbs.path_store import PathSource
from kernel.verbs.records import AppendRecord, Outcome, PlaceTaken
from kernel.verbs.store import ReadTx, WriteTx

T = TypeVar("T")

_TRIES = 8


class SqlStore:
    """`kernel.verbs.store.Store` on either engine."""

    # What a transaction can do; a service with tables of its own adds to them.
    reads: type[PathReads] = PathReads
    writes: type[PersonWrites] = PersonWrites

    def __init__(self, engines: Engines, clock: Callable[[], datetime]) -> None:
        self._engines = engines
        self._clock = clock
        self._tasks: set[asyncio.Task[Any]] = set()
        lanes = 1 if engines.dialect == "sqlite" else HOT_WRITERS
        self._coalescer = Coalescer(self._append_batch, lanes)
        # Whether what models take is counted: only where somebody limits it.
        self.metered = False
        # Called with the tenant once events of its feeds are durable.
        self.after_events: list[Callable[[str], None]] = []
        # Called once words were erased, durably.
        self.after_erasures: list[Callable[[], None]] = []
        # SQLite has one writing connection: wait for it here, in order, rather than in the pool.
        self._turns = Turns(everyone=engines.dialect == "sqlite")
        self.run_log = SqlRunLog(engines, self._turns)

    @asynccontextmanager
    async def reading(self, tenant_id: str) -> AsyncIterator[ReadTx]:
        async with self._engines.reading() as connection:
            yield self.reads(connection, tenant_id)

    @asynccontextmanager
    async def glances(self, tenant_id: str) -> AsyncIterator[PathSource]:
        told: StemmaError | None = None
        async with self._engines.driver(writes=False) as connection:
            try:
                yield SqlGlances(connection, self._engines.dialect, tenant_id)
            except StemmaError as error:
                # Of the caller's own: nothing is wrong with the connection, which would be given up.
                told = error
        if told is not None:
            raise told

    async def write(self, tenant_id: str, work: Callable[[WriteTx], Awaitable[T]], session_id: str = "") -> T:
        return await self._finish(self._write(tenant_id, work, session_id))

    async def append(self, records: Sequence[AppendRecord]) -> list[Outcome]:
        outcomes = [self._coalescer.append(record) for record in records]
        # `gather` would cost the one append more than the way through the coalescer.
        return [await outcomes[0]] if len(outcomes) == 1 else list(await asyncio.gather(*outcomes))

    @property
    def batches(self) -> tuple[int, int]:
        """How many batches of appends there were, and how many turns they held."""
        return self._coalescer.batches, self._coalescer.records

    async def _append_batch(self, records: Sequence[AppendRecord]) -> list[Outcome]:
        """One transaction for all of them. A key that is taken since the batch was judged (by a
        cold write of this moment) is told as a place that is taken: the caller plans again."""
        try:
            async with self._turns.of("", ""), self._engines.driver() as connection:
                if isinstance(connection, SqliteThread):
                    outcomes = await connection.run(lambda raw: append_sqlite.append_batch(raw, records))
                else:
                    outcomes = await append_postgres.append_batch(connection, records)
        except (Conflict, Retry):
            if len(records) > 1:
                raise
            return [PlaceTaken()]
        self._tell({record.tenant_id for record in records})
        return outcomes

    def _tell(self, tenants: set[str]) -> None:
        for listener in self.after_events:
            for tenant_id in tenants:
                listener(tenant_id)

    async def _finish(self, work: Coroutine[Any, Any, T]) -> T:
        """Awaits the work in a task of its own: a caller that is cancelled does not stop it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    async def _write(self, tenant_id: str, work: Callable[[Any], Awaitable[T]], session_id: str) -> T:
        for _ in range(_TRIES):
            try:
                async with self._turns.of(tenant_id, session_id):
                    return await self._once(tenant_id, work)
            except (Conflict, Retry):
                continue
        raise unavailable()

    async def _once(self, tenant_id: str, work: Callable[[Any], Awaitable[T]]) -> T:
        async with self._engines.writing() as connection:
            tx = self.writes(connection, tenant_id, self._clock)
            tx.metered = self.metered
            result = await work(tx)
            await tx.flush_events()
        for action in tx.committed:
            action()
        if tx.erased:
            for scrub in self.after_erasures:
                scrub()
        if tx.emitted:
            self._tell({tenant_id})
        return result

    async def idle(self) -> None:
        """Returns when no write is under way."""
        await self._coalescer.idle()
        while self._tasks:
            await asyncio.wait(set(self._tasks))
            # One of them may have been waited for while others began.
            await self._coalescer.idle()
