"""Two replicas with clocks most of an hour apart, and everything that may happen to a draft at once (D4).

Both stand before the draft's lock when that is opened; who comes first there changes. A run is raced as it
begins, and as it ends. `RACES`: rounds of each pair.
"""

import asyncio
import json
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations_with_replacement
from typing import Any

import grpc
import pytest
import pytest_asyncio

from tests.conftest import DatabaseFactory
from tests.drafts.conftest import DraftDatabases
from tests.drafts.copies import copies
from tests.drafts.gates import Gate, gate
from tests.drafts.stage import Replica, Stage, on_stage, replica
from tests.runs.stage import Part
from tests.support.client import assistant, refusal_of, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROUNDS = int(os.environ.get("RACES", "20"))
# A process goes by its own clock in one thing: logs of runs are removed an hour after their end.
AHEAD = timedelta(minutes=25)
# Rounds that go on at once: each holds a connection of a replica's eight.
AT_ONCE = 5
# Milliseconds between the ends of drafts that are raced at once: some come before the write, some after it.
STEP = 15
# What a loser may be told.
LOST = {"DRAFT_NOT_ACTIVE", "HEAD_MOVED", "FLOOR_PENDING", "NOT_EXPORTABLE"}
ENDS = {"finalized", "discarded", "cancelled", "expired"}

Act = Callable[[Replica, str], Awaitable[str]]


async def append(at: Replica, draft_id: str) -> str:
    await at.call("AppendMessage", draft_id=draft_id, message=assistant("more"))
    return "floor"


async def respond(at: Replica, draft_id: str, text: str = "go") -> str:
    frames = await at.frames(draft_id, input={"messages": [user(text)]})
    return "floor" if frames[-1].WhichOneof("event") == "floor_committed" else ""


async def export(at: Replica, draft_id: str) -> str:
    await at.call("ExportDraft", draft_id=draft_id, target={"placement": 2}, parts=[{"output_page": {}}])
    return "export"


def ending(name: str) -> Act:
    async def end(at: Replica, draft_id: str) -> str:
        await at.call(name, draft_id=draft_id)
        return "end"

    return end


async def expire(at: Replica, draft_id: str) -> str:
    """As the sweeper does with a draft that is due; when it is, the gate says."""
    await at.service.sweeper._expire("local", draft_id)
    return ""


ACTS: dict[str, Act] = {
    "append": append,
    "respond": respond,
    "export": export,
    "finalize": ending("FinalizeDraft"),
    "discard": ending("DiscardDraft"),
    "cancel": ending("CancelDraft"),
    "expire": expire,
}


@pytest.fixture(scope="session")
def race_urls(
    database_factory: DatabaseFactory, draft_databases: DraftDatabases
) -> Iterator[tuple[str, str]]:
    with database_factory("postgres") as canon, draft_databases("postgres") as drafts:
        yield canon, drafts


@dataclass(frozen=True)
class Field:
    """`draft_id`: what the drafts of all rounds are copies of: with a history and a message of its own."""

    stage: Stage
    replicas: tuple[Replica, Replica]
    gate: Gate
    draft_id: str

    async def round(self, ids: Sequence[str], pair: tuple[str, str], begun: bool) -> list[str]:
        """Races both on each of the drafts, at once: what each caller was told. With `begun`, what a run does
        is its end."""
        runs = {}
        if begun:
            at = self.replicas[pair.index("respond")]
            runs = {draft_id: await spoken(at, draft_id) for draft_id in ids}
        async with self.gate.closed(ids):
            tasks = []
            for number, draft_id in enumerate(ids):
                sides = list(zip(pair, self.replicas, strict=True))
                for name, at in sides if number % 2 else reversed(sides):
                    if begun and name == "respond":
                        part, task = runs[draft_id]
                        part.go()
                    else:
                        task = asyncio.create_task(tried(ACTS[name](at, draft_id)))
                    tasks.append(task)
            await self.gate.reached(len(tasks))
            assert not any(task.done() for task in tasks)
            if "expire" in pair:
                await self.gate.expires(ids, STEP)
        return list(await asyncio.gather(*tasks))


async def spoken(at: Replica, draft_id: str) -> tuple[Part, asyncio.Task[str]]:
    """A run whose model waits in the middle of what it says."""
    part = at.part(hold_at=1)
    task = asyncio.create_task(tried(respond(at, draft_id, part.text)))
    await part.held()
    return part, task


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def field(race_urls: tuple[str, str]) -> AsyncIterator[Field]:
    async with (
        on_stage(*race_urls, ahead=-AHEAD) as stage,
        replica(stage.draft_url, stage.canon.address, ahead=AHEAD) as other,
        gate(stage.draft_url) as opened,
    ):
        draft = await stage.draft.draft(session_id=await stage.session(1))
        await append(stage.draft, draft.draft_id)
        yield Field(stage, (stage.draft, other), opened, draft.draft_id)


@pytest.mark.parametrize("pair", list(combinations_with_replacement(ACTS, 2)), ids="-".join)
async def test_at_most_one_end_and_no_write_after_it(field: Field, pair: tuple[str, str]) -> None:
    stage = field.stage
    ids = await copies(stage.draft_url, field.draft_id, ROUNDS)
    told = list[str]()
    for number, start in enumerate(range(0, ROUNDS, AT_ONCE)):
        begun = bool(number % 2) and pair.count("respond") == 1
        told += await field.round(ids[start : start + AT_ONCE], pair, begun)
    if "expire" in pair:
        await field.gate.expires(ids, 0)
    for each in field.replicas:
        await each.service.generation.hub.wait_idle()
        await each.sweep()
    books = await Books.of(stage, ids)
    for number, draft_id in enumerate(ids):
        books.check(draft_id, told[2 * number : 2 * number + 2])


async def tried(act: Awaitable[str]) -> str:
    """What the caller was told that it did; nothing, when it was told that it lost."""
    try:
        return await act
    except grpc.aio.AioRpcError as error:
        reason = refusal_of(error).reason
    assert reason in LOST
    return ""


@dataclass(frozen=True)
class Books:
    """What the databases have of some drafts, by id: states, ends with what was there then, counts of now."""

    states: dict[str, str]
    ends: dict[str, list[dict[str, int]]]
    floors: dict[str, int]
    exports: dict[str, int]
    entries: dict[str, int]

    @classmethod
    async def of(cls, stage: Stage, ids: Sequence[str]) -> "Books":
        among = f"IN ({', '.join(map(stage.id, ids))})"
        lines = await stage.rows(f"SELECT draft_id, action, details FROM draft_audit WHERE draft_id {among}")
        ends: dict[str, list[dict[str, int]]] = defaultdict(list)
        for draft_id, action, details in lines:
            if action in ENDS:
                ends[str(draft_id)].append(json.loads(details))

        async def found(query: str, canon: bool = False) -> dict[str, Any]:
            return {str(key): value for key, value in await stage.rows(query, canon=canon)}

        committed = f"session_id {among} AND depth > 0 AND state = 'committed'"
        of_drafts = f"WHERE draft_id {among} GROUP BY 1"
        return cls(
            await found(f"SELECT draft_id, state FROM draft WHERE draft_id {among}"),
            ends,
            await found(f"SELECT session_id, count(*) FROM floor WHERE {committed} GROUP BY 1"),
            await found(f"SELECT draft_id, count(*) FROM export {of_drafts}"),
            await found(f"SELECT draft_id, count(*) FROM staged_write {of_drafts}", canon=True),
        )

    def check(self, draft_id: str, told: list[str]) -> None:
        ends = self.ends[draft_id]
        assert len(ends) <= 1
        assert len(ends) >= told.count("end")
        assert told.count("end") <= 1
        assert (self.states[draft_id] in ENDS) == bool(ends)
        counts = {"floors": self.floors[draft_id], "exports": self.exports.get(draft_id, 0)}
        assert counts == {"floors": 1 + told.count("floor"), "exports": told.count("export")}
        assert self.entries.get(draft_id, 0) == counts["exports"]
        # Nothing was written after the end.
        assert ends in ([], [counts])
