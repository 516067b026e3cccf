"""Runs from outside: reading, cancelling, being told of an end, ending what a dead process left."""

import asyncio

from kernel.errors import NotFound, Unavailable
from kernel.generation import events
from kernel.generation.hub import RunHub
from kernel.runs.respond import Generation, refuse_ended
from kernel.runs.shown import ShownRun
from kernel.tree.model import PageContent, Role
from kernel.verbs.answers import Answered, answered
from kernel.verbs.env import Caller, Codec, Env, Write, WriteTx
from kernel.verbs.floors import pending_branch
from kernel.verbs.pending import fail
from kernel.verbs.records import Run, RunState

CRASHED = "CRASHED"


class HubRuns:
    """`kernel.verbs.env.LiveRuns` over the runs of this process."""

    def __init__(self, hub: RunHub, codec: Codec) -> None:
        self._hub = hub
        self._codec = codec

    def partial(self, run_id: str) -> PageContent | None:
        live = self._hub.get(run_id)
        if isinstance(live, ShownRun) and not live.closed:
            # Until this transaction is over, however it ends: then it is known whether to go on.
            task = asyncio.current_task()
            assert task is not None
            live.hold()
            task.add_done_callback(lambda _: live.release())
        shown = live.frames if live is not None else ()
        text = "".join(f.event.text for f in shown if isinstance(f.event, events.TextDelta))
        reasoning = "".join(f.event.text for f in shown if isinstance(f.event, events.ReasoningDelta))
        return self._codec.text(Role.ASSISTANT, text, reasoning) if text.strip() else None

    def ended(self, run_id: str) -> None:
        live = self._hub.get(run_id)
        if isinstance(live, ShownRun):
            live.give_up()


async def get_run(env: Env, caller: Caller, run_id: str) -> Run:
    async with env.store.reading(caller.tenant_id) as tx:
        run = await tx.run(run_id)
    if run is None:
        raise NotFound("run")
    return run


async def cancel_run(
    env: Env, generation: Generation, write: Write, run_id: str, keep: bool
) -> tuple[Run, Answered]:
    """Ends a run, and returns when its end is durable.

    FAILED_PRECONDITION when it had ended already; UNAVAILABLE when another process runs it.
    """
    run = await get_run(env, write.caller, run_id)
    if (replayed := await _replayed(env, write, run_id)) is not None:
        return replayed
    if run.state is not RunState.RUNNING:
        raise refuse_ended(run)
    live, sink = generation.hub.get(run_id), generation.sinks.get(run_id)
    if sink is not None and live is not None and sink.cancelled_by is None and live.interrupt is None:
        sink.cancelled_by = write
        live.cancel(keep)
    if live is not None:
        await live.wait_closed()
    # Looked up again: the run may have ended since it was read, by a concurrent twin of this call, too.
    if (done := await _replayed(env, write, run_id)) is not None:
        return done
    run = await get_run(env, write.caller, run_id)
    if run.state is RunState.RUNNING:
        raise Unavailable("UNAVAILABLE", "The run is in another process, or being recovered. Retry later.")
    raise refuse_ended(run)


async def _replayed(env: Env, write: Write, run_id: str) -> tuple[Run, Answered] | None:
    async with env.store.reading(write.caller.tenant_id) as tx:
        answer = await tx.answer(write.request)
        if answer is None:
            return None
        run = await tx.run(run_id)
        if run is None:
            raise NotFound("run")
        return run, await answered(tx, answer)


async def recover(env: Env, orphans: list[tuple[str, str]]) -> int:
    """Fails the floors that processes which are gone left GENERATING. -> how many"""
    ended = 0
    for tenant_id, run_id in orphans:

        async def end(tx: WriteTx, run_id: str = run_id) -> bool:
            run = await tx.run(run_id)
            session = await tx.lock_session(run.session_id) if run else None
            run = await tx.run(run_id)
            floor = await tx.floor(run.floor_id) if run else None
            if run is None or session is None or floor is None or run.state is not RunState.RUNNING:
                return False
            branch = await pending_branch(tx, floor)
            await fail(tx, env, session, floor, branch, CRASHED, RunState.FAILED)
            return True

        ended += await env.store.write(tenant_id, end)
    return ended


class Reconciliation:
    """Keeps the runs of this process and their rows in step.

    What disagrees at one look may be on its way; what still does at the next is not.
    """

    def __init__(self, env: Env, hub: RunHub) -> None:
        self._env = env
        self._hub = hub
        self._without_run: set[tuple[str, str]] = set()
        self._without_row: set[str] = set()

    async def look(self, rows: list[tuple[str, str]]) -> None:
        """`rows`: the running runs that the database has for this process.

        A row whose run was lost (its end could not be written) is ended as CRASHED. A run whose row
        has ended (somebody abandoned its floor in another process) is stopped.
        """
        running = self._hub.run_ids
        without_run = {row for row in rows if row[1] not in running}
        without_row = running - {run_id for _, run_id in rows}
        await recover(self._env, sorted(without_run & self._without_run))
        for run_id in without_row & self._without_row:
            live = self._hub.get(run_id)
            if live is not None:
                live.cancel(keep=False)
        self._without_run, self._without_row = without_run, without_row
