"""A commit that fails at any statement leaves nothing: floor, head, effects, event, record are gone."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from conversation_service.app.state import LiveWrite, write_state
from kernel.errors import Unavailable
from kernel.tree.model import Slot
from kernel.verbs.env import Write
from kernel.verbs.floors import NewVersion, add_page, commit_floor, open_floor
from kernel.verbs.verify import verify_session
from tests.conformance.world import content
from tests.state.direct import PATH_ONLY, WITH_LIVE, On, given, on_store
from tests.state.faults import everything, faulty


@pytest.fixture
async def on(migrated_url: str) -> AsyncIterator[On]:
    """Its last turn had effects."""
    async with on_store(migrated_url) as made:
        await made.append(PATH_ONLY)
        yield made


Act = Callable[[Write], Awaitable[Any]]


async def hot(on: On) -> Act:
    return lambda write: on.append(PATH_ONLY, write)


async def live(on: On) -> Act:
    return lambda write: on.append(WITH_LIVE, write)


async def copy_due(on: On) -> Act:
    for _ in range(14):
        await on.append(PATH_ONLY)
    return lambda write: on.append(PATH_ONLY, write)


async def commit(on: On) -> Act:
    floor = (await open_floor(on.env, on.write(), on.target, content("go on"))).floor
    version = NewVersion(floor.floor_id, Slot.OUTPUT, content("done"), True, given(WITH_LIVE))
    await add_page(on.env, on.write(), version)
    return lambda write: commit_floor(on.env, write, floor.floor_id, "", None, None)


async def commit_given(on: On) -> Act:
    floor = (await open_floor(on.env, on.write(), on.target, content("go on"))).floor
    return lambda write: commit_floor(on.env, write, floor.floor_id, "", None, given(WITH_LIVE))


async def session_values(on: On) -> Act:
    ask = LiveWrite("", on.target.session_id, {"mood": '"calm"', "gone": None})
    return lambda write: write_state(on.env, write, ask)


async def project_values(on: On) -> Act:
    ask = LiveWrite(on.world.session.project_id, "", {"season": '"autumn"'})
    return lambda write: write_state(on.env, write, ask)


# How it is asked for, and how many statements it takes at the least, a commit included.
CASES: dict[str, tuple[Callable[[On], Awaitable[Act]], int]] = {
    "append, hot": (hot, 1),
    "append, live values": (live, 12),
    "append, a copy is due": (copy_due, 10),
    "commit": (commit, 12),
    "commit, effects given": (commit_given, 12),
    "write, session": (session_values, 6),
    "write, project": (project_values, 6),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_fault_at_any_statement_leaves_nothing(
    on: On, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    prepare, least = CASES[case]
    act = await prepare(on)
    write = on.write()
    before = await everything(on.engines)
    at = 0
    while True:
        with faulty(on.engines, monkeypatch, at) as fault:
            try:
                answer = await act(write)
            except Unavailable:
                failed = True
            else:
                failed = False
        assert failed is fault.struck
        if not failed:
            break
        assert await everything(on.engines) == before, f"{case}, statement {at}"
        at += 1
    # Past the last statement: it happened, whole, and a repeat is the same answer.
    assert at >= least
    after = await everything(on.engines)
    for table in ("request", "event"):
        assert len(after[table]) == len(before[table]) + 1, table
    assert await act(write) == answer
    assert await everything(on.engines) == after
    found = await verify_session(on.env, write.caller, on.target.session_id)
    assert [(p.kind, p.text) for p in found.problems] == []
