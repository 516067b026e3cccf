"""Verification of effects, marks and copies of state, and their repair (C5)."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from kernel.state.model import Effects, Scope, VariableWrite
from kernel.verbs.floors import commit_floor, open_floor
from kernel.verbs.siblings import Regenerate, regenerate_floor
from kernel.verbs.verify import Verified, verify_session
from tests.conformance.world import content
from tests.state.direct import PATH_ONLY, WITH_LIVE, On, given, on_store
from tests.state.faults import everything


@pytest.fixture
async def on(migrated_url: str) -> AsyncIterator[On]:
    """Thirty-four turns with effects, a turn without, and a sibling of the tenth."""
    async with on_store(migrated_url) as made:
        floors = [(await made.append(PATH_ONLY if n else WITH_LIVE)).floor for n in range(34)]
        plain = await open_floor(made.env, made.write(), made.target, content("and?"))
        await commit_floor(made.env, made.write(), plain.floor.floor_id, "", None, None)
        effects = given(Effects((VariableWrite(Scope.PATH, "hp", "1"),)))
        ask = Regenerate(floors[9].floor_id, content("other"), effects=effects)
        await regenerate_floor(made.env, made.write(), made.target, ask)
        yield made


async def verified(on: On, *, repair: bool = False) -> Verified:
    return await verify_session(on.env, on.write().caller, on.target.session_id, repair=repair)


async def broken(on: On, *statements: str) -> None:
    async with on.engines.writing() as connection:
        for statement in statements:
            assert (await connection.execute(text(statement))).rowcount == 1, statement


AT = "WHERE segment = 0 AND depth ="
FLOOR = f"(SELECT floor_id FROM floor {AT}"
DERIVED = {
    "state_mark": [
        f"UPDATE floor SET state_debt = 5 {AT} 20",
        f"UPDATE floor SET state_size = 1 {AT} 34",
        f"UPDATE floor SET effects_above_id = NULL {AT} 35",
        "UPDATE floor SET effects_above_id = floor_id WHERE segment = 1 AND depth = 10",
    ],
    "state_copy": [
        f"UPDATE state_copy SET state = '{{}}' WHERE floor_id = {FLOOR} 16)",
        f"DELETE FROM state_copy WHERE floor_id = {FLOOR} 32)",
        f"UPDATE state_copy SET floor_id = {FLOOR} 35) WHERE floor_id = {FLOOR} 16)",
    ],
    "path_tokens": [f"UPDATE floor SET path_tokens = path_tokens + 7 {AT} 3"],
    "stored_tokens": ["UPDATE session SET stored_tokens = 1"],
}


async def test_what_is_derived_is_named_and_repaired(on: On) -> None:
    sound = await everything(on.engines)
    assert len(sound["state_copy"]) == 2
    assert await verified(on) == Verified([])
    assert await verified(on, repair=True) == Verified([])
    assert await everything(on.engines) == sound
    for kind, statements in DERIVED.items():
        for statement in statements:
            await broken(on, statement)
            changed = await everything(on.engines)
            found = await verified(on)
            assert kind in {problem.kind for problem in found.problems}, statement
            assert await everything(on.engines) == changed, "looking changes nothing"
            done = await verified(on, repair=True)
            assert (done.problems, done.repaired > 0) == (found.problems, True)
            assert await everything(on.engines) == sound, statement
    await broken(on, *(one for statements in DERIVED.values() for one in statements[-1:]))
    await verified(on, repair=True)
    assert await everything(on.engines) == sound


async def test_what_is_not_derived_is_named_and_left_alone(on: On) -> None:
    """Nor is anything made anew of what cannot be trusted."""
    for kind, statement in {
        "live_values": "UPDATE live_layer SET version = 1 WHERE owner_id IN (SELECT session_id FROM session)",
        "effects_digest": f"UPDATE floor SET effects = input_blob {AT} 5",
    }.items():
        await broken(on, statement)
        changed = await everything(on.engines)
        for repair in (False, True):
            kinds = {problem.kind for problem in (await verified(on, repair=repair)).problems}
            assert kinds == {kind} | ({"floor_digest"} & kinds), (kind, kinds)
            assert kind in kinds
            assert await everything(on.engines) == changed, kind
        if kind == "live_values":
            await broken(
                on, "UPDATE live_layer SET version = 2 WHERE owner_id IN (SELECT session_id FROM session)"
            )
