"""The contract of the store for runs; see `store.py`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from kernel.tree.model import Floor, Usage
from kernel.verbs.records import Chunk, OwnedChunk, RecordedCall, Run, RunMark


class RunReads(Protocol):
    async def run(self, run_id: str) -> Run | None: ...

    async def run_of_floor(self, floor_id: str) -> Run | None: ...

    async def chunks(self, run_id: str, after: tuple[int, int], limit: int) -> list[Chunk]:
        """Of the run's log, by position, those that end after (epoch, seq); at most `limit`."""

    async def tool_calls(self, run_id: str) -> list[RecordedCall]:
        """Of the run, by number."""

    async def floor_calls(self, floor_id: str) -> list[RecordedCall]:
        """Of all runs of the floor: by when the run was made, then by number."""


class RunWrites(Protocol):
    async def lock_run(self, run_id: str) -> Run | None:
        """The run; until the transaction ends, nobody changes it, and nothing is written to its log."""

    async def insert_run(self, run: Run) -> None: ...

    async def update_run(self, run: Run) -> None:
        """All but `logged`, which the log sets."""

    async def meter(self, floor: Floor, usage: Usage | None, written: int) -> None:
        """For a run of that floor whose model was cut off: where tokens are limited and its `usage` is not
        known, counts the path that it was sent and the tokens that it had written."""

    async def insert_chunk(self, session_id: str, chunk: Chunk) -> None:
        """As part of the transaction: for frames that belong to what it changes."""

    async def insert_calls(self, session_id: str, calls: Sequence[RecordedCall]) -> None:
        """Each for the first time."""

    async def update_calls(self, calls: Sequence[RecordedCall]) -> None:
        """What becomes of them: state, decision, result."""


class RunLog(Protocol):
    """What runs and their watchers ask of the database for many runs at once, of whatever tenant."""

    async def write(self, chunks: Sequence[OwnedChunk]) -> list[RunMark | None]:
        """Keeps each chunk whose run is RUNNING, its owner's, and in its epoch: in one transaction, and
        durable on return. For each, in order, how the run stood, or None for one that is gone: a chunk
        was kept when owner, epoch and state are as it needs them."""

    async def marks(self, runs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], RunMark]:
        """How the runs, by (tenant, run id), stand; those that are gone are left out."""

    async def forget(self, ended_before: datetime, limit: int) -> int:
        """Removes the logs of at most so many runs that ended before. -> how many"""

    async def overdue(self, now: datetime, limit: int) -> list[tuple[str, str]]:
        """(tenant, run id) of WAITING runs whose time is over."""
