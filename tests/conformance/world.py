"""What the conformance suite writes: one tenant's project, session and floors, through the store alone.

A `World` counts its ids and its clock, so that two worlds built alike have the same ids and times and differ
only in their tenant and `mark`, a word in all their texts.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar
from uuid import UUID, uuid4

from sqlalchemy import select

from kernel.prompt.config import BudgetConfig, Config, ModelConfig
from kernel.storage.engine import Engines
from kernel.storage.store import SqlStore
from kernel.storage.tables import metadata
from kernel.tree.blob import frame
from kernel.tree.digest import ROOT_DIGEST, page_digest, sealed_digest
from kernel.tree.model import (
    Branch,
    Floor,
    FloorState,
    HeadMove,
    MessageFacts,
    Page,
    PageContent,
    Place,
    Role,
    Slot,
)
from kernel.tree.places import ChildPlace, first_child, later_child
from kernel.verbs.records import AppendRecord, Event, Outcome, Request, Run, RunState, Session, SessionState
from kernel.verbs.store import ReadTx, WriteTx

T = TypeVar("T")

START = datetime(2026, 1, 1, tzinfo=UTC)
MAIN = "main"


def content(*texts: str, hidden: bool = False) -> PageContent:
    """A page's messages; a store never reads what stands in them."""
    facts = tuple(MessageFacts(Role.USER, hidden, 1 + len(text)) for text in texts)
    return PageContent(b"".join(frame(text.encode()) for text in texts), facts)


@dataclass
class World:
    """One tenant's rows, and the values that were written."""

    store: SqlStore
    tenant: str
    mark: str = "mark"
    session: Session = field(init=False)
    root: Floor = field(init=False)
    main: Branch = field(init=False)
    _ids: Any = field(default_factory=lambda: count(1))
    _ticks: Any = field(default_factory=lambda: count(1))

    def new_id(self) -> str:
        return str(UUID(int=0x7 << 76 | 0b10 << 62 | next(self._ids)))

    def now(self) -> datetime:
        return START + timedelta(microseconds=next(self._ticks))

    # --- values ----------------------------------------------------------------------------------

    def new_session(self, project_id: str, **fields: Any) -> tuple[Session, Floor, Branch]:
        """A session, its root and its `main`, not written yet."""
        session_id, root_id, now = self.new_id(), self.new_id(), self.now()
        settings = Config(f"prompt {self.mark}", ModelConfig(stop=("a", "b"), seed=0), BudgetConfig(9))
        session = Session(
            session_id=session_id,
            project_id=project_id,
            title=f"title {self.mark}",
            state=SessionState.ACTIVE,
            config=settings,
            version=1,
            root_floor_id=root_id,
            stored_tokens=0,
            create_time=now,
            update_time=now,
            last_activity_time=now,
        )
        root = replace(self._blank(session_id, root_id), state=FloorState.COMMITTED, digest=ROOT_DIGEST)
        root = replace(root, commit_time=now, branch="")
        return replace(session, **fields), root, Branch(MAIN, root_id, None, None, 0, 1, now, now)

    def _blank(self, session_id: str, floor_id: str) -> Floor:
        return Floor(
            floor_id=floor_id,
            session_id=session_id,
            parent_floor_id=None,
            parent_segment=None,
            place=Place(0, 0),
            ordinal=0,
            state=FloorState.OPEN,
            input=None,
            output=None,
            digest=None,
            path_tokens=0,
            usage=None,
            run_id=None,
            failure_reason="",
            principal=f"principal {self.mark}",
            create_time=self.now(),
            commit_time=None,
            branch=MAIN,
        )

    def page(self, floor_id: str, slot: Slot, text: str = "", *, partial: bool = False) -> Page:
        held = content(f"{text} {self.mark}", "second")
        digest = page_digest(slot, partial, held.blob)
        page_id, now = self.new_id(), self.now()
        return Page(page_id, floor_id, slot, held, digest, held.tokens, partial, "client", now)

    def floor(
        self, parent: Floor, place: ChildPlace, state: FloorState = FloorState.COMMITTED, **fields: Any
    ) -> Floor:
        """A floor at a place below its parent; a committed one is sealed over its pages."""
        below = self._blank(parent.session_id, self.new_id())
        below = replace(
            below,
            parent_floor_id=parent.floor_id,
            parent_segment=parent.place.segment,
            place=place.place,
            ordinal=place.ordinal,
            state=state,
            input=self.page(below.floor_id, Slot.INPUT, "in"),
            output=self.page(below.floor_id, Slot.OUTPUT, "out"),
        )
        below = replace(below, **fields)
        if state is not FloorState.COMMITTED:
            return below
        assert parent.digest is not None
        return replace(
            below,
            digest=sealed_digest(parent.digest, below),
            path_tokens=parent.path_tokens + sum(page.tokens for page in below.pages),
            commit_time=self.now(),
        )

    def request(self, **fields: Any) -> Request:
        values = {"principal": "p", "method": "M", "request_id": self.new_id(), "fingerprint": bytes(32)}
        return Request(**(values | fields))

    def record(self, parent: Floor, place: ChildPlace | None = None, **fields: Any) -> AppendRecord:
        """A turn below `parent`, by default as its first child."""
        place = place or first_child(parent.place)
        record = AppendRecord(
            tenant_id=self.tenant,
            request=self.request(),
            branch=MAIN,
            expected_head=parent.floor_id,
            floor=self.floor(parent, place),
            opens_segment=place.opens_segment,
            event_id=self.new_id(),
        )
        return replace(record, **fields)

    def event(self, **fields: Any) -> Event:
        values: dict[str, Any] = {
            "event_id": self.new_id(),
            "type": "some.event",
            "session_id": self.session.session_id,
            "payload": {"text": self.mark, "number": 2**40},
        }
        return Event(**(values | fields))

    def run(self, floor: Floor, **fields: Any) -> Run:
        run = Run(
            run_id=self.new_id(),
            session_id=floor.session_id,
            floor_id=floor.floor_id,
            page_id=self.new_id(),
            state=RunState.RUNNING,
            failure_reason=f"reason {self.mark}",
            usage=None,
            owner=self.new_id(),
            last_seq=0,
            branch=None,
            create_time=self.now(),
            end_time=None,
        )
        return replace(run, **fields)

    def move(self, source: Floor, target: Floor, branch: str = MAIN, kind: str = "commit") -> HeadMove:
        principal = f"principal {self.mark}"
        return HeadMove(branch, source.floor_id, target.floor_id, kind, principal, self.now())

    # --- calls -----------------------------------------------------------------------------------

    async def read(self, work: Callable[[ReadTx], Awaitable[T]]) -> T:
        async with self.store.reading(self.tenant) as tx:
            return await work(tx)

    async def write(self, work: Callable[[WriteTx], Awaitable[T]]) -> T:
        return await self.store.write(self.tenant, work, self.session.session_id)

    async def append(self, *records: AppendRecord) -> list[Outcome]:
        return await self.store.append(records)

    async def more_sessions(self, number: int) -> list[tuple[Session, Floor, Branch]]:
        made = [self.new_session(self.session.project_id) for _ in range(number)]

        async def work(tx: WriteTx) -> None:
            for session, root, main in made:
                await tx.insert_session(session, root, main)

        await self.store.write(self.tenant, work)
        return made

    async def child(self, parent: Floor, state: FloorState = FloorState.COMMITTED, **fields: Any) -> Floor:
        """Another child of `parent`, written; no head moves."""

        async def work(tx: WriteTx) -> Floor:
            await tx.lock_session(parent.session_id)
            place = await next_place(tx, parent)
            floor = self.floor(parent, place, state, **fields)
            await tx.insert_floor(floor, place.opens_segment)
            return floor

        return await self.write(work)

    async def line(self, parent: Floor, length: int) -> list[Floor]:
        """Committed floors, each below the one before."""
        floors: list[Floor] = []
        for _ in range(length):
            parent = await self.child(parent)
            floors.append(parent)
        return floors


async def next_place(tx: ReadTx, parent: Floor) -> ChildPlace:
    """Where the next child goes, from what the store says."""
    children = await tx.child_count(parent.session_id, parent.place)
    if children == 0:
        return first_child(parent.place)
    return later_child(parent.place, children - 1, await tx.next_segment(parent.session_id))


async def new_world(store: SqlStore, tenant: str | None = None, mark: str = "mark") -> World:
    """A tenant of its own, with a project and a session whose root is the head of `main`."""
    world = World(store, tenant or f"tenant {uuid4()}", mark)
    project_id = world.new_id()
    world.session, world.root, world.main = world.new_session(project_id)

    async def work(tx: WriteTx) -> None:
        await tx.insert_project(project_id, f"project {mark}")
        await tx.insert_session(world.session, world.root, world.main)

    await store.write(world.tenant, work)
    return world


def ticking() -> Callable[[], datetime]:
    """A clock for a store: later than all of a world's times, and later at each look."""
    ticks = count(1)
    return lambda: START + timedelta(days=1, microseconds=next(ticks))


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[tuple[Engines, SqlStore]]:
    """A database and a store on it; what the store still writes is awaited at the end."""
    engines = Engines(url)
    store = SqlStore(engines, ticking())
    try:
        yield engines, store
    finally:
        await store.idle()
        await engines.close()


async def rows_of(engines: Engines, tenant: str) -> dict[str, list[Any]]:
    """Every row of a tenant, by table, in the order of the keys."""
    found: dict[str, list[Any]] = {}
    async with engines.reading() as connection:
        for table in metadata.sorted_tables:
            if "tenant_id" in table.c:
                query = select(table).where(table.c.tenant_id == tenant).order_by(*table.primary_key)
                found[table.name] = [tuple(row) for row in await connection.execute(query)]
    return found
