"""A project's feed, read page by page from a position on."""

from collections.abc import Sequence
from dataclasses import dataclass

from conversation_service.app.projects import ensure_default, known_project, project_id_of
from kernel.errors import OutOfRange
from kernel.verbs.env import Caller, Env
from kernel.verbs.records import PlacedEvent
from kernel.verbs.search_store import Feed


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events that follow each other, and the newest position of the feed in the same snapshot."""

    events: Sequence[PlacedEvent]
    last: int


async def feed_of(env: Env, caller: Caller, name: str) -> str:
    """The project whose feed it is. NOT_FOUND for one that there is not."""
    await ensure_default(env, caller)
    project_id = project_id_of(caller.tenant_id, name)
    async with env.store.reading(caller.tenant_id) as tx:
        await known_project(tx, project_id)
    return project_id


async def read_events(env: Env, tenant_id: str, project_id: str, after: int, limit: int) -> EventPage:
    """The events after a position, oldest first: never with a gap, none missing before the first.

    OUT_OF_RANGE CURSOR_AHEAD or CURSOR_TOO_OLD when `after` is no place where the feed could go on.
    """
    async with env.store.reading(tenant_id) as tx:
        feed = await tx.feed(project_id) or Feed(0, 1)
        if after > feed.last:
            raise OutOfRange(
                "CURSOR_AHEAD",
                "The position is ahead of the feed: resume after one that was seen.",
                {"last": str(feed.last)},
            )
        if after < feed.earliest - 1:
            raise OutOfRange(
                "CURSOR_TOO_OLD",
                "Events after this position have been removed: read the state anew, then resume after the"
                " position before `earliest`.",
                {"earliest": str(feed.earliest)},
            )
        events = await tx.events(project_id, after, limit) if after < feed.last else []
    return EventPage(events, feed.last)
