"""The store without gRPC: `SqlStore.append` with 64 callers at once, each in a session of its own."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from uuid import uuid4

from conversation_service.migrate import migrate
from kernel.storage.engine import Engines
from kernel.storage.statistics import Statistics
from kernel.storage.store import SqlStore
from kernel.tree.model import Floor
from kernel.verbs.records import AppendRecord, Committed
from kernel.verbs.store import WriteTx
from tools.bench.records import TENANT, Text, new_session, next_record
from tools.bench.words import turns

_TEXTS = 64
# Seconds, as in the service.
_BEAT = 2.0


@asynccontextmanager
async def store(url: str) -> AsyncIterator[SqlStore]:
    """A store of our own on a new database, whose tables are analysed as the service does it."""
    await migrate(url)
    engines = Engines(url)
    engines.hold()
    made = SqlStore(engines, lambda: datetime.now(UTC))
    beating = asyncio.create_task(_analysed(Statistics(engines)))
    try:
        yield made
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating
        await made.idle()
        await engines.close()


async def _analysed(statistics: Statistics) -> None:
    while True:
        await asyncio.sleep(_BEAT)
        await statistics.look()


class StoreLoad:
    """So many sessions of one project, each with a caller."""

    def __init__(self, store: SqlStore, roots: list[Floor]) -> None:
        self._store = store
        self._heads = roots
        self._texts: list[Text] = list(islice(turns(), _TEXTS))

    @classmethod
    async def on(cls, store: SqlStore, callers: int) -> "StoreLoad":
        project_id = str(uuid4())
        made = [new_session(project_id) for _ in range(callers)]

        async def work(tx: WriteTx) -> None:
            await tx.insert_project(project_id, "bench")
            for one in made:
                await tx.insert_session(one.session, one.root, one.main)

        await store.write(TENANT, work)
        return cls(store, [one.root for one in made])

    async def rate(self, most: int, seconds: float) -> float:
        """Turns a second; each caller appends for so long, or `most` turns, made before the clock starts."""
        chains = [self._chain(number, head, most) for number, head in enumerate(self._heads)]
        started = time.perf_counter()
        callers = (self._caller(chain, started + seconds) for chain in chains)
        done = await asyncio.gather(*callers)
        elapsed = time.perf_counter() - started
        self._heads = [chain[count - 1].floor for chain, count in zip(chains, done, strict=True)]
        return sum(done) / elapsed

    def _chain(self, number: int, head: Floor, length: int) -> list[AppendRecord]:
        chain: list[AppendRecord] = []
        for step in range(length):
            record = next_record(head, self._texts[(number + step) % _TEXTS])
            chain.append(record)
            head = record.floor
        return chain

    async def _caller(self, chain: list[AppendRecord], until: float) -> int:
        """How many it has appended, at least one."""
        for count, record in enumerate(chain, 1):
            (outcome,) = await self._store.append([record])
            if not isinstance(outcome, Committed):
                raise AssertionError(f"an append was not committed: {outcome}")
            if time.perf_counter() > until:
                return count
        return len(chain)
