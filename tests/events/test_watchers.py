"""Whatever happens to writers, replicas and connections, a subscriber sees each event once (C3)."""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest

from tests.events.replicas import AWAY, Replicas, replicas, stretch_commits
from tests.projects.stage import new_id
from tests.support.client import assistant, request_for, user

WRITERS, SESSIONS, WRITES, SUBSCRIBERS = 16, 50, 8, 6


@dataclass
class Crowd:
    """What the writers were told has happened."""

    on: Replicas
    project: str
    sessions: list[str] = field(default_factory=list)
    facts: Counter[tuple[str, str]] = field(default_factory=Counter)
    acknowledged: int = 0
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    async def open_sessions(self) -> None:
        for _ in range(SESSIONS):
            answer = await self.on.send(
                "CreateSession", request_for("CreateSession", project_id=self.project)
            )
            self.sessions.append(answer.session.session_id)
            self._note("session.created", answer.session.session_id)

    async def write(self, seed: int) -> None:
        chance = random.Random(seed)
        for number in range(WRITES):
            session = chance.choice(self.sessions)
            words = {"input": [user(f"{seed} {number}")], "output": [assistant("yes")]}
            floor = await self._append(session, words)
            match chance.randrange(4):
                case 0:
                    fields = {"session_id": session, "name": f"w{seed}n{number}", "floor_id": floor}
                    await self.on.send("CreateBranch", request_for("CreateBranch", **fields))
                    self._note("branch.created", floor)
                case 1:
                    stale = request_for("AppendFloor", session_id=session, expected_head=new_id(), **words)
                    assert await self.on.refused("AppendFloor", stale) == "HEAD_MOVED"
                case 2:
                    edit = request_for("EditFloor", floor_id=floor, session_id=session, **words)
                    answer = await self.on.send("EditFloor", edit)
                    self._note("floor.committed", answer.floor.floor_id)

    async def _append(self, session: str, words: dict[str, Any]) -> str:
        request = request_for("AppendFloor", session_id=session, **words)
        floor_id = (await self.on.send("AppendFloor", request)).floor.floor_id
        self._note("floor.committed", floor_id)
        return str(floor_id)

    def _note(self, kind: str, what: str) -> None:
        self.facts[kind, what] += 1
        self.acknowledged += 1
        self.moved.set()

    async def until(self, acknowledged: int) -> None:
        while self.acknowledged < acknowledged:
            self.moved.clear()
            await self.moved.wait()


async def subscribe(on: Replicas, project: str, seed: int) -> list[Any]:
    """Everything up to the project's end, over connections that end by chance."""
    chance = random.Random(seed)
    seen: list[Any] = []
    while not ended(seen):
        client = await on.one()
        after = seen[-1].position if seen else 0
        stream = client.stream("WatchEvents", request_for("WatchEvents", project_id=project, after=after))
        try:
            for _ in range(chance.randint(1, 60)):
                answer = await stream.read()
                if answer is grpc.aio.EOF:
                    break
                seen.append(answer.event)
                if ended(seen):
                    break
        except grpc.aio.AioRpcError as error:
            if error.code().name not in AWAY:
                raise
        finally:
            stream.cancel()
    return seen


def ended(seen: list[Any]) -> bool:
    return bool(seen) and seen[-1].type == "project.archived"


async def everything(on: Replicas, project: str) -> list[Any]:
    """The feed as ListEvents has it, in pages."""
    found: list[Any] = []
    while True:
        after = found[-1].position if found else 0
        request = request_for("ListEvents", project_id=project, after=after, page_size=77)
        answer = await on.send("ListEvents", request)
        found += answer.events
        if not answer.events:
            assert answer.last_position == len(found)
            return found


def as_bytes(events: list[Any]) -> list[bytes]:
    return [event.SerializeToString(deterministic=True) for event in events]


@pytest.mark.parametrize(("engine", "number"), [("postgres", 2), ("sqlite", 1)])
async def test_every_subscriber_sees_each_event_once(engine: str, number: int, migrated_url: str) -> None:
    """16 writers over 50 sessions, stretched commits, restarts in between."""
    await stretch_commits(migrated_url)
    async with replicas(migrated_url, number, seed=1) as on:
        project = (await on.send("CreateProject", request_for("CreateProject"))).project.project_id
        crowd = Crowd(on, project)
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(subscribe(on, project, seed)) for seed in range(SUBSCRIBERS)]
            await crowd.open_sessions()
            async with asyncio.TaskGroup() as writers:
                for seed in range(WRITERS):
                    writers.create_task(crowd.write(seed))
                for part in (1, 2):
                    await crowd.until(SESSIONS + WRITERS * WRITES * part // 3)
                    await on.stop_oldest()
                    await on.start()
            await on.send("ArchiveProject", request_for("ArchiveProject", project_id=project))
        feed = await everything(on, project)
        assert [event.position for event in feed] == list(range(1, len(feed) + 1))
        for task in watching:
            assert as_bytes(task.result()) == as_bytes(feed)
        of_project = Counter({("project.created", ""): 1, ("project.archived", ""): 1})
        assert Counter(map(fact, feed)) == crowd.facts + of_project


def fact(event: Any) -> tuple[str, str]:
    by_session = event.type == "session.created"
    return (event.type, event.session_id if by_session else event.floor_id)
