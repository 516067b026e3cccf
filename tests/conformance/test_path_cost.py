"""What a path costs to read depends on the path alone: not on the branches that were left, not on the depth
above what is read. Asserted on counts (rows and buffers, VM steps), and on statements for an append.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, cast

import pytest
from sqlalchemy import select

from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.tree.model import Floor
from kernel.verbs.append import Turn, append_floor
from kernel.verbs.env import Caller, Env, Target, Write
from kernel.verbs.path_store import MAX_BODY
from tests.conformance.bushes import Bushes, Session, grow
from tests.conformance.costs import Cost, cost, sent
from tests.conformance.world import World, content, new_world, opened
from tests.conftest import DatabaseFactory

DEPTH, BRANCHES, TURNS = 200, 1_000, 40
# Pages of an index hold a few keys more or less.
TOLERANCE = 0.10

Read = Callable[[World, Session], Awaitable[Any]]


async def chain(world: World, on: Session) -> Any:
    return await world.read(lambda tx: tx.chain(on.session_id, on.head.place))


async def path(world: World, on: Session) -> Any:
    floors = await world.read(lambda tx: tx.path(on.session_id, on.head.place, 0, on.head.place.depth))
    assert floors == on.path
    return floors


async def path_outline(world: World, on: Session) -> Any:
    found = await world.read(lambda tx: tx.path_outline(on.session_id, on.head.place, 1, on.head.place.depth))
    assert [outline.floor_id for outline in found] == [floor.floor_id for floor in on.path[1:]]
    return found


async def path_rows(world: World, on: Session) -> Any:
    links = await world.read(lambda tx: tx.chain(on.session_id, on.head.place))
    found = await world.read(lambda tx: tx.path_rows(on.session_id, links, MAX_BODY))
    assert [found.text(row[2]) for row in found.rows] == [floor.floor_id for floor in on.path]
    return found.rows


async def context_rows(world: World, on: Session) -> Any:
    links = await world.read(lambda tx: tx.chain(on.session_id, on.head.place))
    found = await world.read(lambda tx: tx.context_rows(on.session_id, links, MAX_BODY))
    assert [found.text(row[1]) for row in found.rows] == [floor.floor_id for floor in on.path]
    return found.rows


async def last_fifty(world: World, on: Session) -> Any:
    depth = on.head.place.depth
    floors = await world.read(lambda tx: tx.path(on.session_id, on.head.place, depth - 49, depth))
    assert floors == on.path[-50:]
    return floors


READS: dict[str, Read] = {
    f.__name__: f for f in (chain, path, path_rows, context_rows, path_outline, last_fifty)
}


def over(one: Cost, other: Cost) -> dict[str, float]:
    """By how much one costs more than the other, as a part of it; a handful of rows is no growth."""
    assert one.keys() == other.keys()
    return {name: (one[name] - other[name]) / max(other[name], 50) for name in one}


@pytest.fixture(scope="module")
def _urls(database_factory: DatabaseFactory) -> Iterator[Callable[[str], str]]:
    """A database for each engine, made when it is first asked for and shared by the tests here alone."""
    with ExitStack() as until:
        urls: dict[str, str] = {}

        def of(engine: str) -> str:
            if engine not in urls:
                urls[engine] = until.enter_context(database_factory(engine))
            return urls[engine]

        yield of


@pytest.fixture
def url(engine: str, _urls: Callable[[str], str]) -> str:
    return _urls(engine)


@dataclass
class Grown:
    """`straight`: paths in one segment. `turning`: paths through TURNS segments more."""

    engines: Engines
    straight: Bushes
    turning: Bushes


_grown: dict[str, tuple[Bushes, Bushes]] = {}


async def settled(engines: Engines) -> None:
    """What autovacuum would do between two counts, or not: rows seen by all need no look at the table."""
    if engines.dialect != "postgresql":
        return
    async with engines.driver() as connection:
        for name in ("floor", "segment"):
            await connection.execute(f"VACUUM (ANALYZE) {name}")


@pytest.fixture
async def grown(url: str) -> AsyncIterator[Grown]:
    async with opened(url) as (engines, store):
        if url not in _grown:
            worlds = [await new_world(store) for _ in range(2)]
            _grown[url] = (
                await grow(engines, worlds[0], DEPTH, BRANCHES),
                await grow(engines, worlds[1], DEPTH, BRANCHES, TURNS),
            )
            await settled(engines)
        for bushes in _grown[url]:
            bushes.world.store = store
        yield Grown(engines, *_grown[url])


def dearest(cost: Cost) -> Cost:
    """Of each kind, by the plan that costs most: for a session with few segments PostgreSQL may know a plan
    with a page less for each."""
    kinds = {name: name.split(",")[0] for name in cost}
    return {name: max(cost[other] for other in cost if kinds[other] == kinds[name]) for name in cost}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("shape", ["straight", "turning"])
async def test_a_path_costs_the_same_with_a_thousand_abandoned_branches(
    grown: Grown, shape: str, read: str
) -> None:
    bushes: Bushes = getattr(grown, shape)
    plain = await cost(grown.engines, lambda: READS[read](bushes.world, bushes.plain))
    bushy = await cost(grown.engines, lambda: READS[read](bushes.world, bushes.bushy))
    assert max(over(bushy, dearest(plain)).values()) <= TOLERANCE, (plain, bushy)
    assert max(over(plain, dearest(bushy)).values()) <= TOLERANCE, (plain, bushy)


@pytest.mark.parametrize("read", ["path", "path_rows", "context_rows", "path_outline", "last_fifty"])
async def test_no_row_off_the_path_is_touched(grown: Grown, engine: str, read: str) -> None:
    """Rows of PostgreSQL, counted with those that a filter throws away: the path's floors, its segments."""
    if engine == "sqlite":
        steps = await cost(grown.engines, lambda: READS[read](grown.straight.world, grown.straight.bushy))
        assert steps == await cost(
            grown.engines, lambda: READS[read](grown.straight.world, grown.straight.plain)
        ), "to the step"
        return
    for bushes, segments in ((grown.straight, 1), (grown.turning, 1 + TURNS)):
        floors = await READS[read](bushes.world, bushes.bushy)
        found = await cost(grown.engines, lambda b=bushes: READS[read](b.world, b.bushy))
        assert len(floors) <= found["rows, generic_plan"] <= len(floors) + segments, found


async def whole_session(world: World, on: Session) -> Any:
    """The planted fault: every floor of the session, the path picked out afterwards."""
    columns = [t.floor.c.floor_id, t.floor.c.parent_floor_id, t.floor.c.depth]
    async with world.store.reading(world.tenant) as tx:
        where = tx.where(t.floor, session_id=on.session_id)  # type: ignore[attr-defined]
        found = await tx.all(select(*columns).where(where))  # type: ignore[attr-defined]
    parents = {row["floor_id"]: row["parent_floor_id"] for row in found}
    above: str | None = on.head.floor_id
    kept = []
    while above is not None:
        kept.append(above)
        above = parents[above]
    assert kept == [floor.floor_id for floor in reversed(on.path)]
    return kept


@pytest.mark.parametrize("shape", ["straight", "turning"])
async def test_a_read_of_the_whole_session_is_caught(grown: Grown, shape: str) -> None:
    """The same counts, on a read that is at fault: each of them fails what the others are held to."""
    bushes: Bushes = getattr(grown, shape)
    plain = await cost(grown.engines, lambda: whole_session(bushes.world, bushes.plain))
    bushy = await cost(grown.engines, lambda: whole_session(bushes.world, bushes.bushy))
    assert min(over(bushy, plain).values()) > 3 * TOLERANCE, (plain, bushy)


async def test_the_last_fifty_cost_the_same_at_any_depth(url: str) -> None:
    """At 1,000 floors as at 100, with a turn at every tenth or so."""
    async with opened(url) as (engines, store):
        deep, shallow = [
            await grow(engines, await new_world(store), depth, 0, depth // 10) for depth in (1_000, 100)
        ]
        costs = [await cost(engines, lambda b=b: last_fifty(b.world, b.plain)) for b in (deep, shallow)]
        # The turns lie at random: so many segments more are part of what is read.
        links = [len({f.place.segment for f in b.plain.path[-50:]}) for b in (deep, shallow)]
        assert links[0] <= links[1], "or choose other seeds"
        assert max(over(*costs).values()) <= TOLERANCE, (costs, links)
        whole = await cost(engines, lambda: path(deep.world, deep.plain))
        assert min(over(whole, costs[0]).values()) > 1, "a whole path costs more"


async def append(env: Env, world: World, session: Session) -> Floor:
    caller = Caller(world.tenant, "somebody")
    turn = Turn(content("hello"), content("hi"))
    answered = await append_floor(env, Write(caller, world.request()), Target(session.session_id), turn)
    return answered.floor


async def test_an_append_is_as_many_statements_at_any_depth(url: str, grown: Grown) -> None:
    """The first one, when nothing is known yet, and the next; with branches and without."""
    shallow = await grow(grown.engines, await new_world(grown.turning.world.store), 3, 0)
    deep, counts = grown.turning, []
    for bushes, session in ((shallow, shallow.plain), (deep, deep.plain), (deep, deep.bushy)):
        world = bushes.world
        async with opened(url) as (engines, store):
            env = Env(store, cast(Any, None), cast(Any, None), world.now, world.new_id)
            with sent(engines) as statements:
                numbers = []
                for _ in range(3):
                    before = len(statements)
                    floor = await append(env, world, session)
                    numbers.append(len(statements) - before)
                    assert floor.parent_floor_id == session.head.floor_id
                    session.path.append(floor)
        counts.append(numbers)
    assert counts[0] == counts[1] == counts[2]
    assert 1 <= counts[0][1] <= 40, counts
