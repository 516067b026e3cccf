"""Keeps denied writes, so that each is in the audit before it is answered.

A denial leaves a notice, which the sealer makes an entry of. So that nobody fills a disk by being refused,
the first of a principal in a minute are kept one by one; those after them are counted in one notice, which is
sealed once its minute is over. They too are durable before they are answered: who waits while one count is
written goes into the next one together, so that a flood costs one write at a time.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from kernel.verbs.audit import Act
from kernel.verbs.store import Store, WriteTx

# Denials of one principal and outcome in a minute that are kept one by one.
KEPT = 30
_WINDOW = timedelta(minutes=1)
# Windows in memory before the old ones are looked for.
_MANY = 1_000
# The reason of a denial that stands for several.
COUNTED = "COUNTED"

_Key = tuple[str, str, str]


@dataclass(slots=True)
class _Window:
    began: datetime
    notice_id: str
    seen: int = 0
    # Denials that wait for the count after the one under way.
    waiting: int = 0
    next: asyncio.Task[None] | None = None
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)


class DenialLog:
    def __init__(self, store: Store, clock: Callable[[], datetime], new_id: Callable[[], str]) -> None:
        self._store = store
        self.now = clock
        self._new_id = new_id
        self._windows: dict[_Key, _Window] = {}
        # Counts under way, whoever still waits for them.
        self._tasks: set[asyncio.Task[None]] = set()

    async def keep(self, tenant_id: str, act: Act) -> None:
        """Returns when the denial is durable. Raises Unavailable."""
        window = self._window((tenant_id, act.principal, act.outcome), act.time)
        window.seen += 1
        if window.seen <= KEPT:
            await self._write(tenant_id, self._new_id(), act)
            return
        window.waiting += 1
        if window.next is None:
            window.next = asyncio.create_task(self._count(window, tenant_id, act))
            self._tasks.add(window.next)
            window.next.add_done_callback(self._done)
        # Others wait for it too.
        await asyncio.shield(window.next)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    async def _count(self, window: _Window, tenant_id: str, act: Act) -> None:
        async with window.writing:
            count, window.waiting, window.next = window.waiting, 0, None
            many = Act(act.time, act.principal, "", outcome=act.outcome, reason=COUNTED, count=count)
            await self._write(tenant_id, window.notice_id, many, _WINDOW.total_seconds())

    async def _write(self, tenant_id: str, notice_id: str, act: Act, due_seconds: float = 0.0) -> None:
        async def work(tx: WriteTx) -> None:
            await tx.insert_notice(notice_id, act, due_seconds)

        await self._store.write(tenant_id, work)

    def _window(self, key: _Key, now: datetime) -> _Window:
        found = self._windows.get(key)
        if found is None or now - found.began >= _WINDOW:
            if len(self._windows) >= _MANY:
                self._windows = {k: w for k, w in self._windows.items() if now - w.began < _WINDOW}
            found = self._windows[key] = _Window(now, self._new_id())
        return found
