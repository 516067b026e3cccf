"""Drives one run: from the provider's chunks to a durable end, and the frames that tell of it."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass

import structlog

from kernel.generation.events import Cancelled, Failed, FloorCommitted, PageCompleted, Started
from kernel.generation.live import Interrupt, LiveRun
from kernel.generation.output import Output
from kernel.generation.provider import (
    ChatRequest,
    FailureReason,
    Provider,
    ProviderError,
    not_valid,
    timed_out,
)
from kernel.generation.sink import OutputDraft, RunSink
from kernel.tree.model import Floor, FloorState

# Why a run ended before its provider had: None when it had.
Cut = ProviderError | Interrupt | None

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What one run may take.

    Attributes:
        max_bytes: Of text and reasoning, in UTF-8: one message, which is 1 MiB at most on the wire.
        total_seconds: Until the provider has ended; committing is not counted.
        window_seconds: Deltas that arrive within it are joined into one frame.
        close_seconds: For a provider to let go of its connection when the run ends early.
    """

    max_bytes: int = 1_000_000
    total_seconds: float = 900.0
    window_seconds: float = 0.02
    close_seconds: float = 5.0


async def run(
    live: LiveRun,
    provider: Provider,
    request: ChatRequest,
    sink: RunSink,
    *,
    started: Started,
    page_id: str,
    limits: RunLimits = RunLimits(),
) -> None:
    """Runs to the end. Give it to `RunHub.start`: no caller may cancel it; `live.cancel` ends it.

    Publishes `started`, deltas, and one last frame after its row is durable. When the sink cannot
    make the end durable, and the floor is not known to be FAILED, the run is lost instead: nothing
    untrue is published.
    """
    live.publish(started)
    output = Output(live, page_id, window=limits.window_seconds, max_bytes=limits.max_bytes)
    cut = await _produce(live, provider, request, output, limits)
    output.close()
    draft = output.draft(partial=cut is not None)
    if cut is None and draft.empty:
        cut = not_valid("The provider ended without an answer.")
    try:
        await _end(live, sink, draft, cut)
    except Exception as error:
        log.error("run.sink_failed", run_id=live.run_id, floor_id=live.floor_id, error=type(error).__name__)
        await _after_sink_failure(live, sink, draft)


async def _produce(
    live: LiveRun, provider: Provider, request: ChatRequest, output: Output, limits: RunLimits
) -> Cut:
    """Reads the provider until it ends, or until something cuts it off."""
    reading = asyncio.create_task(_read(provider, request, output))
    interrupted = asyncio.create_task(live.wait_interrupted())
    try:
        await asyncio.wait(
            {reading, interrupted}, timeout=limits.total_seconds, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        interrupted.cancel()
        ended = reading.done()
        if not ended:
            await _stop(reading, limits.close_seconds)
    if not ended:
        return live.interrupt or timed_out("The answer took longer than a run may.")
    error = asyncio.CancelledError() if reading.cancelled() else reading.exception()
    if error is None or isinstance(error, ProviderError):
        return error
    log.error("run.provider_broken", run_id=live.run_id, provider=provider.name, error=type(error).__name__)
    return ProviderError(FailureReason.CRASHED, "The provider's code failed.")


async def _read(provider: Provider, request: ChatRequest, output: Output) -> None:
    async with aclosing(provider.stream(request)) as chunks:
        async for chunk in chunks:
            output.add(chunk)


async def _stop(reading: asyncio.Task[None], seconds: float) -> None:
    reading.cancel()
    await asyncio.wait({reading}, timeout=seconds)
    if not reading.done():
        log.error("run.provider_hangs")
    elif not reading.cancelled():
        # Looked at, so that asyncio does not report it: the run has its reason to end already.
        reading.exception()


async def _end(live: LiveRun, sink: RunSink, draft: OutputDraft, cut: Cut) -> None:
    match cut:
        case None:
            page, floor, branch = await sink.complete(draft)
            live.publish(PageCompleted(page))
            live.publish(FloorCommitted(floor, branch))
        case Interrupt.CANCEL_KEEP | Interrupt.CANCEL_DROP:
            live.publish(Cancelled(*await sink.cancelled(draft, keep=cut is Interrupt.CANCEL_KEEP)))
        case Interrupt.STOP:
            floor = await sink.fail(draft, FailureReason.CRASHED)
            live.publish(Failed(FailureReason.CRASHED, floor, "The server stopped."))
        case ProviderError():
            log.info("run.failed", run_id=live.run_id, reason=cut.reason, message=cut.message)
            floor = await sink.fail(draft, cut.reason)
            live.publish(Failed(cut.reason, floor, cut.message))


async def _after_sink_failure(live: LiveRun, sink: RunSink, draft: OutputDraft) -> None:
    """The floor may be committed, failed by somebody else, or pending still: looks, and says no more
    than what is so."""
    try:
        floor = await sink.fail(draft, FailureReason.CRASHED)
    except Exception as error:
        log.error("run.lost", run_id=live.run_id, floor_id=live.floor_id, error=type(error).__name__)
        live.lose()
        return
    if floor.state is not FloorState.FAILED:
        live.lose()
    elif live.interrupt in (Interrupt.CANCEL_KEEP, Interrupt.CANCEL_DROP):
        # Abandoned while its commit was under way.
        live.publish(Cancelled(floor, None))
    else:
        live.publish(Failed(_reason_of(floor), floor))


def _reason_of(floor: Floor) -> FailureReason:
    # An abandoned floor carries its caller's words.
    known = floor.failure_reason in set(FailureReason)
    return FailureReason(floor.failure_reason) if known else FailureReason.CRASHED
