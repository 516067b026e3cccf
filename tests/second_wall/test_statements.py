"""The second wall: every statement binds the tenant of every table that it touches (R6)."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from conversation_service.storage.tables import metadata as canon_tables
from draft_service.domain.exports import Proposal
from draft_service.storage.store import DraftStore
from draft_service.storage.tables import metadata as draft_tables
from kernel.storage.engine import Engines
from kernel.storage.feeds import Feeds
from kernel.storage.store import SqlStore
from kernel.storage.usage import SqlUsage
from kernel.verbs.records import Chunk, OwnedChunk
from kernel.verbs.staged_store import StagedConfig
from tests.access.stage import TENANT, on_access_stage
from tests.conformance.cases import READS, Furnished, furnished, writes_in_order
from tests.conformance.world import START, opened
from tests.conftest import DatabaseFactory
from tests.drafts.conftest import DraftDatabases, draft_databases
from tests.erasure.stage import clean, erase, person_of
from tests.projects.stage import new_id
from tests.second_wall.binding import unbound
from tests.second_wall.exceptions import ACROSS, ELSEWHERE, excepted
from tests.second_wall.reached import makers, run_functions
from tests.second_wall.recording import ours, statements
from tests.support.client import Client, request_for, user

__all__ = ["draft_databases"]

TENANT_TABLES = frozenset(
    table.name
    for tables in (canon_tables, draft_tables)
    for table in tables.sorted_tables
    if "tenant_id" in table.c
)
_DIALECTS = {"sqlite": "sqlite", "postgres": "postgres"}


async def stories(canon: str, drafts: str) -> None:
    """Everything that a store can do, and a life with both services until its erasure."""
    async with on_access_stage(canon, drafts) as stage:
        person = await person_of(stage)
        boss = stage.as_("boss")
        await boss.call("VerifySession", session_id=person.shared, repair=True)
        await boss.call("DeleteSession", session_id=stage.places.session)
        await boss.call("ListApiKeys")
        await boss.call("ListAuditEntries", principal="boss")
        await _export(stage.drafting("boss"), person.other_draft)
        await _propose(stage.draft.service.store, person.other_draft)
        await erase(stage)
        await clean(stage)
        await stage.draft.service.sweeper.look()
        rows = stage.service.service.store.run_log
        await rows.forget(START, 1)
        await rows.overdue(START, 1)
    # Last: what it leaves is no log that a service could take up.
    async with opened(canon) as (engines, store):
        store.metered = True
        on = await _every_method(store)
        await _beside_transactions(engines, store, on)


async def _export(drafting: Client, draft_id: str) -> None:
    asked = request_for("draft.Respond", draft_id=draft_id, input={"messages": [user("asked")]})
    await drafting.frames("draft.Respond", asked)
    parts = [{"output_page": {"with_input": True}}]
    target = {"placement": "PLACEMENT_NEXT_FLOOR"}
    exported = {"draft_id": draft_id, "target": target, "parts": parts}
    await drafting.call("draft.ExportDraft", **exported)
    await drafting.call("draft.ListProposals", draft_id=draft_id)
    await drafting.call("draft.DiscardDraft", draft_id=draft_id)


async def _propose(store: DraftStore, draft_id: str) -> None:
    made = Proposal(draft_id, new_id(), 1, new_id(), new_id(), StagedConfig("[]"), START)
    await store.write(TENANT, lambda tx: tx.insert_proposal(made))
    async with store.reading(TENANT) as tx:
        assert await tx.last_proposal(draft_id) == 1
        assert not await tx.has_page(draft_id, new_id())
        assert await tx.proposal(draft_id, made.proposal_id) is not None


async def _every_method(store: SqlStore) -> Furnished:
    on = await furnished(store, mark="wall")
    async with store.reading(on.world.tenant) as tx:
        for read in READS.values():
            await read(tx, on)
    for _, write in writes_in_order():
        await on.world.write(lambda tx, write=write: write(tx, on))
    return on


async def _beside_transactions(engines: Engines, store: SqlStore, on: Furnished) -> None:
    """What counts, follows and clears."""
    tenant, now = on.world.tenant, on.world.now()
    usage, feeds = SqlUsage(engines), Feeds(engines)
    await usage.sum_bytes(tenant, now, now)
    await usage.used(tenant, now.toordinal())
    await usage.forget_days(tenant, 1)
    await usage.answered(tenant, "p", "M", on.world.new_id())
    await feeds.last([(tenant, on.project_id)])
    await feeds.remove_before(now + timedelta(days=1))
    other = await furnished(store, mark="log")
    chunk = Chunk(other.run.run_id, other.run.epoch, 900, 900, "[]")
    await store.run_log.write([OwnedChunk(other.world.tenant, other.run.owner, chunk)])
    await store.run_log.marks([(other.world.tenant, other.run.run_id)])


@pytest.fixture(params=["sqlite", "postgres"])
def engine_urls(
    request: pytest.FixtureRequest, database_factory: DatabaseFactory, draft_databases: DraftDatabases
) -> Iterator[tuple[str, str, str]]:
    with database_factory(request.param) as canon, draft_databases(request.param) as drafts:
        yield request.param, canon, drafts


@pytest.mark.asyncio(loop_scope="session")
async def test_every_statement_binds_its_tenant(
    engine_urls: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, canon, drafts = engine_urls
    with statements(monkeypatch) as found, run_functions() as reached:
        await stories(canon, drafts)
    catalogue = ours(found)
    assert len(catalogue) > 250, "the stories run most of what there is"
    open_doors = {
        text: tables
        for text in catalogue
        if (tables := unbound(text, _DIALECTS[engine], TENANT_TABLES)) and not excepted(text)
    }
    assert open_doors == {}
    assert {one.name for one in ACROSS if any(one.is_it(text) for text in catalogue)} == {
        one.name for one in ACROSS
    }, "an exception that nothing needs"
    assert makers() - reached == ELSEWHERE, "what makes a statement belongs into the stories"
