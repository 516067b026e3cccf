"""Starting a run, or one epoch of it, as a task of this process."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from kernel.generation.events import Started
from kernel.generation.hub import RunHub
from kernel.generation.lease import Lease
from kernel.generation.live import LiveRun
from kernel.generation.pages import PagePlan
from kernel.generation.provider import ChatRequest
from kernel.generation.registry import Providers
from kernel.generation.runner import RunLimits, Runner, RunPlan
from kernel.generation.so_far import PagesSoFar
from kernel.generation.tools import Toolbox
from kernel.prompt.config import Config, ModelConfig
from kernel.prompt.tokens import COUNTERS
from kernel.runs.counting import NOBODY, Timed, counted
from kernel.runs.log import ChunkLog
from kernel.runs.plan import Candidate, Plan
from kernel.runs.shown import ShownRun
from kernel.runs.sink import StoreSink
from kernel.telemetry.metrics import Figures
from kernel.tree.message import Message, Text, ToolCall
from kernel.tree.model import Page, Role
from kernel.verbs.effects import Given
from kernel.verbs.env import Env, ReadTx
from kernel.verbs.records import Run

Tools = Callable[[Env, Lease, Config, RunLimits], Toolbox]
EffectsOf = Callable[[Sequence[Message], Config], Given | None]
Standing = Callable[[ReadTx, str], Awaitable[tuple[ToolCall, ...]]]


@dataclass(frozen=True, slots=True)
class Generation:
    """What runs need besides the tree: the providers, the tools, the runs of this process and their log,
    its name. `tools` makes the toolbox of a run, `effects_of` says what a page's calls do to the state,
    `standing` which calls of a floor a regenerate does not undo; `figures` are told what runs do."""

    providers: Providers
    hub: RunHub
    log: ChunkLog
    owner: str
    limits: RunLimits
    tools: Tools
    effects_of: EffectsOf
    standing: Standing
    figures: Figures = NOBODY


@dataclass(frozen=True, slots=True)
class Begin:
    """An epoch to start: `messages` are the context's. `started` is None for a run that goes on, which has
    written `so_far`, completed the pages `done`, and has `chosen` the first of them."""

    tenant_id: str
    run: Run
    plan: Plan
    messages: tuple[Message, ...]
    tokens_in: int
    started: Started | None
    so_far: PagesSoFar | None = None
    done: frozenset[str] = frozenset()
    chosen: Page | None = None


def check(generation: Generation, begin: Begin) -> None:
    """Raises what `start` would, while it can be refused still: Invalid, or FailedPrecondition, when a
    provider may not be asked any more."""
    for page in begin.plan.pages:
        generation.providers.of(_model(begin, page), begin.tenant_id)


def start(env: Env, generation: Generation, begin: Begin) -> LiveRun:
    """Starts it; the run's row says already that it is this process's."""
    run, plan = begin.run, begin.plan
    lease = Lease(begin.tenant_id, run.run_id, run.session_id, run.owner, run.epoch)
    live = ShownRun(run.run_id, run.floor_id, tenant_id=begin.tenant_id, epoch=run.epoch, so_far=begin.so_far)
    base = generation.limits
    limits = replace(base, max_bytes=min(base.max_bytes, plan.room))
    sink = StoreSink(
        env,
        lease,
        live,
        generation.log,
        tokens_in=begin.tokens_in,
        counter=COUNTERS.of(plan.config.model.name),
        effects_of=lambda messages: generation.effects_of(messages, plan.config),
        wait=timedelta(seconds=limits.wait_seconds),
        before=run.usage,
    )
    pages = tuple(_page(generation, begin, page) for page in plan.pages if page.page_id not in plan.failed)
    runner = Runner(
        live,
        RunPlan(pages, begin.started, plan.hold, begin.done, begin.chosen),
        generation.tools(env, lease, plan.config, limits),
        sink,
        limits,
        lambda: generation.hub.window(limits.window_seconds),
    )
    return generation.hub.start(live, counted(live, runner.run(), generation.figures))


def _model(begin: Begin, page: Candidate) -> ModelConfig:
    return ModelConfig(name=page.model or None, temperature=page.temperature).over(begin.plan.config.model)


def _page(generation: Generation, begin: Begin, page: Candidate) -> PagePlan:
    model, messages = _model(begin, page), begin.messages
    if page.instruction:
        messages = (*messages, Message(Role.SYSTEM, (Text(page.instruction),)))
    provider = generation.providers.of(model, begin.tenant_id)
    if generation.figures is not NOBODY:
        provider = Timed(provider, generation.figures)
    return PagePlan(page.page_id, provider, ChatRequest(messages, model))
