"""Two replicas with clocks two hours apart, and everything that may happen to a draft at once (D4)."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import combinations_with_replacement

import grpc
import pytest
import pytest_asyncio
from datetime import timedelta

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
    await at.call(
        "ExportDraft", draft_id=draft_id, target={"placement": 2}, parts=[{"output_page": {}}]
    )
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
def race_urls(database_factory, draft_databases):  # type: ignore[no-untyped-def]
    with database_factory("postgres") as canon, draft_databases("postgres") as drafts:
        yield canon, drafts


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def replicas(race_urls: tuple[str, str]) -> AsyncIterator[tuple[Stage, Replica]]:
    async with (
        on_stage(*race_urls, ahead=timedelta(hours=-1)) as stage,
        replica(stage.draft_url, stage.canon.address, ahead=timedelta(hours=1)) as other,
    ):
        yield stage, other


@pytest.mark.parametrize(
    ("one", "two"), list(combinations_with_replacement(ACTS, 2)), ids=lambda name: str(name)
)
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
    for number, draft_id in enumerate(ids):
        await check(stage, draft_id, told[2 * number : 2 * number + 2])


async def tried(act: Awaitable[str]) -> str:
    """What the caller was told that it did; nothing, when it was told that it lost."""
    try:
        return await act
    except grpc.aio.AioRpcError as error:
        assert refusal_of(error).reason in LOST
        return ""


async def check(stage: Stage, draft_id: str, told: list[str]) -> None:
    where = f"draft_id = {stage.id(draft_id)}"
    lines = await stage.rows(f"SELECT action, details FROM draft_audit WHERE {where} ORDER BY number")
    ends = [json.loads(details) for action, details in lines if action in ENDS]
    assert len(ends) <= 1
    assert len(ends) >= told.count("end")
    committed = f"session_id = {stage.id(draft_id)} AND depth > 0 AND state = 'committed'"
    ((floors,),) = await stage.rows(f"SELECT count(*) FROM floor WHERE {committed}")
    ((exports,),) = await stage.rows(f"SELECT count(*) FROM export WHERE {where}")
    assert floors == 1 + told.count("floor")
    assert exports == told.count("export")
    for counts in ends:
        # Nothing was written after the end.
        assert counts == {"floors": floors, "exports": exports}
    if ends:
        ((state,),) = await stage.rows(f"SELECT state FROM draft WHERE {where}")
        assert state in ENDS
