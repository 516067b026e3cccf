"""Each denied write has one entry, durable before it is answered; a flood costs little, and loses none."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from stemma.conversation.v1 import floor_service_pb2, session_service_pb2

from kernel.clock import new_uuid7
from kernel.errors import Forbidden, Hidden, NotFound, StemmaError, Unauthenticated, Unavailable
from kernel.rpc.call import Identity
from kernel.rpc.denials import keeping, writes_of
from kernel.storage.audit import Chains
from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.verbs.audit import Act
from kernel.verbs.audit_store import AuditFilter
from kernel.verbs.denials import COUNTED, KEPT, DenialLog
from kernel.verbs.sealer import Sealer
from tests.audit.looking import fault

TENANT = "local"
ID = "0193a1b2-0000-7000-8000-000000000001"
EDIT = "/stemma.conversation.v1.FloorService/EditFloor"
FLOORS = floor_service_pb2.DESCRIPTOR.services_by_name["FloorService"]
SESSIONS = session_service_pb2.DESCRIPTOR.services_by_name["SessionService"]


@dataclass
class Clock:
    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Book:
    """`writes` counts the store's transactions."""

    store: SqlStore
    clock: Clock
    log: DenialLog
    sealer: Sealer
    writes: int = 0

    async def entries(self, everything: bool = True) -> list[Act]:
        """Oldest first, after a look of the sealer, or after a reader's."""
        await (self.sealer.flush(TENANT) if everything else self.sealer.look())
        async with self.store.reading(TENANT) as tx:
            return [one.act for one in reversed(await tx.audit_entries(AuditFilter(), None, 10_000))]


@pytest.fixture
async def book(migrated_url: str) -> AsyncIterator[Book]:
    engines, clock = Engines(migrated_url), Clock()
    store = SqlStore(engines, clock)
    sealer = Sealer(store, Chains(engines, clock).tenants)
    book = Book(store, clock, DenialLog(store, clock, new_uuid7), sealer)
    write = store.write

    async def counted(*args: Any, **kwargs: Any) -> Any:
        book.writes += 1
        return await write(*args, **kwargs)

    store.write = counted  # type: ignore[method-assign]
    yield book
    assert await fault(store) is None
    await store.idle()
    await engines.close()


def exchange(method: str, request: Any, tenant: str = TENANT) -> Any:
    who = Identity(tenant, "somebody" if tenant else "", frozenset())
    return SimpleNamespace(method=SimpleNamespace(name=method), identity=who, request=request)


async def denied(book: Book, error: StemmaError, of: Any) -> list[Act]:
    """What is in the database at the moment at which the caller is told."""

    async def proceed(_exchange: Any) -> bytes:
        raise error

    with pytest.raises(type(error)):
        await keeping(book.log, writes_of([FLOORS, SESSIONS]))(of, proceed)
    return await book.entries()


def forbidden() -> Forbidden:
    return Forbidden("FORBIDDEN", "This call is for: owner.")


async def test_a_denied_write_is_there_before_it_is_answered(book: Book) -> None:
    request = floor_service_pb2.EditFloorRequest(floor_id=ID.upper(), request_id=ID)
    expected = Act(
        book.clock.now,
        "somebody",
        "EditFloor",
        target_kind="floor",
        target_id=ID,
        request_id=ID,
        outcome="PERMISSION_DENIED",
        reason="FORBIDDEN",
    )
    assert await denied(book, forbidden(), exchange(EDIT, request)) == [expected]
    hidden = replace(expected, outcome="NOT_FOUND", reason="NOT_FOUND")
    assert (await denied(book, Hidden("floor"), exchange(EDIT, request)))[1:] == [hidden]
    revoked = Unauthenticated("UNAUTHENTICATED", "The credential is not valid.")
    revoked.tenant_id, revoked.principal = TENANT, "whose it was"
    unread = Act(
        book.clock.now, "whose it was", "EditFloor", outcome="UNAUTHENTICATED", reason="UNAUTHENTICATED"
    )
    assert (await denied(book, revoked, exchange(EDIT, None, tenant="")))[2:] == [unread]


@pytest.mark.parametrize(
    ("error", "of"),
    [
        (forbidden(), exchange("/stemma.conversation.v1.FloorService/GetTree", None)),
        (NotFound("floor"), exchange(EDIT, None)),
        (Unauthenticated("UNAUTHENTICATED", "No credential."), exchange(EDIT, None, tenant="")),
    ],
)
async def test_what_is_no_denial_of_a_write_leaves_nothing(book: Book, error: StemmaError, of: Any) -> None:
    assert await denied(book, error, of) == []


async def test_words_in_the_place_of_an_id_are_not_kept(book: Book) -> None:
    request = floor_service_pb2.EditFloorRequest(floor_id="my secret", session_id="my secret")
    (kept,) = await denied(book, forbidden(), exchange(EDIT, request))
    assert "secret" not in repr(kept)


async def test_an_answer_waits_for_the_database(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_args: Any, **_kwargs: Any) -> None:
        raise Unavailable("UNAVAILABLE", "The database cannot be reached.")

    monkeypatch.setattr(book.store, "write", away)

    async def proceed(_exchange: Any) -> bytes:
        raise forbidden()

    with pytest.raises(Unavailable):
        await keeping(book.log, writes_of([FLOORS]))(exchange(EDIT, None), proceed)


async def test_a_flood_is_counted_in_a_few_rows_and_loses_none(book: Book) -> None:
    def act(principal: str = "somebody") -> Act:
        fields = {"target_kind": "floor", "target_id": ID, "outcome": "PERMISSION_DENIED"}
        return Act(book.clock.now, principal, "EditFloor", **fields)

    await asyncio.gather(*(book.log.keep(TENANT, act()) for _ in range(500)))
    # One by one at first; then those that wait together.
    assert book.writes <= KEPT + 3
    await book.log.keep(TENANT, act("another"))
    told = await book.entries(everything=False)
    assert [one.count for one in told] == [1] * (KEPT + 1)
    book.clock.now += timedelta(seconds=61)
    told = await book.entries(everything=False)
    counted = Act(
        book.clock.now - timedelta(seconds=61),
        "somebody",
        "",
        outcome="PERMISSION_DENIED",
        reason=COUNTED,
        count=500 - KEPT,
    )
    assert told[KEPT + 1 :] == [counted]
    # A new minute.
    await book.log.keep(TENANT, act())
    assert await book.entries() == [*told, act()]


async def test_a_reader_sees_what_is_still_being_counted(book: Book) -> None:
    act = Act(book.clock.now, "somebody", "EditFloor", outcome="NOT_FOUND")
    for _ in range(KEPT + 2):
        await book.log.keep(TENANT, act)
    assert sum(one.count for one in await book.entries()) == KEPT + 2
    await book.log.keep(TENANT, act)
    assert [one.count for one in await book.entries()][KEPT:] == [2, 1]
