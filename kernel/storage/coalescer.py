"""What waits while the last batch commits goes in the next one. No timer: a lone record goes at once.

A batch holds at most one record of a session, and one of a request: so no item can depend on another.
A batch that raises is run again one by one, so that a bad item fails alone.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from kernel.errors import Unavailable
from kernel.verbs.records import AppendRecord, Outcome

_MAX_BATCH = 128

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

    async def append(self, record: AppendRecord) -> Outcome:
        """The record's outcome. A caller that is cancelled before its batch is taken is dropped; after
        that the record commits or fails by itself."""
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._queue.append((record, done))
        self._pump()
        return await done

    async def idle(self) -> None:
        """Returns when nothing waits and nothing is under way."""
        while self._batches:
            await asyncio.wait(set(self._batches))

    def _pump(self) -> None:
        while self._queue and len(self._batches) < self._lanes:
            batch = self._take()
            if not batch:
                return
            task = asyncio.create_task(self._commit(batch))
            self._batches.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._batches.discard(task)
        self._pump()

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
        try:
            outcomes: Sequence[Outcome | Exception] = await self._run([record for record, _ in batch])
        except Unavailable as error:
            outcomes = [error] * len(batch)
        except Exception as error:
            outcomes = [error] if len(batch) == 1 else [await self._alone(record) for record, _ in batch]
        finally:
            self._busy.difference_update(_session(record) for record, _ in batch)
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
