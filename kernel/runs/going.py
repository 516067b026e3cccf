"""Going on with a run that waited: in whichever process hears that it need not wait any more."""

from dataclasses import replace

from kernel.errors import Unavailable
from kernel.generation.events import NOWHERE, Position
from kernel.generation.frame_text import from_text
from kernel.generation.so_far import PagesSoFar
from kernel.runs.explain import explain
from kernel.runs.plan import plan_from
from kernel.runs.start import Begin, Generation, check, start
from kernel.tree.model import Slot
from kernel.verbs.env import Env, ReadTx, WriteTx
from kernel.verbs.records import Run, RunState

# Chunks that are read at once.
_MANY = 1_000


async def claim(tx: WriteTx, env: Env, generation: Generation, tenant_id: str, run: Run) -> Run:
    """Makes a WAITING run this process's, in its next epoch, and starts it once that is durable. The
    session is locked. The model is sent what it was sent before, byte for byte, and what followed."""
    if not generation.hub.accepting:
        raise Unavailable("UNAVAILABLE", "The server is stopping. Retry with the same request_id.")
    plan = plan_from(run.plan)
    explained = await explain(tx, env.codec, run.floor_id)
    pages = {page.page_id: page for _, page in await tx.pages(run.floor_id) if page.slot is Slot.OUTPUT}
    done = frozenset(page.page_id for page in plan.pages if page.page_id in pages) - set(plan.failed)
    begin = Begin(
        tenant_id,
        replace(run, state=RunState.RUNNING, owner=generation.owner, epoch=run.epoch + 1, wait_time=None),
        plan,
        env.codec.messages(explained.assembled.context.blob),
        explained.assembled.context.selection.tokens_in,
        None,
        (await logged(tx, run.run_id))[0],
        done,
        next((page for page_id, page in pages.items() if page_id in done), None),
    )
    check(generation, begin)
    await tx.update_run(begin.run)

    def begun() -> None:
        start(env, generation, begin)

    tx.after_commit(begun)
    return begin.run


async def logged(tx: ReadTx, run_id: str) -> tuple[PagesSoFar, Position]:
    """What the run's log says that it has written, and where the log ends."""
    pages, after = PagesSoFar(), NOWHERE
    while True:
        chunks = await tx.chunks(run_id, (after.epoch, after.seq), _MANY)
        for chunk in chunks:
            for event in from_text(chunk.events):
                pages.apply(event)
            after = Position(chunk.epoch, chunk.last_seq)
        if len(chunks) < _MANY:
            return pages, after
