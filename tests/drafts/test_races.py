"""Two replicas with clocks two hours apart, and everything that may happen to a draft at once (D4)."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations
from typing import Any

import grpc
import pytest
import pytest_asyncio

from tests.conftest import DatabaseFactory
from tests.drafts.conftest import DraftDatabases
from tests.drafts.stage import Replica, Stage, on_stage, replica
from tests.support.client import assistant, refusal_of, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROUNDS = 20
# What a loser may be told.
LOST = {"DRAFT_NOT_ACTIVE", "HEAD_MOVED", "FLOOR_PENDING", "UNAVAILABLE", "NOT_EXPORTABLE"}
ENDS = {"finalized", "discarded", "cancelled", "expired"}

Act = Callable[[Stage, Replica, str], Awaitable[str]]


async def append(stage: Stage, at: Replica, draft_id: str) -> str:
    await at.call("AppendMessage", draft_id=draft_id, message=assistant("more"))
    return "floor"


async def respond(stage: Stage, at: Replica, draft_id: str) -> str:
    frames = await at.frames(draft_id, input={"messages": [user("go")]})
    return "floor" if frames[-1].WhichOneof("event") == "floor_committed" else ""


async def export(stage: Stage, at: Replica, draft_id: str) -> str:
    await at.call("ExportDraft", draft_id=draft_id, target={"placement": 2}, parts=[{"output_page": {}}])
    return "export"


def ending(name: str) -> Act:
    async def end(stage: Stage, at: Replica, draft_id: str) -> str:
        await at.call(name, draft_id=draft_id)
        return "end"

    return end


async def expire(stage: Stage, at: Replica, draft_id: str) -> str:
    await stage.over(draft_id)
    await at.service.sweeper.look()
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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def replicas(race_urls: tuple[str, str]) -> AsyncIterator[tuple[Stage, Replica]]:
    async with (
        on_stage(*race_urls, ahead=timedelta(hours=-1)) as stage,
        replica(stage.draft_url, stage.canon.address, ahead=timedelta(hours=1)) as other,
    ):
        yield stage, other


@pytest.mark.parametrize(("one", "two"), list(combinations(ACTS, 2)), ids=str)
async def test_at_most_one_end_and_no_write_after_it(
    replicas: tuple[Stage, Replica], one: str, two: str
) -> None:
    stage, other = replicas
    session_id = await stage.session(1)
    made = await asyncio.gather(*(stage.draft.draft(session_id=session_id) for _ in range(ROUNDS)))
    ids = [draft.draft_id for draft in made]
    await asyncio.gather(*(append(stage, stage.draft, draft_id) for draft_id in ids))
    told = await asyncio.gather(
        *(
            tried(ACTS[name](stage, at, draft_id))
            for draft_id in ids
            for name, at in ((one, stage.draft), (two, other))
        )
    )
    for each in (stage.draft, other):
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
    """What the database has of some drafts, by id: states, ends with what was there then, counts of now."""

    states: dict[str, str]
    ends: dict[str, list[dict[str, int]]]
    floors: dict[str, int]
    exports: dict[str, int]

    @classmethod
    async def of(cls, stage: Stage, ids: Sequence[str]) -> "Books":
        among = f"IN ({', '.join(map(stage.id, ids))})"
        lines = await stage.rows(f"SELECT draft_id, action, details FROM draft_audit WHERE draft_id {among}")
        ends: dict[str, list[dict[str, int]]] = defaultdict(list)
        for draft_id, action, details in lines:
            if action in ENDS:
                ends[str(draft_id)].append(json.loads(details))

        async def found(query: str) -> dict[str, Any]:
            return {str(key): value for key, value in await stage.rows(query)}

        committed = f"session_id {among} AND depth > 0 AND state = 'committed'"
        return cls(
            await found(f"SELECT draft_id, state FROM draft WHERE draft_id {among}"),
            ends,
            await found(f"SELECT session_id, count(*) FROM floor WHERE {committed} GROUP BY 1"),
            await found(f"SELECT draft_id, count(*) FROM export WHERE draft_id {among} GROUP BY 1"),
        )

    def check(self, draft_id: str, told: list[str]) -> None:
        ends = self.ends[draft_id]
        assert len(ends) <= 1
        assert len(ends) >= told.count("end")
        assert (self.states[draft_id] in ENDS) == bool(ends)
        counts = {"floors": self.floors[draft_id], "exports": self.exports.get(draft_id, 0)}
        assert counts == {"floors": 1 + told.count("floor"), "exports": told.count("export")}
        # Nothing was written after the end.
        assert ends in ([], [counts])
