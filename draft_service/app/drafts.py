"""Reading drafts."""

from dataclasses import replace
from datetime import datetime

from draft_service.app.store import DraftFilter
from draft_service.app.world import World
from draft_service.domain.draft import Draft
from draft_service.domain.policy import check_seen
from kernel.verbs.access import INTERNAL_DRAFTS
from kernel.verbs.env import Caller


async def get_draft(world: World, caller: Caller, draft_id: str) -> Draft:
    """As it is by the database's clock. NOT_FOUND for what is not there, purged, or not for this caller:
    every call on a draft begins with it."""
    async with world.store.reading(caller.tenant_id) as tx:
        return check_seen(caller, await tx.draft(draft_id))


async def list_drafts(
    world: World, caller: Caller, where: DraftFilter, after: tuple[str, str] | None, limit: int
) -> list[Draft]:
    """Newest first, after the (time as ISO text, id) of the last one seen. Who is nothing in the whole tenant
    sees its own, and its projects'."""
    projects = (
        None if caller.everywhere else await world.memberships.projects_of(caller.tenant_id, caller.principal)
    )
    where = replace(where, projects=projects, internal=INTERNAL_DRAFTS in caller.roles)
    start = (datetime.fromisoformat(after[0]), after[1]) if after else None
    async with world.store.reading(caller.tenant_id) as tx:
        return await tx.drafts(where, start, limit)
