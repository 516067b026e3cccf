"""Exactly one entry for each write, whoever seals it and whatever dies meanwhile."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kernel.clock import new_uuid7
from kernel.errors import Unavailable
from kernel.storage.audit import Chains
from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.verbs import sealer as sealers
from kernel.verbs.audit import Act
from kernel.verbs.audit_store import AuditFilter
from kernel.verbs.records import Answer, Request
from kernel.verbs.sealer import Sealer, seal
from kernel.verbs.store import WriteTx
from tests.audit.looking import TENANT, entries, fault, told
from tests.conformance.world import ticking
from tests.projects.stage import on_stage
from tests.support.client import request_for

METHOD = "/package.Service/Method"


@pytest.fixture
async def replicas(migrated_url: str) -> AsyncIterator[list[SqlStore]]:
    """Stores on one database, as of several processes where the engine allows it."""
    number = 3 if migrated_url.startswith("postgresql") else 1
    engines = [Engines(migrated_url) for _ in range(number)]
    stores = [SqlStore(one, ticking()) for one in engines]
    yield stores
    for store, one in zip(stores, engines, strict=True):
        await store.idle()
        await one.close()


async def written(store: SqlStore, count: int) -> list[str]:
    """The request ids of writes that were acknowledged."""
    ids = [new_uuid7() for _ in range(count)]

    async def work(tx: WriteTx) -> None:
        for one in ids:
            await tx.record(Request("p", METHOD, one, bytes(32)), Answer(target="thing:1"))

    await store.write(TENANT, work)
    return ids


async def chain(store: SqlStore) -> list[Act]:
    async with store.reading(TENANT) as tx:
        return [one.act for one in reversed(await tx.audit_entries(AuditFilter(), None, 10_000))]


def sealer_of(store: SqlStore) -> Sealer:
    return Sealer(store, Chains(store._engines, ticking()).tenants)


async def test_many_sealers_make_one_chain(replicas: list[SqlStore], monkeypatch: pytest.MonkeyPatch) -> None:
    """While others write. Small batches, so that they meet often."""
    monkeypatch.setattr(sealers, "_BATCH", 7)
    done: list[str] = []

    async def write(store: SqlStore) -> None:
        for _ in range(5):
            done.extend(await written(store, 6))

    async def look(store: SqlStore) -> None:
        for _ in range(8):
            await sealer_of(store).look()

    await asyncio.gather(*(work(store) for store in replicas * 2 for work in (write, look)))
    await sealer_of(replicas[0]).flush(TENANT)
    assert Counter(act.request_id for act in await chain(replicas[0])) == Counter(done)
    assert await fault(replicas[0]) is None
    assert await Chains(replicas[0]._engines, ticking()).tenants() == []


async def test_what_dies_while_it_seals_leaves_all_or_nothing(replicas: list[SqlStore]) -> None:
    """At each of its steps: the transaction is the crash's."""
    store = replicas[-1]
    ids = await written(store, 3)
    steps = ["lock_audit_head", "unsealed", "aliases", "seal"]
    for step in steps:

        class Dies(store.writes):  # type: ignore[name-defined,misc]
            pass

        async def dying(self: Any, *args: Any, _step: str = step, **kwargs: Any) -> Any:
            await getattr(store.writes, _step)(self, *args, **kwargs)
            raise Unavailable("UNAVAILABLE", "It died.")

        setattr(Dies, step, dying)
        broken = SqlStore(store._engines, ticking())
        broken.writes = Dies
        with pytest.raises(Unavailable):
            await sealer_of(broken).flush(TENANT)
        # Not a word to whoever called: the next look does it.
        await sealer_of(broken).look()
        assert await chain(store) == [], step
    await sealer_of(store).look()
    assert [act.request_id for act in await chain(store)] == ids
    await sealer_of(store).flush(TENANT)
    assert len(await chain(store)) == 3
    assert await fault(store) is None


async def test_a_service_that_was_killed_before_it_sealed_has_all_entries_later(
    migrated_url: str, replicas: list[SqlStore]
) -> None:
    """What it acknowledged is in the database, and that is enough: the one after it seals it (R2)."""
    request: Any = request_for("CreateProject", title="t")
    async with on_stage(migrated_url) as stage:
        stage.service.service.sealer._tenants = _nobody
        await stage.client.send("CreateProject", request)
    assert await chain(replicas[0]) == []
    async with on_stage(migrated_url) as stage:
        await stage.client.send("CreateProject", request)
        found = told(await entries(stage.client))
    assert found == Counter({("local", "CreateProject", request.request_id): 1})


async def _nobody() -> list[str]:
    """As far as it comes before it is killed."""
    return []


async def test_a_batch_is_sealed_in_pieces_and_in_order(
    replicas: list[SqlStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealers, "_BATCH", 4)
    store = replicas[0]
    ids = await written(store, 10)
    assert await store.write(TENANT, lambda tx: seal(tx, TENANT, 3)) == 3
    await sealer_of(store).flush(TENANT)
    acts = await chain(store)
    assert [act.request_id for act in acts] == ids
    assert {(act.target_kind, act.target_id, act.action) for act in acts} == {("thing", "1", "Method")}
