"""Runs from outside: reading, cancelling, being told of an end, ending what a dead process left."""

import asyncio
from dataclasses import replace
from datetime import datetime

from kernel.errors import FailedPrecondition, NotFound
from kernel.generation.events import Reset, ToolAnswered
from kernel.generation.frame_text import to_text
from kernel.generation.hub import RunHub
from kernel.generation.so_far import PagesSoFar, has_content
from kernel.runs.going import claim, logged
from kernel.runs.log import DROP, KEEP, remaining
from kernel.runs.shown import ShownRun
from kernel.runs.start import Generation
from kernel.runs.tail import RunTail
from kernel.tree.message import ToolResult
from kernel.tree.model import PageContent
from kernel.verbs.answers import Answered, shown
from kernel.verbs.env import Caller, Codec, Env, ReadTx, SoFar, Write, WriteTx
from kernel.verbs.floors import pending_branch
from kernel.verbs.pending import fail
from kernel.verbs.records import Answer, CallState, Chunk, Run, RunState
from kernel.verbs.run_store import RunLog

CRASHED, LIMIT = "CRASHED", "LIMIT"
# Runs that are ended, or logs removed, at one look.
_MANY = 100


class HubRuns:
    """`kernel.verbs.env.LiveRuns` over the runs of this process, and the log of all others."""

    def __init__(self, hub: RunHub, codec: Codec) -> None:
        self._hub = hub
        self._codec = codec

    async def so_far(self, tx: ReadTx, run: Run) -> SoFar:
        live = self._hub.get(run.run_id)
        if isinstance(live, ShownRun) and not live.closed and live.epoch == run.epoch:
            # Until this transaction is over, however it ends: then it is known whether to go on.
            task = asyncio.current_task()
            assert task is not None
            live.hold()
            task.add_done_callback(lambda _: live.release())
            chunk = await remaining(tx, run, live)
            return SoFar(self._contents(live.shown()), chunk, run.epoch, live.last_seq + 1)
        pages, newest = await logged(tx, run.run_id)
        for call in await tx.tool_calls(run.run_id):
            if call.state is CallState.DONE:
                result = ToolResult(call.call_id, call.content, call.is_error)
                pages.apply(ToolAnswered(call.page_id, result))
        if run.state is RunState.WAITING:
            seq = newest.seq if newest.epoch == run.epoch else 0
            return SoFar(self._contents(pages), None, run.epoch, seq + 1)
        # Somebody else's: taken over, so that it can write nothing more, and what it showed is replaced.
        epoch = run.epoch + 1
        reset = Chunk(run.run_id, epoch, 1, 1, to_text([Reset(())]))
        return SoFar(self._contents(pages), reset, epoch, 2)

    def ended(self, run_id: str) -> None:
        live = self._hub.get(run_id)
        if isinstance(live, ShownRun):
            live.give_up()

    def _contents(self, pages: PagesSoFar) -> tuple[tuple[str, PageContent], ...]:
        said = ((page_id, page.messages) for page_id, page in pages.pages.items())
        return tuple(
            (page_id, self._codec.page(messages)) for page_id, messages in said if has_content(messages)
        )


async def get_run(env: Env, caller: Caller, run_id: str) -> Run:
    async with env.store.reading(caller.tenant_id) as tx:
        run = await tx.run(run_id)
    if run is None:
        raise NotFound("run")
    return run


async def cancel_run(
    env: Env, generation: Generation, tail: RunTail, write: Write, run_id: str, keep: bool
) -> tuple[Run, Answered]:
    """Ends a run, whichever process has it, and returns when its end is durable. One that comes to its
    end by itself meanwhile is answered as it ended. FAILED_PRECONDITION when it had ended before, or
    somebody else had asked first."""
    run = await get_run(env, write.caller, run_id)

    async def ask(tx: WriteTx) -> bool:
        session = await tx.lock_session(run.session_id)
        if await tx.answer(write.request) is not None:
            return True
        now = await tx.run(run_id)
        if session is None or now is None:
            raise NotFound("run")
        if not now.state.active:
            raise refuse_ended(now)
        if now.asked:
            return False
        now = replace(now, asked=KEEP if keep else DROP)
        if now.state is RunState.WAITING:
            # Taken up again, only to be ended in the way that any run is.
            await claim(tx, env, generation, write.caller.tenant_id, now)
        else:
            await tx.update_run(now)
        tx.after_commit(lambda: _cancel(generation, run_id, keep))
        await tx.record(write.request, Answer(run.session_id, run_id=run_id))
        return True

    heard = await env.store.write(write.caller.tenant_id, ask, run.session_id)
    run, done = await _ended(env, generation, tail, write.caller.tenant_id, run_id)
    if not heard:
        raise refuse_ended(run)
    return run, done


def _cancel(generation: Generation, run_id: str, keep: bool) -> None:
    live = generation.hub.get(run_id)
    if live is not None:
        live.cancel(keep)


async def _ended(
    env: Env, generation: Generation, tail: RunTail, tenant_id: str, run_id: str
) -> tuple[Run, Answered]:
    while True:
        live = generation.hub.get(run_id)
        if live is not None:
            await live.wait_closed()
        async with env.store.reading(tenant_id) as tx:
            run = await tx.run(run_id)
            floor = await tx.floor(run.floor_id) if run else None
            if run is None or floor is None:
                raise NotFound("run")
            if not run.state.active:
                return run, Answered(await shown(tx, floor), run.branch)
        await tail.changed(tenant_id, run_id, (run.epoch, run.state, -1))


def refuse_ended(run: Run) -> FailedPrecondition:
    reason = "FLOOR_FAILED" if run.state is RunState.FAILED else "FLOOR_SEALED"
    return FailedPrecondition(reason, "The run has ended.", {"run_id": run.run_id, "state": run.state.value})


async def recover(env: Env, orphans: list[tuple[str, str]]) -> int:
    """Fails the floors that processes which are gone left GENERATING. -> how many"""
    return sum(
        [await _fail(env, tenant_id, run_id, RunState.RUNNING, CRASHED) for tenant_id, run_id in orphans]
    )


async def end_overdue(env: Env, rows: RunLog) -> int:
    """Fails the runs that have waited too long. -> how many"""
    overdue = await rows.overdue(env.clock(), _MANY)
    return sum(
        [await _fail(env, tenant_id, run_id, RunState.WAITING, LIMIT) for tenant_id, run_id in overdue]
    )


async def forget_logs(rows: RunLog, ended_before: datetime) -> int:
    """Removes the logs of runs that ended before. -> how many"""
    forgotten = 0
    while taken := await rows.forget(ended_before, _MANY):
        forgotten += taken
    return forgotten


async def _fail(env: Env, tenant_id: str, run_id: str, state: RunState, reason: str) -> bool:
    async def end(tx: WriteTx) -> bool:
        run = await tx.run(run_id)
        session = await tx.lock_session(run.session_id) if run else None
        # Read again under the lock: whoever held it may have ended the run.
        run = await tx.run(run_id)
        floor = await tx.floor(run.floor_id) if run else None
        if run is None or session is None or floor is None or run.state is not state:
            return False
        branch = await pending_branch(tx, floor)
        await fail(tx, env, session, floor, branch, reason, RunState.FAILED)
        return True

    return await env.store.write(tenant_id, end)


class Reconciliation:
    """Keeps the runs of this process and their rows in step.

    What disagrees at one look may be on its way; what still does at the next is not.
    """

    def __init__(self, env: Env, hub: RunHub) -> None:
        self._env = env
        self._hub = hub
        self._without_run: set[tuple[str, str]] = set()

    async def look(self, rows: list[tuple[str, str]]) -> None:
        """`rows`: the running runs that the database has for this process. A row whose run was lost (its
        end could not be written) is ended as CRASHED. The other way round is for the log to notice."""
        running = self._hub.run_ids
        without_run = {row for row in rows if row[1] not in running}
        await recover(self._env, sorted(without_run & self._without_run))
        self._without_run = without_run
