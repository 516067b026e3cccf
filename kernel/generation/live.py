"""A run as this process sees it: its log of frames, who watches, and how to end it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from copy import deepcopy
from enum import Enum

from kernel.generation.events import NOWHERE, Frame, Position, RunEvent, is_last
from kernel.generation.so_far import PagesSoFar


class RunLost(Exception):
    """What became of the run is not known here: the floor's row, or the next start, will say."""


class Interrupt(Enum):
    """Why a run is to end before its provider does."""

    CANCEL_KEEP = "cancel, and commit what was written"
    CANCEL_DROP = "cancel, and fail the floor"
    STOP = "the server stops"


class LiveRun:
    """One run's frames of one epoch in one shared list, and the wish to end it.

    Written by its runner alone, read by any number of subscribers, each at its own pace: publishing
    never waits. Belongs to one event loop.

    Args:
        so_far: What earlier epochs wrote; it grows with what is published here.
    """

    def __init__(
        self,
        run_id: str,
        floor_id: str,
        *,
        tenant_id: str = "",
        epoch: int = 1,
        so_far: PagesSoFar | None = None,
    ) -> None:
        self.run_id = run_id
        self.floor_id = floor_id
        self.tenant_id = tenant_id
        self.epoch = epoch
        self.so_far = so_far or PagesSoFar()
        self._before = deepcopy(self.so_far)
        # How many of the frames the log has; the log's own.
        self.logged_seq = 0
        self._frames: list[Frame] = []
        self._changed = asyncio.Event()
        self._closed = asyncio.Event()
        self._lost = False
        self._interrupt: Interrupt | None = None
        self._interrupted = asyncio.Event()

    @property
    def last_seq(self) -> int:
        """Of the newest frame; 0 before the first."""
        return len(self._frames)

    @property
    def frames(self) -> Sequence[Frame]:
        """What was shown so far. Do not keep it: it grows."""
        return self._frames

    @property
    def last_frame(self) -> Frame | None:
        """The frame that ended the run; None while it runs, and for a lost one."""
        return self._frames[-1] if self._frames and is_last(self._frames[-1].event) else None

    @property
    def closed(self) -> bool:
        return self._closed.is_set()

    @property
    def interrupt(self) -> Interrupt | None:
        """Set once, by whoever came first; a server's stop yields to nothing."""
        return self._interrupt

    def publish(self, event: RunEvent) -> None:
        """Adds a frame; a last one closes the run. Raises: RuntimeError on a closed run."""
        if self.closed:
            raise RuntimeError("A closed run takes no frames.")
        self.so_far.apply(event)
        self._append(event)

    def shown(self) -> PagesSoFar:
        """The pages as its frames, and earlier epochs, show them: what was published and is still held
        back is not among them."""
        pages = deepcopy(self._before)
        for frame in self._frames:
            pages.apply(frame.event)
        return pages

    def _append(self, event: RunEvent) -> None:
        self._frames.append(Frame(self.epoch, len(self._frames) + 1, event))
        if is_last(event):
            self._closed.set()
        self._wake()

    def pause(self) -> None:
        """Closes it, for a run that waits: subscribers end after the frames that there are."""
        self._closed.set()
        self._wake()

    def lose(self) -> None:
        """Closes the run without a last frame; subscribers get RunLost. No effect on a closed one."""
        if not self.closed:
            self._lost = True
            self._closed.set()
            self._wake()

    async def subscribe(self, after: Position = NOWHERE) -> AsyncGenerator[Frame, None]:
        """Every frame of this epoch after that position, then those to come; ends after the last one, or
        with the pause.

        Raises:
            RunLost: After the frames that there are, when the run was lost.
        """
        position = after.seq if after.epoch == self.epoch else 0
        while True:
            while position < len(self._frames):
                frame = self._frames[position]
                position += 1
                yield frame
            if self.closed:
                break
            # Nothing was awaited since the list was seen to end, so no frame can be missed.
            await self._changed.wait()
        if self._lost:
            raise RunLost

    def cancel(self, keep: bool) -> bool:
        """Asks the run to end; with `keep` what was written is committed. The first call decides.

        Returns:
            Whether this call was heard. False when the run has ended or is asked to end already. A
            run that is heard may still end as it would have: its commit may be under way.
        """
        return self._ask(Interrupt.CANCEL_KEEP if keep else Interrupt.CANCEL_DROP)

    def stop(self) -> bool:
        """Asks the run to fail as CRASHED, for a server that stops. Returns as `cancel` does."""
        return self._ask(Interrupt.STOP)

    async def wait_interrupted(self) -> None:
        await self._interrupted.wait()

    async def wait_closed(self) -> None:
        """Until the last frame is out, or the run is lost."""
        await self._closed.wait()

    def _ask(self, interrupt: Interrupt) -> bool:
        if self.closed or self._interrupt is not None:
            return False
        self._interrupt = interrupt
        self._interrupted.set()
        return True

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
