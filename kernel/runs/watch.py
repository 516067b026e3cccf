"""The frames of a run after a position, wherever it runs or ran."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from kernel.errors import NotFound, OutOfRange
from kernel.generation import events
from kernel.generation.events import NOWHERE, Frame, Position, RequiresAction
from kernel.generation.frame_text import Logged, LoggedPage, LoggedReset, from_text
from kernel.generation.live import LiveRun, RunLost
from kernel.generation.provider import FailureReason
from kernel.runs.start import Generation
from kernel.runs.tail import RunTail
from kernel.tree.model import Floor, FloorState, Page, Slot
from kernel.verbs.env import Env, ReadTx
from kernel.verbs.pages import with_output
from kernel.verbs.records import Run, RunState

# Chunks that are read at once.
_MANY = 100


@dataclass(frozen=True, slots=True)
class _Look:
    """One read: the run, the frames that its log has after the position, and how it ended."""

    run: Run
    frames: Sequence[Frame]
    ending: Sequence[Frame]


class Watch:
    """Watches one run for one caller.

    Args:
        after: Where the caller stands. `NOWHERE`: before the first frame.
        accepted: Called when nothing can be refused any more and there is nothing to show yet; perhaps often.
        ended_whole: Of a run that has ended, and is not here, show what its log still has before its last
            frames; else only those.
    """

    def __init__(
        self,
        env: Env,
        generation: Generation,
        tail: RunTail,
        tenant_id: str,
        run_id: str,
        after: Position = NOWHERE,
        *,
        accepted: Callable[[], Awaitable[None]],
        ended_whole: bool = True,
    ) -> None:
        self._env = env
        self._hub = generation.hub
        self._tail = tail
        self._tenant = tenant_id
        self._run_id = run_id
        self._at = after
        self._accepted = accepted
        self._ended_whole = ended_whole
        # Whether this watcher was shown that the run waits.
        self._told_to_wait = False

    async def frames(self, live: LiveRun | None = None) -> AsyncGenerator[Frame, None]:
        """In order, each once; ends after the last frame, or with a wait that this watcher was told of.

        Raises NOT_FOUND; OUT_OF_RANGE for a position that the log does not go back to, or that is not
        reached yet. `live`: the run as it was just started.
        """
        while True:
            live = live or self._here()
            if live is not None and (live.epoch == self._at.epoch or self._at.epoch == 0 == live.epoch - 1):
                async with aclosing(self._live_frames(live)) as frames:
                    async for frame in frames:
                        yield frame
                if live.last_frame is not None or self._told_to_wait:
                    return
                live = None
                continue
            look = await self._look(live)
            for frame in look.frames:
                yield self._passed(frame)
            if look.frames:
                continue
            if live is not None and self._at.epoch < live.epoch and (self._ended_whole or not look.ending):
                # All of the earlier epochs was shown.
                self._at = Position(live.epoch, 0)
                continue
            for frame in look.ending:
                if frame.position > self._at:
                    yield self._passed(frame)
            if look.ending or (self._told_to_wait and look.run.state is RunState.WAITING):
                return
            live = None
            await self._accepted()
            await self._change(look.run)

    def _here(self) -> LiveRun | None:
        """The run as this process has it, if it can say how it goes on."""
        live = self._hub.get(self._run_id)
        if live is None or live.tenant_id != self._tenant:
            return None
        lost = live.closed and live.last_frame is None
        # An epoch that is over: another process took the run, and this one may not know it yet.
        return None if lost or live.epoch < self._at.epoch else live

    async def _live_frames(self, live: LiveRun) -> AsyncGenerator[Frame, None]:
        if self._at.seq > live.last_seq:
            raise _ahead()
        if self._at.seq == live.last_seq and not live.closed:
            await self._accepted()
        try:
            async with aclosing(live.subscribe(self._at)) as frames:
                async for frame in frames:
                    yield self._passed(frame)
        except RunLost:
            # Its row, or whoever took it over, says the rest.
            return

    def _passed(self, frame: Frame) -> Frame:
        self._at = frame.position
        self._told_to_wait = isinstance(frame.event, RequiresAction)
        return frame

    async def _look(self, live: LiveRun | None) -> _Look:
        async with self._env.store.reading(self._tenant) as tx:
            run = await tx.run(self._run_id)
            floor = await tx.floor(run.floor_id) if run else None
            if run is None or floor is None:
                raise NotFound("run")
            ending = [] if run.state.active else await last_frames(tx, run, floor)
            if ending and not self._ended_whole and self._at == NOWHERE:
                return _Look(run, (), ending)
            _check(run, self._at, ending)
            chunks = await tx.chunks(self._run_id, (self._at.epoch, self._at.seq), _MANY)
            logged = [
                (Position(chunk.epoch, chunk.first_seq + index), event)
                for chunk in chunks
                if live is None or chunk.epoch < live.epoch
                for index, event in enumerate(from_text(chunk.events))
            ]
            after = [(position, event) for position, event in logged if position > self._at]
            pages = await _pages(tx, floor) if any(_names_pages(event) for _, event in after) else []
            frames = [Frame(p.epoch, p.seq, _resolved(event, pages)) for p, event in after]
            return _Look(run, frames, ending)

    async def _change(self, run: Run) -> None:
        seq = self._at.seq if self._at.epoch == run.epoch else 0
        await self._tail.changed(self._tenant, self._run_id, (run.epoch, run.state, seq))


def _check(run: Run, at: Position, ending: Sequence[Frame]) -> None:
    if at == NOWHERE:
        return
    if at.epoch > run.epoch or (ending and at > ending[-1].position):
        raise _ahead()
    if ending and not run.logged and at < Position(ending[0].epoch, ending[0].seq - 1):
        raise OutOfRange(
            "CURSOR_TOO_OLD",
            "The run's log is no longer kept: attach without a position, or read the floor.",
            {"earliest": str(ending[0].position)},
        )


def _ahead() -> OutOfRange:
    return OutOfRange("CURSOR_AHEAD", "The run has not come to this position.")


def _names_pages(event: Logged) -> bool:
    return isinstance(event, LoggedPage | LoggedReset)


async def _pages(tx: ReadTx, floor: Floor) -> list[Page]:
    """The output pages of the floor: the shown one first, then its other versions."""
    versions = [page for _, page in await tx.pages(floor.floor_id) if page.slot is Slot.OUTPUT]
    if floor.output is None:
        return versions
    shown = floor.output
    return [shown, *(page for page in versions if page.page_id != shown.page_id)]


def _resolved(event: Logged, pages: Sequence[Page]) -> events.RunEvent:
    match event:
        case LoggedPage(page_id):
            return events.PageCompleted(next(page for page in pages if page.page_id == page_id))
        case LoggedReset():
            return events.Reset(tuple(pages))
        case _:
            return event


async def last_frames(tx: ReadTx, run: Run, floor: Floor) -> Sequence[Frame]:
    """How an ended run ended, at the positions it had."""
    ending: list[events.RunEvent]
    match run.state:
        case RunState.COMMITTED:
            assert floor.output is not None
            assert run.branch is not None
            ending = [events.PageCompleted(floor.output), events.FloorCommitted(floor, run.branch)]
        case RunState.HELD:
            ending = [events.Held(await _as_held(tx, run, floor))]
        case RunState.FAILED:
            ending = [events.Failed(FailureReason(run.failure_reason), floor)]
        case _:
            ending = [events.Cancelled(floor, run.branch)]
    first = max(run.last_seq, len(ending)) - len(ending) + 1
    return [Frame(run.epoch, first + offset, event) for offset, event in enumerate(ending)]


async def _as_held(tx: ReadTx, run: Run, floor: Floor) -> Floor:
    """The floor as it was when the run left it, whatever was done to it since."""
    pages = {page.page_id: page for _, page in await tx.pages(floor.floor_id)}
    chosen = pages[run.page_id]
    was = replace(
        floor,
        state=FloorState.OPEN,
        digest=None,
        path_tokens=0,
        usage=run.usage,
        run_id=run.run_id,
        failure_reason="",
        commit_time=None,
    )
    return with_output(was, chosen)
