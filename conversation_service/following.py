"""What follows the feeds in this process: those who watch them, the index of words, and their retention."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

from conversation_service.app.feed_hub import FeedHub
from conversation_service.app.indexer import Indexer
from conversation_service.app.retention import Retention
from conversation_service.rpc.events import Frames
from kernel.steady import steadily
from kernel.storage.feeds import Feeds
from kernel.storage.store import SqlStore
from kernel.verbs.env import Env


@dataclass(frozen=True, slots=True)
class Following:
    hub: FeedHub[Frames]
    indexer: Indexer


@asynccontextmanager
async def following(
    env: Env, store: SqlStore, feeds: Feeds, retention: timedelta | None
) -> AsyncIterator[Following]:
    """At work until the block ends. `retention` None: events stay for ever."""
    hub: FeedHub[Frames] = FeedHub(feeds.last)
    indexer = Indexer(env, feeds.unindexed)
    store.after_events += [hub.committed, indexer.committed]
    work = [hub.run, indexer.run]
    if retention is not None:
        work.append(Retention(retention, env.clock, feeds.remove_before).run)
    tasks = [asyncio.create_task(steadily(one)) for one in work]
    try:
        yield Following(hub, indexer)
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task
        await hub.idle()
        await store.idle()
