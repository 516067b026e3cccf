"""ListEvents and WatchEvents, one service: cursors, projects, and streams that end."""

import asyncio
from itertools import product
from typing import Any

import grpc
import pytest

from kernel.rpc.call import Identity, LocalAuthenticator
from tests.projects.stage import Stage, new_id, on_stage
from tests.support.client import Refusal, refusal_of, request_for

WAIT = 20
MAX = 2**63 - 1


async def listed(stage: Stage, project: str = "default", **fields: Any) -> Any:
    return await stage.call("ListEvents", project_id=project, **fields)


def watch(stage: Stage, project: str = "default", after: int = 0) -> Any:
    return stage.client.stream("WatchEvents", request_for("WatchEvents", project_id=project, after=after))


async def take(stream: Any, number: int) -> list[Any]:
    async with asyncio.timeout(WAIT):
        return [(await stream.read()).event for _ in range(number)]


async def test_a_watcher_catches_up_and_goes_on(stage: Stage) -> None:
    session_id = (await stage.session(title="t")).session_id
    floors = [await stage.turn(session_id) for _ in range(3)]
    stream = watch(stage)
    seen = await take(stream, 4)
    assert [event.type for event in seen] == ["session.created"] + ["floor.committed"] * 3
    assert [event.floor_id for event in seen[1:]] == [floor.floor_id for floor in floors]
    for _ in range(3):
        await stage.turn(session_id)
        seen += await take(stream, 1)
    stream.cancel()
    answer = await listed(stage)
    assert list(answer.events) == seen
    assert answer.last_position == 7
    assert {event.session_id for event in seen} == {session_id}


async def test_a_watcher_gets_more_than_one_piece(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """By number and by bytes."""
    session_id = (await stage.session()).session_id
    for _ in range(7):
        await stage.turn(session_id)
    for limit, size in (("_EVENTS", 3), ("_BYTES", 500)):
        with monkeypatch.context() as small:
            small.setattr(f"conversation_service.rpc.events.{limit}", size)
            stream = watch(stage)
            assert [event.position for event in await take(stream, 8)] == list(range(1, 9))
            stream.cancel()


async def test_a_watcher_of_a_silent_feed_is_told_that_it_is_heard(stage: Stage) -> None:
    stream = watch(stage)
    headers = dict(await asyncio.wait_for(stream.initial_metadata(), WAIT))
    assert headers["x-stemma-accepted"] == "1"
    await stage.session()
    assert [event.position for event in await take(stream, 1)] == [1]
    stream.cancel()


async def test_commits_wake_their_watchers_at_once(stage: Stage) -> None:
    """Not after the interval at which other replicas are looked for: here it never comes."""
    stage.service.service.following.hub._interval = 3_600
    stream = watch(stage)
    await asyncio.wait_for(stream.initial_metadata(), WAIT)
    session_id = (await stage.session()).session_id
    for _ in range(5):
        await stage.turn(session_id)
    await stage.call("ArchiveSession", session_id=session_id)
    assert [event.position for event in await take(stream, 7)] == list(range(1, 8))
    stream.cancel()


async def test_events_of_another_replica_come_too(migrated_url: str, engine: str) -> None:
    """On SQLite the other one is the next one."""
    if engine == "sqlite":
        async with on_stage(migrated_url) as first:
            await first.session()
        async with on_stage(migrated_url) as second:
            assert [event.position for event in await take(watch(second), 1)] == [1]
        return
    async with on_stage(migrated_url) as here, on_stage(migrated_url) as there:
        stream = watch(here)
        await asyncio.wait_for(stream.initial_metadata(), WAIT)
        await there.session()
        assert [event.position for event in await take(stream, 1)] == [1]
        stream.cancel()


async def test_projects_are_watched_apart(stage: Stage) -> None:
    projects = [(await stage.project()).project_id for _ in range(2)]
    streams = [watch(stage, project) for project in projects]
    for project in (*projects, *projects):
        await stage.session(project_id=project)
    for stream in streams:
        found = await take(stream, 3)
        assert [event.type for event in found] == ["project.created", "session.created", "session.created"]
        stream.cancel()


async def test_pages_of_a_listing(stage: Stage) -> None:
    session_id = (await stage.session()).session_id
    for _ in range(4):
        await stage.turn(session_id)
    found: list[int] = []
    while answer := (await listed(stage, after=len(found), page_size=2)).events:
        assert len(answer) <= 2
        found += [event.position for event in answer]
    assert found == [1, 2, 3, 4, 5]


CALLS = ("ListEvents", "WatchEvents")
GONE = Refusal("NOT_FOUND", "NOT_FOUND", {})


async def test_bad_input_37(stage: Stage) -> None:
    """A position in the future; one before retention is in test_retention.py."""
    for last in range(2):
        ahead = Refusal("OUT_OF_RANGE", "CURSOR_AHEAD", {"last": str(last)})
        for name, after in product(CALLS, (last + 1, MAX)):
            assert await stage.client.refused(name, project_id="default", after=after) == ahead
        await stage.session()
    assert [event.position for event in (await listed(stage)).events] == [1, 2]


async def test_bad_input_36(stage: Stage) -> None:
    """A cursor is a number of a feed; no number opens another's feed."""
    for name in CALLS:
        for after in (-1, -MAX):
            refusal = await stage.client.refused(name, project_id="default", after=after)
            assert refusal == Refusal("INVALID_ARGUMENT", "INVALID", {})
        assert await stage.client.refused(name, project_id=new_id()) == GONE


async def test_another_tenants_feed_is_not_there(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    project = (await stage.project()).project_id
    await stage.session()
    with monkeypatch.context() as elsewhere:
        other = Identity("other", "local", frozenset({"owner"}))
        elsewhere.setattr(LocalAuthenticator, "_LOCAL", other)
        for name in CALLS:
            assert await stage.client.refused(name, project_id=project) == GONE
        # The default project is everybody's own.
        assert (await listed(stage)).last_position == 0


async def test_a_service_that_stops_ends_its_streams(migrated_url: str) -> None:
    """At once, so that nothing waits for those who watch; they resume elsewhere."""
    async with on_stage(migrated_url) as stage:
        await stage.session()
        streams = [watch(stage) for _ in range(3)]
        for stream in streams:
            await take(stream, 1)
        await stage.service.service.server.drain(60)
        for stream in streams:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stream.read()
            assert refusal_of(caught.value).reason == "UNAVAILABLE"


async def test_nobody_is_kept_who_left(stage: Stage) -> None:
    hub = stage.service.service.following.hub
    streams = [watch(stage) for _ in range(3)]
    for stream in streams:
        await asyncio.wait_for(stream.initial_metadata(), WAIT)
    assert [feed.watchers for feed in hub._watched.values()] == [3]
    for stream in streams:
        stream.cancel()
    async with asyncio.timeout(WAIT):
        await stage.service.service.server._gate.idle()
    assert not hub._watched
