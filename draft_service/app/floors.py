"""The verbs of a draft's tree: the kernel's, on the branch `main` of its session.

Each of them locks the session, whose lock says whether the draft takes writes (D4); so an append goes that
way, too, and never the hot one.
"""

from kernel.errors import NotFound
from kernel.tree.model import PageContent, Role
from kernel.verbs.answers import Answered
from kernel.verbs.append import Turn, append_under_lock
from kernel.verbs.env import Caller, Env, Target, Write
from kernel.verbs.records import Run

_OUTPUTS = (Role.ASSISTANT, Role.TOOL)


async def append_message(env: Env, write: Write, target: Target, content: PageContent) -> Answered:
    """One committed floor: what an assistant or a tool says is its output, all else its input."""
    output = content.facts[0].role in _OUTPUTS
    turn = Turn(output=content) if output else Turn(input=content)
    return await append_under_lock(env, write, target, turn)


async def check_floor(env: Env, write: Write, draft_id: str, floor_id: str) -> None:
    """NOT_FOUND for a floor that is not the draft's own; a repeat of the write passes, and says it itself."""
    async with env.store.reading(write.caller.tenant_id) as tx:
        if await tx.answer(write.request) is not None:
            return
        floor = await tx.floor(floor_id)
    if floor is None or floor.session_id != draft_id:
        raise NotFound("floor")


async def check_run(env: Env, caller: Caller, draft_id: str, run_id: str) -> Run:
    """The run, of this very draft."""
    async with env.store.reading(caller.tenant_id) as tx:
        run = await tx.run(run_id)
    if run is None or run.session_id != draft_id:
        raise NotFound("run")
    return run
