"""Sessions with long paths and many abandoned branches, written in bulk.

The floors of both paths lie equally far apart in the table, with so many other floors between them that no
page holds two: all that differs is whether those between are the session's own abandoned ones.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from sqlalchemy import insert

from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.tree.model import Floor, Place
from kernel.tree.places import ChildPlace, first_child
from kernel.verbs.store import WriteTx
from tests.conformance.world import World

# More floors than a page holds: rows of some 1,800 bytes, below what PostgreSQL stores apart.
APART = 5
WORDS = "x" * 450
# Without branches only the end of a path is of interest.
FEW = 60


@dataclass
class Session:
    """One session's tree while it grows. `path` is from the root to the head."""

    path: list[Floor]
    segments: int = 0
    children: dict[Place, int] = field(default_factory=dict)

    @property
    def session_id(self) -> str:
        return self.path[0].session_id

    @property
    def head(self) -> Floor:
        return self.path[-1]

    def place(self, parent: Floor) -> ChildPlace:
        ordinal = self.children.get(parent.place, 0)
        self.children[parent.place] = ordinal + 1
        if ordinal == 0:
            return first_child(parent.place)
        self.segments += 1
        return ChildPlace(Place(self.segments, parent.place.depth + 1), ordinal, opens_segment=True)


@dataclass
class Writer:
    """Collects rows and writes them in their order."""

    world: World
    floors: list[dict[str, Any]] = field(default_factory=list)
    segments: list[dict[str, Any]] = field(default_factory=list)

    async def session(self) -> Session:
        ((_, root, _),) = await self.world.more_sessions(1)
        return Session([root])

    def add(self, session: Session, parent: Floor) -> Floor:
        place = session.place(parent)
        floor = self.world.floor(parent, place)
        key = {"tenant_id": self.world.tenant, "session_id": session.session_id}
        if place.opens_segment:
            hangs_on = {"parent_segment": parent.place.segment, "parent_depth": parent.place.depth}
            self.segments.append({**key, "segment": place.place.segment, **hangs_on})
        self.floors.append({"tenant_id": self.world.tenant, **rows.floor_values(floor)})
        return floor

    def branch(self, session: Session, parent: Floor, length: int) -> None:
        """An abandoned one, 1 to 3 floors deep."""
        for _ in range(length):
            parent = self.add(session, parent)

    async def flush(self, engines: Engines) -> None:
        async with engines.writing() as connection:
            if self.segments:
                await connection.execute(insert(t.segment), self.segments)
            await connection.execute(insert(t.floor), self.floors)
            if engines.dialect == "postgresql":
                await connection.exec_driver_sql("ANALYZE floor")
                await connection.exec_driver_sql("ANALYZE segment")


@dataclass(frozen=True)
class Bushes:
    """Two sessions with equal paths: without, and with, the abandoned branches."""

    world: World
    plain: Session
    bushy: Session


async def grow(engines: Engines, world: World, depth: int, branches: int, turns: int = 0) -> Bushes:
    """Paths of `depth` floors; `branches` abandoned ones spread over one of them at random depths. At
    `turns` places both paths go on with a later child, as after an edit, and leave the first one behind."""
    world.mark = WORDS
    random, writer = Random(depth), Writer(world)
    plain, bushy, other = [await writer.session() for _ in range(3)]
    forks = Counter(random.randint(0, depth - 1) for _ in range(branches))
    turning = set(random.sample(range(1, depth), turns))
    for at in range(depth):
        parent = bushy.head
        for session in (plain, bushy):
            if at in turning:
                writer.branch(session, session.head, 1)
            # The path's own child comes before those that are abandoned.
            session.path.append(writer.add(session, session.head))
        for _ in range(forks[at]):
            writer.branch(bushy, parent, random.randint(1, 3))
        if branches or depth - at <= FEW:
            writer.branch(other, other.path[0], APART)
    await writer.flush(engines)
    for session in (plain, bushy):
        await _move(world, session)
    return Bushes(world, plain, bushy)


async def _move(world: World, session: Session) -> None:
    """The head of `main` to the path's end."""

    async def work(tx: WriteTx) -> None:
        branch = await tx.branch(session.session_id, "main")
        assert branch is not None
        moved = replace(branch, head_floor_id=session.head.floor_id, depth=session.head.place.depth)
        assert await tx.update_branch(session.session_id, branch, moved)

    await world.write(work)
