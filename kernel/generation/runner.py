"""Drives one run: from the providers' chunks to a durable end, and the frames that tell of it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from kernel.generation.events import (
    ActionKind,
    Cancelled,
    Failed,
    FloorCommitted,
    Held,
    PageCompleted,
    RequiresAction,
    Started,
)
from kernel.generation.live import Interrupt, LiveRun
from kernel.generation.output import Output, Room, size_of
from kernel.generation.pages import PageEnd, PagePlan, PageWriter
from kernel.generation.provider import FailureReason, ProviderError, timed_out
from kernel.generation.sink import PageDraft, RunOver, RunSink
from kernel.generation.tools import Toolbox
from kernel.tree.message import ToolCall
from kernel.tree.model import Floor, FloorState, Page

# How a page stands: None while it is written, and when it was cut off with the others.
_End = PageEnd | ProviderError | RunOver | None

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may take.

    Attributes:
        max_bytes: Of one page: text, reasoning, calls and results, in UTF-8. A message is 1 MiB at most
            on the wire.
        total_seconds: Until the providers have ended; committing is not counted, nor is waiting.
        window_seconds: Deltas that arrive within it are joined into one frame.
        close_seconds: For a provider to let go of its connection when the run ends early.
        max_steps: How often a page's model may call tools before it must answer.
        max_calls: Of the run, in all.
        max_tokens: Of one page, as its provider counts what it is sent and what it says, over all steps:
            a page that has taken more calls no more tools.
        tool_seconds: For one call to act.
        wait_seconds: For somebody to answer calls; then the run fails.
    """

    max_bytes: int = 1_000_000
    total_seconds: float = 900.0
    window_seconds: float = 0.02
    close_seconds: float = 5.0
    max_steps: int = 16
    max_calls: int = 64
    max_tokens: int = 1_000_000
    tool_seconds: float = 60.0
    wait_seconds: float = 86_400.0


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run is to write. `started` is None for one that goes on; `hold`: do not commit. `done` are
    the ids of pages that earlier epochs completed, `chosen` the first of them."""

    pages: tuple[PagePlan, ...]
    started: Started | None
    hold: bool = False
    done: frozenset[str] = frozenset()
    chosen: Page | None = None


class Runner:
    """One epoch of a run. Give `run()` to `RunHub.start`: no caller may cancel it; `live.cancel` ends it.

    Args:
        window: Seconds of the window now; it widens when many runs share the process.
    """

    def __init__(
        self,
        live: LiveRun,
        plan: RunPlan,
        toolbox: Toolbox,
        sink: RunSink,
        limits: RunLimits,
        window: Callable[[], float],
    ) -> None:
        self._live = live
        self._plan = plan
        self._sink = sink
        self._limits = limits
        self._chosen = plan.chosen
        self._ends: dict[str, _End] = {}
        self._writers = {
            page.page_id: self._writer(page, toolbox, window)
            for page in plan.pages
            if page.page_id not in plan.done
        }

    async def run(self) -> None:
        """Publishes `started`, deltas, and one last frame after its row is durable. When the sink cannot
        make the end durable, and the floor is not known to be FAILED, the run is lost instead: nothing
        untrue is published."""
        if self._plan.started is not None:
            self._live.publish(self._plan.started)
        try:
            await self._to_an_end()
        except RunOver:
            self._live.lose()
        except Exception as error:
            self._complain("run.sink_failed", error)
            await self._after_sink_failure()

    async def _to_an_end(self) -> None:
        cut = await self._produce()
        if cut is None and (actions := self._actions()):
            if await self._paused(actions):
                return
            cut = self._live.interrupt
        for writer in self._writers.values():
            writer.output.close()
        await self._end(cut or self._failure())

    async def _produce(self) -> ProviderError | Interrupt | None:
        """Writes every page until it is whole, waits or fails; or until something cuts them all off."""
        if self._live.interrupt is not None:
            return self._live.interrupt
        writing = asyncio.create_task(self._write_all())
        interrupted = asyncio.create_task(self._live.wait_interrupted())
        try:
            await asyncio.wait(
                {writing, interrupted},
                timeout=self._limits.total_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            interrupted.cancel()
            ended = writing.done()
            if not ended:
                await self._stop(writing)
        if not ended:
            return self._live.interrupt or timed_out("The answer took longer than a run may.")
        writing.result()
        if over := next((end for end in self._ends.values() if isinstance(end, RunOver)), None):
            raise over
        return None

    async def _write_all(self) -> None:
        await asyncio.gather(*(self._write(page_id) for page_id in self._writers))

    async def _write(self, page_id: str) -> None:
        writer = self._writers[page_id]
        try:
            self._ends[page_id] = await writer.write()
            if self._plan.hold and self._ends[page_id] is PageEnd.WHOLE:
                await self._keep(writer)
        except (ProviderError, RunOver) as error:
            self._ends[page_id] = error
        except Exception as error:
            self._complain("run.provider_broken", error)
            self._ends[page_id] = ProviderError(FailureReason.CRASHED, "The provider's code failed.")

    async def _keep(self, writer: PageWriter) -> None:
        writer.output.close()
        page = await self._sink.keep_page(writer.output.draft(partial=False))
        self._chosen = self._chosen or page
        self._live.publish(PageCompleted(page))

    async def _paused(self, actions: Sequence[RequiresAction]) -> bool:
        await self._keep_partial()
        failed = [page for page, end in self._ends.items() if isinstance(end, ProviderError)]
        if not await self._sink.pause(actions, failed, self._drafts()):
            return False
        for action in actions:
            self._live.publish(action)
        self._live.pause()
        return True

    def _actions(self) -> list[RequiresAction]:
        waiting = [
            call
            for page_id, writer in self._writers.items()
            if self._ends.get(page_id) is PageEnd.WAITS
            for call in writer.waiting
        ]
        return [
            RequiresAction(calls, kind)
            for kind in (ActionKind.APPROVAL, ActionKind.RESULT)
            if (calls := _of_kind(waiting, kind))
        ]

    def _failure(self) -> ProviderError | None:
        """Why the run fails: None when a page is whole."""
        errors = [end for end in self._ends.values() if isinstance(end, ProviderError)]
        whole = self._plan.done or any(end is PageEnd.WHOLE for end in self._ends.values())
        return None if whole or not errors else errors[0]

    async def _end(self, cut: ProviderError | Interrupt | None) -> None:
        drafts = self._drafts()
        match cut:
            case None if self._plan.hold:
                assert self._chosen is not None
                await self._keep_partial()
                self._live.publish(Held(await self._sink.hold(self._chosen, drafts)))
            case None:
                page, floor, branch = await self._sink.complete(drafts[0])
                self._live.publish(PageCompleted(page))
                self._live.publish(FloorCommitted(floor, branch))
            case Interrupt.CANCEL_KEEP | Interrupt.CANCEL_DROP:
                keep = cut is Interrupt.CANCEL_KEEP
                self._live.publish(Cancelled(*await self._sink.cancelled(drafts, keep)))
            case Interrupt.STOP:
                floor = await self._sink.fail(drafts, FailureReason.CRASHED)
                self._live.publish(Failed(FailureReason.CRASHED, floor, "The server stopped."))
            case ProviderError():
                log.info("run.failed", run_id=self._live.run_id, reason=cut.reason, message=cut.message)
                floor = await self._sink.fail(drafts, cut.reason)
                self._live.publish(Failed(cut.reason, floor, cut.message))

    async def _keep_partial(self) -> None:
        """What failed candidates wrote stays readable beside the whole ones."""
        for page_id, writer in self._writers.items():
            draft = writer.output.draft(partial=True)
            if isinstance(self._ends.get(page_id), ProviderError) and not draft.empty:
                self._live.publish(PageCompleted(await self._sink.keep_page(draft)))

    def _drafts(self) -> list[PageDraft]:
        return [
            writer.output.draft(partial=self._ends.get(page_id) is not PageEnd.WHOLE)
            for page_id, writer in self._writers.items()
        ]

    def _writer(self, page: PagePlan, toolbox: Toolbox, window: Callable[[], float]) -> PageWriter:
        room = Room(self._limits.max_bytes - size_of(self._live.so_far.messages(page.page_id)))
        output = Output(self._live, page.page_id, window=window, room=room)
        limits = self._limits
        return PageWriter(self._live, page, toolbox, output, room, limits.max_steps, limits.max_tokens)

    async def _stop(self, writing: asyncio.Task[None]) -> None:
        writing.cancel()
        await asyncio.wait({writing}, timeout=self._limits.close_seconds)
        if not writing.done():
            log.error("run.provider_hangs")
        elif not writing.cancelled():
            # Looked at, so that asyncio does not report it: the run has its reason to end already.
            writing.exception()

    async def _after_sink_failure(self) -> None:
        """The floor may be committed, failed by somebody else, or pending still: looks, and says no more
        than what is so."""
        try:
            floor = await self._sink.fail(self._drafts(), FailureReason.CRASHED)
        except Exception as error:
            self._complain("run.lost", error)
            self._live.lose()
            return
        if floor.state is not FloorState.FAILED:
            self._live.lose()
        elif self._live.interrupt in (Interrupt.CANCEL_KEEP, Interrupt.CANCEL_DROP):
            # Abandoned while its commit was under way.
            self._live.publish(Cancelled(floor, None))
        else:
            self._live.publish(Failed(_reason_of(floor), floor))

    def _complain(self, what: str, error: Exception) -> None:
        # No text of the error: it may quote the conversation.
        log.error(what, run_id=self._live.run_id, floor_id=self._live.floor_id, error=type(error).__name__)


def _of_kind(waiting: Sequence[tuple[ToolCall, ActionKind]], kind: ActionKind) -> tuple[ToolCall, ...]:
    return tuple(call for call, waits in waiting if waits is kind)


def _reason_of(floor: Floor) -> FailureReason:
    # An abandoned floor carries its caller's words.
    known = floor.failure_reason in set(FailureReason)
    return FailureReason(floor.failure_reason) if known else FailureReason.CRASHED
