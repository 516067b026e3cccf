"""What waits while the last batch commits goes in the next one; a lone record goes at once.

"At once" is the loop's next turn: whatever its present turn brings goes along. A second batch goes beside
the first one only when it is worth a statement, or the first takes long (it may wait for a lock).

A batch holds at most one record of a session, and one of a request: so no item can depend on another.
A batch that raises is run again one by one, so that a bad item fails alone.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from kernel.errors import Unavailable
from kernel.storage.failures import NoConnection
from kernel.verbs.records import AppendRecord, Outcome

_MAX_BATCH = 128
# Records for which a batch begins beside one that is under way; seconds after which it does for fewer.
_WORTH, _LONG = 16, 0.005

Run = Callable[[Sequence[AppendRecord]], Awaitable[list[Outcome]]]
_Waiting = tuple[AppendRecord, "asyncio.Future[Outcome]"]


class Coalescer:
    """Feeds `run`, in `lanes` batches at a time. Belongs to one event loop."""

    def __init__(self, run: Run, lanes: int) -> None:
        self._run = run
        self._lanes = lanes
        self._queue: deque[_Waiting] = deque()
        self._batches: set[asyncio.Task[None]] = set()
        # Sessions with a record in a batch that is under way.
        self._busy: set[tuple[str, str]] = set()
        # Both so far: for statistics.
        self.batches, self.records = 0, 0
        # When to look at the queue next; None when nothing waits for that.
        self._next: asyncio.Handle | None = None

    def append(self, record: AppendRecord) -> "asyncio.Future[Outcome]":
        """The record's outcome. A caller that is cancelled before its batch is taken is dropped; after
        that the record commits or fails by itself."""
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._queue.append((record, done))
        self._look()
        return done

    async def idle(self) -> None:
        """Returns when nothing waits and nothing is under way."""
        while self._queue or self._batches:
            # What waits without a batch goes in the loop's next turn.
            await (asyncio.wait(set(self._batches)) if self._batches else asyncio.sleep(0))

    def _look(self) -> None:
        """Begins a batch, or says when."""
        if not self._queue or len(self._batches) >= self._lanes:
            return
        loop = asyncio.get_running_loop()
        if not self._batches:
            self._next = self._next or loop.call_soon(self._pump)
        elif len(self._queue) >= _WORTH:
            self._pump()
        else:
            self._next = self._next or loop.call_later(_LONG, self._pump)

    def _pump(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None
        while self._queue and len(self._batches) < self._lanes:
            batch = self._take()
            if not batch:
                return
            self.batches += 1
            self.records += len(batch)
            task = asyncio.create_task(self._commit(batch))
            self._batches.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._batches.discard(task)
        if not self._batches and self._next is not None:
            # Nothing is left to wait beside.
            self._next.cancel()
            self._next = None
        self._look()

    def _take(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        later: list[_Waiting] = []
        requests = set()
        while self._queue and len(batch) < _MAX_BATCH:
            record, done = self._queue.popleft()
            if done.cancelled():
                continue
            session, request = _session(record), _request(record)
            if session in self._busy or request in requests:
                later.append((record, done))
                continue
            self._busy.add(session)
            requests.add(request)
            batch.append((record, done))
        self._queue.extendleft(reversed(later))
        return batch

    async def _commit(self, batch: list[_Waiting]) -> None:
        sessions = [_session(record) for record, _ in batch]
        try:
            outcomes: Sequence[Outcome | Exception] = await self._run([record for record, _ in batch])
        except NoConnection as error:
            # Whoever waited meanwhile would only wait for the same once more.
            batch += self._queue
            self._queue.clear()
            outcomes = [error] * len(batch)
        except Unavailable as error:
            outcomes = [error] * len(batch)
        except Exception as error:
            outcomes = [error] if len(batch) == 1 else [await self._alone(record) for record, _ in batch]
        finally:
            self._busy.difference_update(sessions)
        for (_, done), outcome in zip(batch, outcomes, strict=True):
            if done.cancelled():
                continue
            if isinstance(outcome, Exception):
                done.set_exception(outcome)
            else:
                done.set_result(outcome)

    async def _alone(self, record: AppendRecord) -> Outcome | Exception:
        try:
            (outcome,) = await self._run([record])
        except Exception as error:
            return error
        return outcome


def _session(record: AppendRecord) -> tuple[str, str]:
    return (record.tenant_id, record.floor.session_id)


def _request(record: AppendRecord) -> tuple[str, str, str, str]:
    request = record.request
    return (record.tenant_id, request.principal, request.method, request.request_id)
