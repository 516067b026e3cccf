"""How drafts end: once, whatever was racing (D4)."""

from typing import cast

from draft_service.app.answers import answered_draft, draft_text
from draft_service.app.store import WriteTx
from draft_service.app.world import World
from draft_service.domain.draft import Draft, DraftState
from kernel.verbs import store as kernel
from kernel.verbs.answers import in_session
from kernel.verbs.env import Env, Write, draft_not_active
from kernel.verbs.pending import fail
from kernel.verbs.records import Answer, Session

ENDED = "DRAFT_NOT_ACTIVE"


async def end_draft(world: World, write: Write, draft_id: str, state: DraftState, reason: str) -> Draft:
    """Finalized, discarded or cancelled. DRAFT_NOT_ACTIVE when it has ended already; a repeat of the request
    is answered as the first time."""

    async def work(kernel_tx: kernel.WriteTx, session: Session) -> Answer:
        tx = of_drafts(kernel_tx)
        done = await ended_in(tx, world.env, session, state, write.caller.principal, reason)
        if done is None:
            # Its time was up between the look and the update.
            raise draft_not_active(DraftState.EXPIRED.value)
        return Answer(draft_id, other=draft_text(done), target=f"draft:{draft_id}")

    return answered_draft(await in_session(world.env, write, draft_id, work))


async def ended_in(
    tx: WriteTx, env: Env, session: Session, state: DraftState, principal: str, reason: str
) -> Draft | None:
    """The end of a draft whose session is locked; None when it is not to be had. What is pending fails, and
    its run ends here: what that brings later is dropped, and the audit says of which run."""
    done = await tx.end_draft(session.session_id, state, principal, reason)
    if done is None:
        return None
    await tx.audit(done.draft_id, state.value, done.ended_by, await tx.counts(done.draft_id))
    for branch in await tx.pending_branches(done.draft_id):
        floor = await tx.floor(branch.pending_floor_id or "")
        assert floor is not None, "a branch's pending floor exists"
        if floor.run_id:
            details = {"run_id": floor.run_id, "floor_id": floor.floor_id}
            await tx.audit(done.draft_id, "run_dropped", done.ended_by, details)
        await fail(tx, env, session, floor, branch, ENDED)
    return done


def of_drafts(tx: kernel.WriteTx) -> WriteTx:
    """The same transaction: the draft service's store makes no other."""
    return cast(WriteTx, tx)
