"""The log of this process's runs: what was shown reaches the database a moment later, for all of them in
one statement. What ends a run, or lets it wait, writes the rest of its frames in its own transaction."""

import asyncio
from collections.abc import Sequence

import structlog

from kernel.errors import StemmaError
from kernel.generation.events import RunEvent
from kernel.generation.frame_text import to_text
from kernel.generation.hub import RunHub
from kernel.generation.live import LiveRun
from kernel.verbs.env import ReadTx
from kernel.verbs.records import Chunk, OwnedChunk, Run, RunMark, RunState
from kernel.verbs.run_store import RunLog

log = structlog.get_logger(__name__)

# Seconds: between two writes, and how many of them go by before runs that show nothing are looked at.
_INTERVAL = 0.1
_LOOK_EVERY = 5
KEEP, DROP = "keep", "fail"
# Chunks that may have been written by one write in doubt, and more.
_MANY = 100


class ChunkLog:
    """Writes chunks while runs run, and hears from the same statement what became of the runs: who asked
    them to end, and who took them over."""

    def __init__(self, rows: RunLog, hub: RunHub, owner: str, *, interval: float = _INTERVAL) -> None:
        self._rows = rows
        self._hub = hub
        self._owner = owner
        self._interval = interval
        # Runs whose frames another transaction writes now.
        self._handed_over: set[str] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        # A write was begun, and nothing was heard of it: what it wrote may be there.
        self._in_doubt = False

    async def keep(self) -> None:
        """Never returns; a database that is away is tried again, and what waits for it is in memory."""
        ticks = 0
        while True:
            await self._hub.busy()
            await asyncio.sleep(self._interval)
            ticks += 1
            try:
                await self.write()
                if ticks % _LOOK_EVERY == 0:
                    await self.look()
            except StemmaError as error:
                log.warning("run log failed; it is tried again", reason=error.reason)

    async def write(self) -> None:
        """What was shown and is not in the log yet."""
        if self._in_doubt:
            await self._catch_up()
        lives = [live for live in self._hub.lives if not live.closed and live.run_id not in self._handed_over]
        parts = [(live, chunk) for live in lives if (chunk := unlogged(live)) is not None]
        if not parts:
            return
        self._idle.clear()
        self._in_doubt = True
        try:
            owned = [OwnedChunk(live.tenant_id, self._owner, chunk) for live, chunk in parts]
            marks = await self._rows.write(owned)
            self._in_doubt = False
        finally:
            self._idle.set()
        for (live, chunk), mark in zip(parts, marks, strict=True):
            if self._told(live, mark):
                live.logged_seq = chunk.last_seq

    async def look(self) -> None:
        """How the runs stand of which nothing was written: a provider may say nothing for a minute."""
        lives = {(live.tenant_id, live.run_id): live for live in self._hub.lives}
        marks = await self._rows.marks(list(lives))
        for key, live in lives.items():
            if live.run_id not in self._handed_over:
                self._told(live, marks.get(key))

    async def _catch_up(self) -> None:
        lives = self._hub.lives
        marks = await self._rows.marks([(live.tenant_id, live.run_id) for live in lives])
        for live in lives:
            mark = marks.get((live.tenant_id, live.run_id))
            if mark is not None and mark.epoch == live.epoch:
                live.logged_seq = max(live.logged_seq, mark.logged_seq)
        self._in_doubt = False

    async def hand_over(self, live: LiveRun) -> None:
        """From here on the caller writes the run's frames, in the transaction that ends it."""
        self._handed_over.add(live.run_id)
        await self._idle.wait()

    def take_back(self, live: LiveRun) -> None:
        """The caller is done, or its transaction was not."""
        self._handed_over.discard(live.run_id)

    def _told(self, live: LiveRun, mark: RunMark | None) -> bool:
        """Whether the run is still this process's."""
        if mark is None or (mark.owner, mark.epoch) != (self._owner, live.epoch):
            live.cancel(keep=False)
            return False
        if mark.state is not RunState.RUNNING:
            live.cancel(keep=False)
            return False
        if mark.asked:
            live.cancel(keep=mark.asked == KEEP)
        return True


def unlogged(live: LiveRun, further: Sequence[RunEvent] = ()) -> Chunk | None:
    """The frames that the log does not have, and some that are shown when these are durable."""
    events = [*(frame.event for frame in live.frames[live.logged_seq :]), *further]
    if not events:
        return None
    first = live.logged_seq + 1
    return Chunk(live.run_id, live.epoch, first, first + len(events) - 1, to_text(events))


async def remaining(tx: ReadTx, run: Run, live: LiveRun, further: Sequence[RunEvent] = ()) -> Chunk | None:
    """As `unlogged`, for a transaction that nobody else writes the run's log beside. The rows are asked:
    a write of which nothing was heard, or not yet, may have been done."""
    if run.logged:
        after = live.epoch, live.logged_seq
        for chunk in await tx.chunks(run.run_id, after, _MANY):
            live.logged_seq = chunk.last_seq
    return unlogged(live, further)
