"""Makes what becomes of a run durable: one transaction, whatever it is."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from kernel.generation.events import RequiresAction, RunEvent
from kernel.generation.lease import Lease, held, write_patiently
from kernel.generation.live import LiveRun
from kernel.generation.provider import FailureReason
from kernel.generation.sink import PageDraft, RunOver
from kernel.prompt.tokens import TokenCounter
from kernel.runs.log import KEEP, ChunkLog, remaining
from kernel.runs.plan import plan_from, plan_text
from kernel.tree.message import Message
from kernel.tree.model import Branch, Floor, FloorState, Page, Slot, Usage
from kernel.verbs.effects import Given, checked
from kernel.verbs.env import Env, WriteTx
from kernel.verbs.floors import pending_branch, seal
from kernel.verbs.pages import MODEL, new_page, showable, with_output
from kernel.verbs.pending import fail_floor, keep_partials
from kernel.verbs.records import Run, RunState, Session

T = TypeVar("T")
EffectsOf = Callable[[tuple[Message, ...]], Given | None]

CANCELLED = "CANCELLED"


class StoreSink:
    """`kernel.generation.sink.RunSink` on the store.

    Args:
        tokens_in: Of the context, for a provider that counts nothing.
        counter: Counts the answer for such a provider.
        effects_of: What the messages of a page do to the state.
        wait: How long a run may wait.
        before: What the run took until it waited.
    """

    def __init__(
        self,
        env: Env,
        lease: Lease,
        live: LiveRun,
        log: ChunkLog,
        *,
        tokens_in: int,
        counter: TokenCounter,
        effects_of: EffectsOf,
        wait: timedelta,
        before: Usage | None = None,
    ) -> None:
        self._env = env
        self._lease = lease
        self._live = live
        self._log = log
        self._tokens_in = tokens_in
        self._counter = counter
        self._effects_of = effects_of
        self._wait = wait
        self._before = before

    async def complete(self, draft: PageDraft) -> tuple[Page, Floor, Branch]:
        async def end(tx: WriteTx) -> tuple[Floor, Branch]:
            session, run, floor = await self._held(tx)
            page = await self._page(tx, floor, draft)
            return await self._commit(tx, session, run, floor, page, [draft], RunState.COMMITTED)

        floor, branch = await self._last(end)
        assert floor.output is not None
        return floor.output, floor, branch

    async def keep_page(self, draft: PageDraft) -> Page:
        async def keep(tx: WriteTx) -> Page:
            session, _, floor = await self._held(tx)
            kept = {page.page_id: page for _, page in await tx.pages(floor.floor_id)}
            if draft.page_id in kept:
                # By a try of which nothing was heard.
                return kept[draft.page_id]
            page = await self._page(tx, floor, draft)
            showable(with_output(floor, page))
            await tx.insert_page(floor.floor_id, session.session_id, page)
            await tx.touch_session(session.session_id, page.tokens)
            return page

        return await self._write(keep)

    async def hold(self, chosen: Page, drafts: Sequence[PageDraft]) -> Floor:
        async def end(tx: WriteTx) -> Floor:
            _, run, floor = await self._held(tx)
            floor = replace(with_output(floor, chosen), state=FloorState.OPEN, usage=self._usage(drafts))
            if floor.input is not None:
                known = {page.page_id for _, page in await tx.pages(floor.floor_id)}
                if floor.input.page_id not in known:
                    await tx.insert_page(floor.floor_id, floor.session_id, floor.input)
            await tx.update_pending(floor)
            run = replace(run, page_id=chosen.page_id)
            await tx.update_run(await self._ended(tx, run, RunState.HELD, floor, None))
            return floor

        return await self._last(end)

    async def pause(
        self, actions: Sequence[RequiresAction], failed: Sequence[str], drafts: Sequence[PageDraft]
    ) -> bool:
        async def end(tx: WriteTx) -> str:
            _, run, _ = await self._held(tx)
            if run.asked:
                return run.asked
            plan = plan_from(run.plan)
            plan = replace(plan, failed=(*plan.failed, *failed))
            await self._keep_log(tx, run, actions)
            waiting = replace(run, state=RunState.WAITING, plan=plan_text(plan), usage=self._usage(drafts))
            await tx.update_run(replace(waiting, wait_time=self._env.clock() + self._wait))
            return ""

        asked = await self._last(end)
        if asked:
            self._live.cancel(keep=asked == KEEP)
        return not asked

    async def cancelled(self, drafts: Sequence[PageDraft], keep: bool) -> tuple[Floor, Branch | None]:
        async def end(tx: WriteTx) -> tuple[Floor, Branch]:
            session, run, floor = await self._held(tx)
            page = await self._kept_page(tx, floor, drafts) if keep else None
            if page is None:
                return await self._fail(tx, drafts, RunState.CANCELLED, CANCELLED)
            await keep_partials(tx, floor, await self._pages(tx, floor, drafts, without=page.page_id))
            return await self._commit(tx, session, run, floor, page, drafts, RunState.CANCELLED)

        try:
            return await self._last(end)
        except RunOver:
            return await self._as_it_is(), None

    async def fail(self, drafts: Sequence[PageDraft], reason: FailureReason) -> Floor:
        try:
            floor, _ = await self._last(lambda tx: self._fail(tx, drafts, RunState.FAILED, reason.value))
        except RunOver:
            return await self._as_it_is()
        return floor

    async def _commit(
        self,
        tx: WriteTx,
        session: Session,
        run: Run,
        floor: Floor,
        page: Page,
        drafts: Sequence[PageDraft],
        end: RunState,
    ) -> tuple[Floor, Branch]:
        stored = {kept.page_id for _, kept in await tx.pages(floor.floor_id)}
        floor = replace(with_output(floor, page), usage=self._usage(drafts))
        branch = await pending_branch(tx, floor)
        written = 0 if page.page_id in stored else page.tokens
        floor, branch = await seal(tx, self._env, session, floor, branch, floor.principal, written)
        await tx.update_run(await self._ended(tx, run, end, floor, branch))
        return floor, branch

    async def _fail(
        self, tx: WriteTx, drafts: Sequence[PageDraft], end: RunState, reason: str
    ) -> tuple[Floor, Branch]:
        session, run, floor = await self._held(tx)
        pages = await self._pages(tx, floor, drafts)
        floor, written = await keep_partials(tx, replace(floor, usage=self._usage(drafts)), pages, show=True)
        branch = await pending_branch(tx, floor)
        floor, branch = await fail_floor(tx, self._env, session, floor, branch, reason, written)
        run = await self._ended(tx, run, end, floor, branch)
        await tx.update_run(replace(run, failure_reason=reason if end is RunState.FAILED else ""))
        return floor, branch

    async def _kept_page(self, tx: WriteTx, floor: Floor, drafts: Iterable[PageDraft]) -> Page | None:
        """What a cancelled run commits: a candidate that is whole, else the first that was begun."""
        of_run = {page.page_id for page in plan_from((await self._held(tx))[1].plan).pages}
        for _, page in await tx.pages(floor.floor_id):
            if page.page_id in of_run and page.slot is Slot.OUTPUT and not page.partial:
                return page
        begun = next((draft for draft in drafts if not draft.empty), None)
        return await self._page(tx, floor, begun) if begun is not None else None

    async def _pages(
        self, tx: WriteTx, floor: Floor, drafts: Sequence[PageDraft], without: str = ""
    ) -> list[Page]:
        begun = [draft for draft in drafts if not draft.empty and draft.page_id != without]
        return [await self._page(tx, floor, replace(draft, partial=True)) for draft in begun]

    async def _page(self, tx: WriteTx, floor: Floor, draft: PageDraft) -> Page:
        page = new_page(
            self._env,
            floor.floor_id,
            Slot.OUTPUT,
            self._env.codec.page(draft.messages),
            page_id=draft.page_id,
            partial=draft.partial,
            source=MODEL,
        )
        assert page is not None, "a draft that is not empty makes a page"
        given = self._effects_of(draft.messages)
        if given is None:
            return page
        parent = await tx.floor(floor.parent_floor_id or "")
        assert parent is not None
        return replace(page, effects=await checked(tx, parent, given))

    def _usage(self, drafts: Sequence[PageDraft]) -> Usage:
        counts = [
            draft.usage or Usage(self._tokens_in, self._counter.count(draft.all_text), estimated=True)
            for draft in drafts
        ]
        # An estimate is made of the whole page: it has the earlier epochs' share already.
        if self._before is not None and not self._before.estimated:
            counts.append(self._before)
        return Usage(
            sum(count.tokens_in for count in counts),
            sum(count.tokens_out for count in counts),
            any(count.estimated for count in counts),
        )

    async def _held(self, tx: WriteTx) -> tuple[Session, Run, Floor]:
        return await held(tx, self._lease)

    async def _ended(self, tx: WriteTx, run: Run, end: RunState, floor: Floor, branch: Branch | None) -> Run:
        await self._keep_log(tx, run)
        frames = 2 if end is RunState.COMMITTED else 1
        return replace(
            run,
            state=end,
            usage=floor.usage,
            last_seq=self._live.last_seq + frames,
            branch=branch,
            end_time=self._env.clock(),
        )

    async def _keep_log(self, tx: WriteTx, run: Run, further: Sequence[RunEvent] = ()) -> None:
        chunk = await remaining(tx, run, self._live, further)
        if chunk is not None:
            await tx.insert_chunk(self._lease.session_id, chunk)

    async def _as_it_is(self) -> Floor:
        """The floor as somebody else ended it. RunOver when another process has the run, or what became of
        it."""

        async def look(tx: WriteTx) -> Floor:
            session = await tx.lock_session(self._lease.session_id)
            run = await tx.run(self._lease.run_id)
            floor = await tx.floor(run.floor_id) if run else None
            if run is None or session is None or floor is None or run.epoch != self._lease.epoch:
                raise RunOver
            if run.state is RunState.CANCELLED:
                # Abandoned meanwhile: so the last frame says what the row says.
                self._live.cancel(keep=False)
            return floor

        return await self._write(look)

    async def _last(self, work: Callable[[WriteTx], Awaitable[T]]) -> T:
        """With the frames of the run: nobody else writes them now."""
        await self._log.hand_over(self._live)
        try:
            return await self._write(work)
        finally:
            self._log.take_back(self._live)

    async def _write(self, work: Callable[[WriteTx], Awaitable[T]]) -> T:
        return await write_patiently(self._env, self._lease, work)
