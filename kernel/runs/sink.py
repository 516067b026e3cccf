"""Makes the end of a run durable: one transaction, whatever the end is."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from kernel.errors import Unavailable
from kernel.generation.live import LiveRun
from kernel.generation.provider import FailureReason
from kernel.generation.sink import OutputDraft
from kernel.prompt.tokens import estimate
from kernel.tree.model import Branch, Floor, Page, Role, Slot, Usage
from kernel.verbs.answers import answer_of
from kernel.verbs.env import Env, Write, WriteTx
from kernel.verbs.floors import pending_branch, seal
from kernel.verbs.pages import MODEL, new_page, with_output
from kernel.verbs.pending import fail_floor
from kernel.verbs.records import Run, RunState, Session

T = TypeVar("T")

# Between tries to write an end while the database is away, in seconds.
_PAUSES = (0.2, 1.0, 3.0)
CANCELLED = "CANCELLED"


class RunOver(Exception):
    """The floor was ended by somebody else."""


class StoreSink:
    """`kernel.generation.sink.RunSink` on the store. Its ends are conditional on the run's state, so
    a run that was ended from outside writes nothing more."""

    def __init__(self, env: Env, tenant_id: str, live: LiveRun, tokens_in: int) -> None:
        self._env = env
        self._tenant = tenant_id
        self._live = live
        self._run_id = live.run_id
        self._tokens_in = tokens_in
        # The CancelRun that asked for the end: recorded with it (R1).
        self.cancelled_by: Write | None = None

    async def complete(self, draft: OutputDraft) -> tuple[Page, Floor, Branch]:
        floor, branch = await self._write(lambda tx: self._commit(tx, draft, RunState.COMMITTED, frames=2))
        assert floor.output is not None
        return floor.output, floor, branch

    async def cancelled(self, draft: OutputDraft, keep: bool) -> tuple[Floor, Branch | None]:
        async def end(tx: WriteTx) -> tuple[Floor, Branch]:
            if keep and not draft.empty:
                done = await self._commit(tx, draft, RunState.CANCELLED, frames=1)
            else:
                done = await self._fail(tx, draft, RunState.CANCELLED, CANCELLED)
            if self.cancelled_by is not None:
                await tx.record(self.cancelled_by.request, answer_of(*done))
            return done

        try:
            return await self._write(end)
        except RunOver:
            return await self._as_it_is(), None

    async def fail(self, draft: OutputDraft, reason: FailureReason) -> Floor:
        try:
            floor, _ = await self._write(lambda tx: self._fail(tx, draft, RunState.FAILED, reason.value))
        except RunOver:
            return await self._as_it_is()
        return floor

    async def _commit(
        self, tx: WriteTx, draft: OutputDraft, end: RunState, frames: int
    ) -> tuple[Floor, Branch]:
        session, run, floor = await self._locked(tx)
        floor = replace(with_output(floor, self._page(run, draft)), usage=self._usage(draft))
        assert floor.output is not None
        branch = await pending_branch(tx, floor)
        written = floor.output.tokens
        floor, branch = await seal(tx, self._env, session, floor, branch, floor.principal, written)
        await tx.update_run(self._ended(run, end, floor, branch, frames))
        return floor, branch

    async def _fail(
        self, tx: WriteTx, draft: OutputDraft, end: RunState, reason: str
    ) -> tuple[Floor, Branch]:
        session, run, floor = await self._locked(tx)
        page = self._page(run, replace(draft, partial=True)) if not draft.empty else None
        floor = replace(with_output(floor, page) if page else floor, usage=self._usage(draft))
        branch = await pending_branch(tx, floor)
        written = page.tokens if page is not None else 0
        floor, branch = await fail_floor(tx, self._env, session, floor, branch, reason, written)
        run = self._ended(run, end, floor, branch, frames=1)
        await tx.update_run(replace(run, failure_reason=reason if end is RunState.FAILED else ""))
        return floor, branch

    async def _locked(self, tx: WriteTx) -> tuple[Session, Run, Floor]:
        run = await tx.run(self._run_id)
        session = await tx.lock_session(run.session_id) if run else None
        # Read again under the lock: whoever held it may have ended the run.
        run = await tx.run(self._run_id)
        if run is None or session is None or run.state is not RunState.RUNNING or session.ended:
            raise RunOver
        floor = await tx.floor(run.floor_id)
        assert floor is not None, "a run's floor exists (foreign key)"
        return session, run, floor

    def _page(self, run: Run, draft: OutputDraft) -> Page:
        content = self._env.codec.text(Role.ASSISTANT, draft.text, draft.reasoning)
        page = new_page(
            self._env,
            run.floor_id,
            Slot.OUTPUT,
            content,
            page_id=run.page_id,
            partial=draft.partial,
            source=MODEL,
        )
        assert page is not None, "one message of text makes a page"
        return page

    def _usage(self, draft: OutputDraft) -> Usage:
        if draft.usage is not None:
            return draft.usage
        return Usage(self._tokens_in, estimate(draft.text + draft.reasoning), estimated=True)

    def _ended(self, run: Run, end: RunState, floor: Floor, branch: Branch, frames: int) -> Run:
        return replace(
            run,
            state=end,
            usage=floor.usage,
            last_seq=self._live.last_seq + frames,
            branch=branch,
            end_time=self._env.clock(),
        )

    async def _as_it_is(self) -> Floor:
        """The floor as somebody else ended it. Notes where the last frame stands, which only this process
        knows: a repeat of the request is answered with that frame."""

        async def note(tx: WriteTx) -> Floor:
            run = await tx.run(self._run_id)
            session = await tx.lock_session(run.session_id) if run else None
            run = await tx.run(self._run_id)
            floor = await tx.floor(run.floor_id) if run else None
            if run is None or session is None or floor is None:
                raise RunOver
            if not run.last_seq:
                await tx.update_run(replace(run, last_seq=self._live.last_seq + 1))
            if run.state is RunState.CANCELLED:
                # Abandoned in another process: so the last frame says what the row says.
                self._live.cancel(keep=False)
            return floor

        return await self._write(note)

    async def _write(self, work: Callable[[WriteTx], Awaitable[T]]) -> T:
        for pause in _PAUSES:
            try:
                return await self._env.store.write(self._tenant, work)
            except Unavailable:
                await asyncio.sleep(pause)
        return await self._env.store.write(self._tenant, work)
