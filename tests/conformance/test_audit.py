"""The chain: whoever changes, removes, swaps or adds a row is found out, by the number of the first; and who
cuts its end off, or writes it anew, by a head that was kept elsewhere."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update

from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.verbs.audit import FIELDS, START, Act, Entry, Fault, Head, alias_of, chained, digest
from kernel.verbs.audit_store import AuditFilter
from kernel.verbs.audit_verify import verify_audit
from kernel.verbs.sealer import seal
from kernel.verbs.store import WriteTx
from tests.conformance.audit_cases import act
from tests.conformance.world import START as THEN
from tests.conformance.world import World

ENTRY = t.audit_entry.c
LENGTH = 6
OTHER_ID = "01234567-89ab-7def-8123-456789abcdef"


@pytest.fixture
async def world(world: World) -> World:
    """With a chain of LENGTH entries."""

    async def work(tx: WriteTx) -> None:
        for _ in range(LENGTH):
            await tx.insert_notice(world.new_id(), act(world))
        assert await seal(tx, world.tenant, 100, everything=True) == LENGTH

    await world.write(work)
    assert await fault(world) is None
    return world


async def fault(world: World, kept: Head | None = None) -> Fault | None:
    return (await world.read(lambda tx: verify_audit(tx, world.tenant, kept)))[1]


async def run(engines: Engines, *statements: Any) -> None:
    async with engines.writing() as connection:
        for statement in statements:
            await connection.execute(statement)


def of(world: World, number: int) -> Any:
    return (ENTRY.tenant_id == world.tenant) & (ENTRY.number == number)


async def test_each_column_is_covered(world: World, engines: Engines) -> None:
    """Whatever an entry says: found by reflection, so that a new column is, too."""
    async with engines.reading() as connection:
        row = (await connection.execute(select(t.audit_entry).where(of(world, 3)))).mappings().one()
    columns = set(ENTRY.keys()) - {"tenant_id", "number"}
    assert columns == {*FIELDS, "digest"}
    for name in sorted(columns):
        was = row[name]
        changed: dict[type, Any] = {str: "other", bytes: bytes(32), int: 7}
        value = was + timedelta(microseconds=1) if name == "time" else changed[type(was)]
        if name.endswith("_id"):
            value = OTHER_ID
        await run(engines, update(t.audit_entry).where(of(world, 3)).values({name: value}))
        assert await fault(world) == Fault(3, "differs from what was sealed"), name
        await run(engines, update(t.audit_entry).where(of(world, 3)).values({name: was}))
        assert await fault(world) is None


async def _changed(world: World, engines: Engines) -> None:
    await run(engines, update(t.audit_entry).where(of(world, 4)).values(outcome="OK"))


async def _removed(world: World, engines: Engines) -> None:
    await run(engines, delete(t.audit_entry).where(of(world, 4)))


async def _removed_and_renumbered(world: World, engines: Engines) -> None:
    moved = [update(t.audit_entry).where(of(world, n)).values(number=n - 1) for n in (5, 6)]
    await run(engines, delete(t.audit_entry).where(of(world, 4)), *moved)


async def _swapped(world: World, engines: Engines) -> None:
    steps = [(4, 99), (5, 4), (99, 5)]
    await run(engines, *(update(t.audit_entry).where(of(world, a)).values(number=b) for a, b in steps))


async def _cut(world: World, engines: Engines) -> None:
    await run(engines, delete(t.audit_entry).where(ENTRY.tenant_id == world.tenant, ENTRY.number > 3))


async def _added(world: World, engines: Engines) -> None:
    """With a digest that is right."""
    last = await world.read(lambda tx: tx.audit_chain(LENGTH - 1, 1))
    (more,) = chained(world.tenant, Head(LENGTH, last[0].digest), [last[0].act])
    await run(engines, insert(t.audit_entry).values(_values(world, more.number, more.act, more.digest)))


async def _before_the_first(world: World, engines: Engines) -> None:
    (first,) = await world.read(lambda tx: tx.audit_chain(0, 1))
    await run(engines, insert(t.audit_entry).values(_values(world, 0, first.act, first.digest)))


def _values(world: World, number: int, said: Act, over: bytes) -> dict[str, Any]:
    said_values = {name: getattr(said, name) for name in FIELDS}
    return {"tenant_id": world.tenant, "number": number, "digest": over, **said_values}


async def _renamed(world: World, engines: Engines) -> None:
    """Whose the alias is, and not the entry."""
    principal = t.audit_principal.c
    where = (principal.tenant_id == world.tenant) & principal.name.like("auditor%")
    await run(engines, update(t.audit_principal).where(where).values(name="somebody else"))


Tamper = Callable[[World, Engines], Awaitable[None]]
TAMPERED: list[tuple[Tamper, Fault]] = [
    (_changed, Fault(4, "differs from what was sealed")),
    (_removed, Fault(4, "is missing")),
    (_removed_and_renumbered, Fault(4, "differs from what was sealed")),
    (_swapped, Fault(4, "differs from what was sealed")),
    (_cut, Fault(4, "is missing at the end")),
    (_added, Fault(7, "was added behind the head")),
    (_before_the_first, Fault(0, "stands where no entry belongs")),
    (_renamed, Fault(1, "names a principal whose name was changed")),
]


@pytest.mark.parametrize(("tamper", "expected"), TAMPERED)
async def test_what_was_tampered_with_is_named(
    world: World, engines: Engines, tamper: Tamper, expected: Fault
) -> None:
    await tamper(world, engines)
    assert await fault(world) == expected


async def test_a_chain_that_was_cut_with_its_head_is_seen_from_a_kept_one(
    world: World, engines: Engines
) -> None:
    kept = await world.read(lambda tx: tx.audit_head())
    assert kept is not None
    assert await fault(world, kept) is None
    (third,) = await world.read(lambda tx: tx.audit_chain(2, 1))
    await _cut(world, engines)
    head = update(t.audit_head).where(t.audit_head.c.tenant_id == world.tenant)
    await run(engines, head.values(number=3, digest=third.digest))
    assert await fault(world) is None
    assert await fault(world, kept) == Fault(4, "is missing at the end")


async def test_a_chain_that_was_written_anew_is_seen_from_a_kept_head(world: World, engines: Engines) -> None:
    kept = await world.read(lambda tx: tx.audit_head())
    entries = await world.read(lambda tx: tx.audit_chain(0, LENGTH))
    acts = [replace(one.act, outcome="OK") for one in entries]
    forged = chained(world.tenant, START, acts)
    for one in forged:
        changed = update(t.audit_entry).where(of(world, one.number))
        await run(engines, changed.values(outcome="OK", digest=one.digest))
    head = update(t.audit_head).where(t.audit_head.c.tenant_id == world.tenant)
    await run(engines, head.values(digest=forged[-1].digest))
    assert await fault(world) is None
    text = "has another digest than the head that was kept: the chain was rewritten"
    assert await fault(world, kept) == Fault(LENGTH, text)


async def test_the_chain_holds_when_a_name_is_erased(world: World) -> None:
    """The alias stays, and is worth nothing: its salt is gone."""
    name = f"auditor {world.mark}"

    async def work(tx: WriteTx) -> str:
        return await tx.forget_auditor(name)

    alias = await world.write(work)
    assert alias
    assert await world.write(work) == ""
    assert await fault(world) is None
    assert name not in repr(await world.read(lambda tx: tx.audit_principals()))

    async def by(principal: str) -> list[Entry]:
        return await world.read(lambda tx: tx.audit_entries(AuditFilter(principal), None, 100))

    shown = await by(f"erased:{alias}")
    assert {entry.act.principal for entry in shown} == {f"erased:{alias}"}
    assert (len(shown), await by(name)) == (LENGTH, [])
    # Somebody of the same name is somebody else.
    again = await world.write(lambda tx: tx.aliases(frozenset({name})))
    assert again[name] != alias


def test_the_digest_is_the_one_that_is_written_down() -> None:
    """A golden vector: chains that were kept for years must stay verifiable."""
    said = Act(
        time=THEN,
        principal=alias_of("somebody", bytes(16)),
        action="AppendFloor",
        target_kind="floor",
        target_id=OTHER_ID,
        session_id=OTHER_ID,
        project_id=OTHER_ID,
        request_id=OTHER_ID,
    )
    text = (
        f'["local",1,1767225600000000,"{said.principal}","AppendFloor","","floor","{OTHER_ID}","{OTHER_ID}",'
        f'"{OTHER_ID}","{OTHER_ID}","OK","",1]'
    )
    expected = hashlib.sha256(b"stemma.audit.1" + bytes(32) + text.encode()).digest()
    assert digest("local", 1, said, START.digest) == expected
    assert said.principal == "423c0b17aa1a45ee4a5da9b53b38ea1f"
