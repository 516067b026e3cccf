"""The cases of `cases.py` for the ledger."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from kernel.state.model import Effects, Scope, VariableWrite
from kernel.verbs.staged_store import (
    Decision,
    Placement,
    StagedConfig,
    StagedEffects,
    StagedFilter,
    StagedOrigin,
    StagedPage,
    StagedState,
    StagedTarget,
    StagedWrite,
)
from tests.conformance.world import World, content

if TYPE_CHECKING:
    from tests.conformance.cases import Read, Write


def entry(world: World, staged_write_id: str = "", session: bool = True) -> StagedWrite:
    """With a part of each kind, and every field said."""
    mark, now = world.mark, world.now()
    target = StagedTarget(world.session.project_id)
    if session:
        session_id = world.session.session_id
        target = StagedTarget(
            world.session.project_id, session_id, "main", world.root.floor_id, Placement.NEXT_FLOOR
        )
    return StagedWrite(
        staged_write_id or world.new_id(),
        target,
        (
            StagedEffects(Effects((VariableWrite(Scope.PATH, "key", f'"{mark}"'),)), ()),
            StagedPage(content(f"asked {mark}"), content(f"said {mark}", "more")),
            StagedConfig(f'[{{"op":"add","path":"/systemPrompt","value":"{mark}"}}]'),
        ),
        StagedOrigin(world.new_id(), world.new_id(), "ab" * 32, world.root.floor_id, 7),
        f"reason {mark}",
        f"author {mark}",
        now,
        now + timedelta(days=30),
    )


def decision(world: World, outcome: StagedState = StagedState.ACCEPTED) -> Decision:
    who, why = f"reviewer {world.mark}", f"because {world.mark}"
    return Decision(outcome, who, why, world.root.floor_id, True, world.now())


STAGED_READS: dict[str, Read] = {
    "staged_write": lambda tx, on: tx.staged_write(on.staged.staged_write_id),
    "staged_writes": lambda tx, on: tx.staged_writes(StagedFilter(), None, 100),
}
STAGED_WRITES: dict[str, Write] = {
    "insert_staged_write": lambda tx, on: tx.insert_staged_write(entry(on.world)),
    "lock_staged_write": lambda tx, on: tx.lock_staged_write(on.staged.staged_write_id),
    "settle_staged_write": lambda tx, on: tx.settle_staged_write(
        on.staged.staged_write_id, decision(on.world)
    ),
    "settle_expired": lambda tx, on: tx.settle_expired(
        [on.other_staged.staged_write_id], decision(on.world, StagedState.EXPIRED)
    ),
}
