"""Respond: a floor is opened as GENERATING, and a run that belongs to the server writes it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernel.errors import FailedPrecondition, NotFound, Unavailable, invalid
from kernel.generation import events, runner
from kernel.generation.hub import RunHub
from kernel.generation.live import EPOCH, LiveRun
from kernel.generation.provider import ChatRequest, FailureReason
from kernel.generation.registry import Providers
from kernel.prompt.config import Config
from kernel.runs.context import MAX_CONTEXT_BYTES, Assembled, Place, assemble, record_of
from kernel.runs.shown import ShownRun
from kernel.runs.sink import StoreSink
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
class Generation:
    """What runs need besides the tree: the providers, the runs of this process, its name."""

    providers: Providers
    hub: RunHub
    sinks: dict[str, StoreSink]
    owner: str
    limits: runner.RunLimits


@dataclass(frozen=True, slots=True)
class _Opened:
    run: Run
    before: str
    last_input: str
    # Bytes that the output may take beside the input.
    room: int
    assembled: Assembled
    config: Config


@dataclass(frozen=True, slots=True)
class Responding:
    """A run to watch: live in this process, or its last frames. `before` is the id of the message
    before its floor's first, `last_input` that of its input's last, if it has an input."""

    run_id: str
    floor_id: str
    before: str
    last_input: str
    live: LiveRun | None
    frames: Sequence[events.Frame] = ()


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
    env: Env,
    generation: Generation,
    write: Write,
    target: Target,
    action: Action,
    overrides: Config,
    *,
    ends_with_caller: bool = False,
) -> Responding:
    """The run, or the last frames of one that has ended and is no longer here.

    Everything that can be refused is refused before a floor is opened. A repeat of the request
    joins its run. With `ends_with_caller`, a call that is cancelled in here cancels the run that it
    opens; from the return on, that is the caller's to do.
    """
    if not isinstance(action, Input):
        session_id = await session_of_floor(env, write, action.floor_id, target.session_id)
        target = replace(target, session_id=session_id)

    opening = _Opening(ends_with_caller)

    async def attempt(tx: WriteTx) -> _Opened | str:
        session = await tx.lock_session(target.session_id)
        answer = await tx.answer(write.request)
        if answer is not None:
            return answer.run_id
        opened = await _open(tx, env, generation, write, writable(session), target, action, overrides)
        tx.after_commit(lambda: opening.started(_start(env, generation, write, opened)))
        return opened

    try:
        opened = await env.store.write(write.caller.tenant_id, attempt, target.session_id)
    except asyncio.CancelledError:
        opening.caller_left()
        raise
    if isinstance(opened, str):
        return await _join(env, generation, write, opened)
    run = opened.run
    return Responding(run.run_id, run.floor_id, opened.before, opened.last_input, opening.live)


async def _open(
    tx: WriteTx,
    env: Env,
    generation: Generation,
    write: Write,
    session: Session,
    target: Target,
    action: Action,
    overrides: Config,
) -> _Opened:
    if not generation.hub.accepting:
        raise Unavailable("UNAVAILABLE", "The server is stopping. Retry with the same request_id.")
    config = (await configs.of_session(tx, session, overrides)).config
    generation.providers.get(config.model.provider)
    run_id = env.new_id()
    floor, parent, branch, opens = await _floor(tx, env, write, session, target, action)
    stored = isinstance(action, Resumed)
    floor = replace(floor, state=FloorState.GENERATING, run_id=run_id)
    room = MAX_SHOWN - _FRAMING - shown_size([floor.input])
    if room < _LEAST_ROOM:
        raise invalid("input", "leaves no room for an answer: both sides of a floor take at most 3.9 MiB")
    pending = [floor.input] if floor.input is not None else []
    place = Place(parent, floor.floor_id, pending, stored or isinstance(action, Regenerated))
    assembled = await assemble(tx, env.codec, session, overrides, place, MAX_CONTEXT_BYTES)
    if stored:
        await tx.update_pending(floor)
    else:
        await open_pending(tx, env, session, branch, floor, opens)
    run = Run(
        run_id=run_id,
        session_id=session.session_id,
        floor_id=floor.floor_id,
        page_id=env.new_id(),
        state=RunState.RUNNING,
        failure_reason="",
        usage=None,
        owner=generation.owner,
        last_seq=0,
        branch=None,
        create_time=env.clock(),
        end_time=None,
    )
    await tx.insert_run(run)
    # With the floor, not with its end: whatever ends the run, also a crash, finds what it was sent.
    await tx.insert_prompt(record_of(assembled, floor))
    await tx.record(write.request, Answer(session.session_id, floor.floor_id, run_id=run_id))
    return _Opened(run, await before(tx, floor), _last_input(floor), room, assembled, config)


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


def _start(env: Env, generation: Generation, write: Write, opened: _Opened) -> LiveRun:
    run, context = opened.run, opened.assembled.context
    live = ShownRun(run.run_id, run.floor_id)
    sink = StoreSink(env, write.caller.tenant_id, live, context.selection.tokens_in)
    generation.sinks[run.run_id] = sink
    request = ChatRequest(env.codec.messages(context.blob), opened.config.model)
    provider = generation.providers.get(opened.config.model.provider)
    started = events.Started(context.digest, context.selection.tokens_in, len(context.selection.left_out))

    async def drive() -> None:
        try:
            await runner.run(
                live,
                provider,
                request,
                sink,
                started=started,
                page_id=run.page_id,
                limits=replace(generation.limits, max_bytes=min(generation.limits.max_bytes, opened.room)),
            )
        finally:
            generation.sinks.pop(run.run_id, None)

    return generation.hub.start(live, drive())


async def _join(env: Env, generation: Generation, write: Write, run_id: str) -> Responding:
    # Looked up first: a run that ends in between is in the hub still.
    live = generation.hub.get(run_id)
    async with env.store.reading(write.caller.tenant_id) as tx:
        run = await tx.run(run_id)
        floor = await tx.floor(run.floor_id) if run else None
        if run is None or floor is None:
            raise NotFound("run")
        previous = await before(tx, floor)
    frames = () if live is not None else last_frames(run, floor)
    return Responding(run_id, run.floor_id, previous, _last_input(floor), live, frames)


def _last_input(floor: Floor) -> str:
    return last_message(replace(floor, output=None))


def last_frames(run: Run, floor: Floor) -> Sequence[events.Frame]:
    """How an ended run ended, at the positions it had; UNAVAILABLE while it runs elsewhere."""
    ending: list[events.RunEvent]
    match run.state:
        case RunState.RUNNING:
            raise Unavailable(
                "UNAVAILABLE",
                "The run is in another process, or being recovered. Retry with the same request_id.",
            )
        case RunState.COMMITTED:
            assert floor.output is not None
            assert run.branch is not None
            ending = [events.PageCompleted(floor.output), events.FloorCommitted(floor, run.branch)]
        case RunState.FAILED:
            ending = [events.Failed(FailureReason(run.failure_reason), floor)]
        case RunState.CANCELLED:
            ending = [events.Cancelled(floor, run.branch)]
    first = max(run.last_seq, len(ending)) - len(ending) + 1
    return [events.Frame(EPOCH, first + offset, event) for offset, event in enumerate(ending)]


def refuse_ended(run: Run) -> FailedPrecondition:
    reason = "FLOOR_FAILED" if run.state is RunState.FAILED else "FLOOR_SEALED"
    return FailedPrecondition(reason, "The run has ended.", {"run_id": run.run_id, "state": run.state.value})
