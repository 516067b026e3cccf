"""Who watches what: one statement for all, one reading for those at the same place."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress

import pytest

from conversation_service.app.feed_hub import FeedHub, FeedKey
from kernel.errors import Unavailable

WAIT = 20
NEVER = 3_600.0


class Database:
    """Newest positions, and what was asked for."""

    def __init__(self) -> None:
        self.last: dict[FeedKey, int] = {}
        self.asked: list[set[FeedKey]] = []
        self.failing = 0
        self.looked = asyncio.Event()

    async def newest(self, keys: Collection[FeedKey]) -> dict[FeedKey, int]:
        self.asked.append(set(keys))
        self.looked.set()
        if self.failing:
            self.failing -= 1
            raise Unavailable("UNAVAILABLE", "gone")
        return {key: self.last[key] for key in keys if key in self.last}

    async def look(self) -> None:
        """Returns after the next one."""
        self.looked.clear()
        await asyncio.wait_for(self.looked.wait(), WAIT)


@asynccontextmanager
async def running(database: Database, interval: float = NEVER) -> AsyncIterator[FeedHub[list[int]]]:
    hub: FeedHub[list[int]] = FeedHub(database.newest, interval)
    task = asyncio.create_task(hub.run())
    try:
        yield hub
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_one_statement_asks_for_everything_that_is_watched() -> None:
    database = Database()
    database.last = {("t", "a"): 3, ("t", "b"): 5}
    async with running(database) as hub:
        with (
            hub.watching("t", "a") as first,
            hub.watching("t", "b") as second,
            hub.watching("t", "a") as same,
        ):
            assert first is same
            waiting = [asyncio.create_task(feed.beyond(2)) for feed in (first, second, same)]
            hub.committed("t")
            await asyncio.wait_for(asyncio.gather(*waiting), WAIT)
            assert (first.last, second.last) == (3, 5)
    assert database.asked == [{("t", "a"), ("t", "b")}]


async def test_a_commit_that_nobody_watches_costs_nothing() -> None:
    database = Database()
    async with running(database) as hub:
        hub.committed("t")
        with hub.watching("t", "a"):
            hub.committed("another")
            hub.committed("t")
            await database.look()
    assert database.asked == [{("t", "a")}]


async def test_without_commits_of_its_own_it_looks_each_interval_and_through_failures() -> None:
    database = Database()
    database.failing = 2
    async with running(database, interval=0.01) as hub:
        with hub.watching("t", "a") as feed:
            waiting = asyncio.create_task(feed.beyond(0))
            await database.look()
            database.last["t", "a"] = 1
            await asyncio.wait_for(waiting, WAIT)
    assert len(database.asked) >= 3


async def test_those_at_one_place_share_a_reading_and_its_error() -> None:
    hub: FeedHub[list[int]] = FeedHub(Database().newest)
    begun, both, go = 0, asyncio.Event(), asyncio.Event()

    async def read() -> list[int]:
        nonlocal begun
        begun += 1
        if begun == 2:
            both.set()
        await go.wait()
        if begun == 3:
            raise Unavailable("UNAVAILABLE", "gone")
        return [begun]

    together = [asyncio.create_task(hub.shared("t", "a", 7, read)) for _ in range(3)]
    apart = asyncio.create_task(hub.shared("t", "a", 8, read))
    await asyncio.wait_for(both.wait(), WAIT)
    # One that leaves takes nothing from the others.
    together[0].cancel()
    go.set()
    assert await together[1] is await together[2]
    assert await apart == [2]
    failing = [asyncio.create_task(hub.shared("t", "a", 7, read)) for _ in range(2)]
    for task in failing:
        with pytest.raises(Unavailable):
            await task
    assert begun == 3
    await hub.idle()


async def test_a_closed_hub_ends_who_waits_and_who_comes() -> None:
    hub: FeedHub[list[int]] = FeedHub(Database().newest)
    with hub.watching("t", "a") as feed:
        waiting = asyncio.create_task(feed.beyond(0))
        await asyncio.sleep(0)
        hub.close()
        with pytest.raises(Unavailable):
            await waiting
    with hub.watching("t", "a") as feed, pytest.raises(Unavailable):
        await feed.beyond(0)
