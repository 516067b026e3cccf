"""Events that are too old go, oldest first; positions and everybody's place stay."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from conversation_service.app.retention import Retention
from conversation_service.settings import Settings
from kernel.storage import feeds as storage
from kernel.storage.feeds import Feeds
from kernel.verbs.search_store import Feed, Indexed
from kernel.verbs.store import WriteTx
from tests.conformance.world import new_world, opened
from tests.projects.stage import Stage
from tests.support.client import Refusal, connect, request_for
from tests.support.service import running_service

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def stage(migrated_url: str, clock: Clock) -> AsyncIterator[Stage]:
    """One whose clock the test moves."""
    async with running_service(migrated_url, clock=clock) as service, connect(service.address) as client:
        yield Stage(service, client, migrated_url)


async def sweep(stage: Stage, clock: Clock, age: timedelta = 30 * DAY) -> int:
    await stage.service.service.following.indexer.caught_up()
    feeds = Feeds(stage.service.service.store._engines)
    return await Retention(age, clock, feeds.remove_before).sweep()


async def positions(stage: Stage, after: int) -> list[int]:
    answer = await stage.call("ListEvents", project_id="default", after=after, page_size=1_000)
    return [event.position for event in answer.events]


async def aged(stage: Stage, clock: Clock, old: int, young: int) -> str:
    """That many events of 31 days and of today; the first is the session's."""
    session = (await stage.session()).session_id
    for _ in range(old - 1):
        await stage.turn(session)
    clock.now += 31 * DAY
    for _ in range(young):
        await stage.turn(session)
    return session


async def test_what_is_too_old_goes_and_the_rest_stays(stage: Stage, clock: Clock) -> None:
    await aged(stage, clock, old=4, young=3)
    assert await sweep(stage, clock) == 4
    assert await sweep(stage, clock) == 0
    assert await positions(stage, 4) == [5, 6, 7]
    # The next position is what it would have been.
    await stage.session()
    assert await positions(stage, 7) == [8]


async def test_bad_input_37_before_retention(stage: Stage, clock: Clock) -> None:
    await aged(stage, clock, old=4, young=2)
    await sweep(stage, clock)
    old = Refusal("OUT_OF_RANGE", "CURSOR_TOO_OLD", {"earliest": "5"})
    for name, after in product(("ListEvents", "WatchEvents"), (0, 3)):
        assert await stage.client.refused(name, project_id="default", after=after) == old
    assert await positions(stage, 4) == [5, 6]


async def test_a_feed_may_become_empty(stage: Stage, clock: Clock) -> None:
    session = await aged(stage, clock, old=3, young=0)
    assert await sweep(stage, clock) == 3
    assert await positions(stage, 3) == []
    old = Refusal("OUT_OF_RANGE", "CURSOR_TOO_OLD", {"earliest": "4"})
    assert await stage.client.refused("ListEvents", project_id="default", after=2) == old
    await stage.turn(session)
    assert await positions(stage, 3) == [4]


async def test_small_batches_of_every_feed(
    stage: Stage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_REMOVED", 2)
    monkeypatch.setattr(storage, "_SWEPT", 1)
    others = [(await stage.project()).project_id for _ in range(3)]
    await aged(stage, clock, old=5, young=1)
    assert await sweep(stage, clock) == 5 + 3
    assert await positions(stage, 5) == [6]
    for project in others:
        assert not (await stage.call("ListEvents", project_id=project, after=1)).events


async def test_a_clock_that_went_back_makes_no_gap(stage: Stage, clock: Clock) -> None:
    """Only what is before the first young event goes, even if something after it looks old."""
    session = await aged(stage, clock, old=2, young=1)
    clock.now -= 31 * DAY
    await stage.turn(session)
    clock.now += 31 * DAY
    assert await sweep(stage, clock) == 2
    assert await positions(stage, 2) == [3, 4]


async def test_what_is_not_indexed_yet_stays(migrated_url: str) -> None:
    """The index of words is made from events: it must have seen them. No service runs here."""
    async with opened(migrated_url) as (engines, store):
        world = await new_world(store)
        project_id = world.session.project_id

        async def work(tx: WriteTx) -> None:
            for _ in range(4):
                tx.emit(project_id, world.event())

        await world.write(work)
        later = datetime.max.replace(tzinfo=UTC, year=3000)
        for indexed, gone in ((None, 0), (2, 2), (2, 0), (4, 2)):
            if indexed is not None:
                await world.write(lambda tx, to=indexed: tx.set_indexed(project_id, Indexed(to)))
            assert await Feeds(engines).remove_before(later) == gone
            assert await world.read(lambda tx: tx.feed(project_id)) == Feed(4, 1 + (indexed or 0))


async def test_a_watcher_goes_on_while_what_it_has_seen_goes(stage: Stage, clock: Clock) -> None:
    session = await aged(stage, clock, old=3, young=0)
    stream = stage.client.stream("WatchEvents", request_for("WatchEvents", project_id="default"))
    async with asyncio.timeout(20):
        assert [(await stream.read()).event.position for _ in range(3)] == [1, 2, 3]
    await sweep(stage, clock)
    await stage.turn(session)
    async with asyncio.timeout(20):
        assert (await stream.read()).event.position == 4
    stream.cancel()


async def test_the_service_sweeps_by_itself(
    migrated_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_service(migrated_url, clock=clock) as service, connect(service.address) as client:
        stage = Stage(service, client, migrated_url)
        await aged(stage, clock, old=3, young=1)
        await service.service.following.indexer.caught_up()
    swept, sweep = asyncio.Event(), Retention.sweep

    async def seen(self: Retention) -> int:
        try:
            return await sweep(self)
        finally:
            swept.set()

    monkeypatch.setattr(Retention, "sweep", seen)
    settings = {"clock": clock, "event_retention": "30d"}
    async with running_service(migrated_url, **settings) as service, connect(service.address) as client:
        await asyncio.wait_for(swept.wait(), 20)
        assert await positions(Stage(service, client, migrated_url), 3) == [4]
        refusal = await client.refused("ListEvents", project_id="default")
        assert refusal.reason == "CURSOR_TOO_OLD"


@pytest.mark.parametrize(
    ("text", "age"),
    [("", None), ("30d", 30 * DAY), ("12h", DAY / 2), ("90m", DAY / 16), ("5s", timedelta(seconds=5))],
)
def test_how_long_events_are_kept(text: str, age: timedelta | None) -> None:
    assert Settings(event_retention=text).event_retention == age


@pytest.mark.parametrize("text", ["0d", "-1d", "30", "1w", "1.5h", "d", "1000000d", "P30D"])
def test_other_ages_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="event_retention"):
        Settings(event_retention=text)
