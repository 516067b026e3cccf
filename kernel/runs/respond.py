"""Respond: a floor is opened as GENERATING, and a run that belongs to the server writes it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel.errors import NotFound, Unavailable, invalid
from kernel.generation.events import Started
from kernel.generation.live import LiveRun
from kernel.prompt.config import Config
from kernel.runs.context import MAX_CONTEXT_BYTES, Assembled, Place, assemble, record_of
from kernel.runs.counting import sent_of
from kernel.runs.plan import Candidate, Plan, plan_text
from kernel.runs.start import Begin, Generation, start
from kernel.telemetry.metrics import Sent
from kernel.tree.message import ToolCall
from kernel.tree.model import Branch, Floor, FloorState, PageContent, Slot
from kernel.verbs import configs
from kernel.verbs.answers import before, last_message
from kernel.verbs.env import Env, Target, Write, WriteTx, session_of_floor, writable
from kernel.verbs.floors import freed_by_name, pending_branch, sibling_source
from kernel.verbs.moves import expect_head, head_floor
from kernel.verbs.pages import MAX_SHOWN, child_place, new_floor, new_page, shown_size
from kernel.verbs.pending import free_branch, open_pending, refuse_sealed
from kernel.verbs.records import Answer, Run, RunState, Session

# Of the output's one message, and what an answer needs at the least.
_FRAMING, _LEAST_ROOM = 1024, 64 * 1024


@dataclass(frozen=True, slots=True)
class Input:
    """A new turn; None: the model goes on by itself."""

    content: PageContent | None


@dataclass(frozen=True, slots=True)
class Edited:
    floor_id: str
    content: PageContent


@dataclass(frozen=True, slots=True)
class Regenerated:
    floor_id: str


@dataclass(frozen=True, slots=True)
class Resumed:
    floor_id: str


Action = Input | Edited | Regenerated | Resumed


@dataclass(frozen=True, slots=True)
class Wish:
    """How the run is to be: `overrides` over the session's configuration; `hold`: do not commit;
    `candidates`, one for each page, at least one."""

    overrides: Config
    candidates: tuple[Candidate, ...] = (Candidate(),)
    hold: bool = False
    ends_with_caller: bool = False


@dataclass(frozen=True, slots=True)
class _Opened:
    run: Run
    before: str
    last_input: str
    begin: Begin
    sent: Sent


@dataclass(frozen=True, slots=True)
class Responding:
    """A run to watch. `before` is the id of the message before its floor's first, `last_input` that of its
    input's last, if it has an input. `live`: it was started by this call, and is watched here."""

    run: Run
    before: str
    last_input: str
    live: LiveRun | None = None


@dataclass(slots=True)
class _Opening:
    """The run that a call opens. The call may be cancelled while it waits; the floor is opened all the
    same, and so the run is started with the commit, not when the call hears of it: a floor that nobody
    writes would block its branch."""

    ends_with_caller: bool
    live: LiveRun | None = None
    _left: bool = False

    def started(self, live: LiveRun) -> None:
        self.live = live
        self._settle()

    def caller_left(self) -> None:
        self._left = True
        self._settle()

    def _settle(self) -> None:
        if self.ends_with_caller and self._left and self.live is not None:
            self.live.cancel(keep=True)


async def respond(
    env: Env, generation: Generation, write: Write, target: Target, action: Action, wish: Wish
) -> Responding:
    """The run that the request names: started, or joined by a repeat.

    Everything that can be refused is refused before a floor is opened. With `ends_with_caller`, a call
    that is cancelled in here cancels the run that it opens; from the return on, that is the caller's to do.
    """
    if not isinstance(action, Input):
        session_id = await session_of_floor(env, write, action.floor_id, target.session_id)
        target = replace(target, session_id=session_id)

    opening = _Opening(wish.ends_with_caller)

    async def attempt(tx: WriteTx) -> _Opened | str:
        session = await tx.lock_session(target.session_id)
        answer = await tx.answer(write.request)
        if answer is not None:
            return answer.run_id
        opened = await _open(tx, env, generation, write, writable(session), target, action, wish)
        tx.after_commit(lambda: opening.started(start(env, generation, opened.begin)))
        tx.after_commit(lambda: generation.figures.sent(opened.sent))
        return opened

    try:
        opened = await env.store.write(write.caller.tenant_id, attempt, target.session_id)
    except asyncio.CancelledError:
        opening.caller_left()
        raise
    if isinstance(opened, str):
        return await watched(env, write.caller.tenant_id, opened)
    return Responding(opened.run, opened.before, opened.last_input, opening.live)


async def watched(env: Env, tenant_id: str, run_id: str) -> Responding:
    """A run with what its frames need; NOT_FOUND when there is none."""
    async with env.store.reading(tenant_id) as tx:
        run = await tx.run(run_id)
        floor = await tx.floor(run.floor_id) if run else None
        if run is None or floor is None:
            raise NotFound("run")
        return Responding(run, await before(tx, floor), _last_input(floor))


async def _open(
    tx: WriteTx,
    env: Env,
    generation: Generation,
    write: Write,
    session: Session,
    target: Target,
    action: Action,
    wish: Wish,
) -> _Opened:
    if not generation.hub.accepting:
        raise Unavailable("UNAVAILABLE", "The server is stopping. Retry with the same request_id.")
    config = (await configs.of_session(tx, session, wish.overrides)).config
    generation.providers.of(config.model, write.caller.tenant_id)
    run_id = env.new_id()
    floor, parent, branch, opens = await _floor(tx, env, write, session, target, action)
    standing = await generation.standing(tx, action.floor_id) if isinstance(action, Regenerated) else ()
    stored = isinstance(action, Resumed)
    floor = replace(floor, state=FloorState.GENERATING, run_id=run_id)
    room = MAX_SHOWN - _FRAMING - shown_size([floor.input])
    if room < _LEAST_ROOM:
        raise invalid("input", "leaves no room for an answer: both sides of a floor take at most 3.9 MiB")
    pending = [floor.input] if floor.input is not None else []
    place = Place(parent, floor.floor_id, pending, stored or isinstance(action, Regenerated))
    assembled = await assemble(tx, env.codec, session, wish.overrides, place, MAX_CONTEXT_BYTES)
    if stored:
        await tx.update_pending(floor)
    else:
        await open_pending(tx, env, session, branch, floor, opens)
    pages = tuple(replace(candidate, page_id=env.new_id()) for candidate in wish.candidates)
    plan = Plan(pages, config, wish.hold or len(pages) > 1, room)
    run = _run(env, generation, floor, run_id, plan)
    await tx.insert_run(run)
    # With the floor, not with its end: whatever ends the run, also a crash, finds what it was sent.
    await tx.insert_prompt(record_of(assembled, floor))
    await tx.record(write.request, Answer(session.session_id, floor.floor_id, run_id=run_id))
    context = assembled.context
    begin = Begin(
        write.caller.tenant_id,
        run,
        plan,
        env.codec.messages(context.blob),
        context.selection.tokens_in,
        _started(assembled, standing),
    )
    sent = sent_of(session.project_id, assembled)
    return _Opened(run, await before(tx, floor), _last_input(floor), begin, sent)


def _started(assembled: Assembled, standing: Sequence[ToolCall]) -> Started:
    context = assembled.context
    left_out = len(context.selection.left_out)
    return Started(context.digest, context.selection.tokens_in, left_out, tuple(standing))


def _run(env: Env, generation: Generation, floor: Floor, run_id: str, plan: Plan) -> Run:
    return Run(
        run_id=run_id,
        session_id=floor.session_id,
        floor_id=floor.floor_id,
        page_id=plan.pages[0].page_id,
        state=RunState.RUNNING,
        failure_reason="",
        usage=None,
        owner=generation.owner,
        last_seq=0,
        branch=None,
        create_time=env.clock(),
        end_time=None,
        plan=plan_text(plan),
    )


async def _floor(
    tx: WriteTx, env: Env, write: Write, session: Session, target: Target, action: Action
) -> tuple[Floor, Floor, Branch, bool]:
    """The floor to generate, its parent, its branch, and whether it opens a segment."""
    if isinstance(action, Resumed):
        return await _resumed(tx, target, action)
    source = None
    if isinstance(action, Edited | Regenerated):
        freed = await freed_by_name(tx, env, session, target, action.floor_id)
        source, parent = await sibling_source(tx, action.floor_id)
        branch = freed or await free_branch(tx, env, session, target)
    else:
        branch = await free_branch(tx, env, session, target)
        parent = await head_floor(tx, branch)
    place = await child_place(tx, parent)
    floor = new_floor(env, parent, place, write.caller.principal, branch.name)
    if source is not None and isinstance(action, Regenerated):
        page = source.input
    else:
        content = action.content if isinstance(action, Input | Edited) else None
        page = new_page(env, floor.floor_id, Slot.INPUT, content)
    return replace(floor, input=page), parent, branch, place.opens_segment


async def _resumed(tx: WriteTx, target: Target, action: Resumed) -> tuple[Floor, Floor, Branch, bool]:
    floor = await tx.floor(action.floor_id)
    if floor is None:
        raise NotFound("floor")
    refuse_sealed(floor)
    branch = await pending_branch(tx, floor)
    expect_head(branch, target)
    parent = await tx.floor(floor.parent_floor_id or "")
    assert parent is not None
    return floor, parent, branch, False


def _last_input(floor: Floor) -> str:
    return last_message(replace(floor, output=None))
