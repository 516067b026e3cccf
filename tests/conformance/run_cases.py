"""The cases of `cases.py` for runs, their logs and their tool calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kernel.tree.model import Floor
from kernel.verbs.records import CallState, Chunk, RecordedCall, Run, RunState
from kernel.verbs.store import WriteTx
from tests.conformance.world import START, World

if TYPE_CHECKING:
    from tests.conformance.cases import Furnished, Read, Write

NOWHERE = (0, 0)


def chunk(run: Run, first: int, last: int, text: str = "events") -> Chunk:
    return Chunk(run.run_id, run.epoch, first, last, text)


def call(run: Run, number: int, **fields: object) -> RecordedCall:
    recorded = RecordedCall(
        run_id=run.run_id,
        call_id=f"call {number}",
        number=number,
        page_id=run.page_id,
        name="tool",
        arguments='{"n":1}',
        owner=1,
        server="server",
        side_effect=3,
        state=CallState.APPROVAL,
        create_time=START,
    )
    return replace(recorded, **fields)


async def insert_log(tx: WriteTx, run: Run, mark: str) -> None:
    await tx.insert_chunk(run.session_id, chunk(run, 1, 2, mark))
    await tx.insert_calls(run.session_id, [call(run, 1, name=mark)])


def _done(on: Furnished) -> RecordedCall:
    return call(
        on.run,
        1,
        name=on.world.mark,
        state=CallState.DONE,
        end_time=START,
        decision="approved",
        decided_by="somebody",
        reason="because",
        content="result",
        is_error=True,
    )


RUN_READS: dict[str, Read] = {
    "run": lambda tx, on: tx.run(on.run.run_id),
    "run_of_floor": lambda tx, on: tx.run_of_floor(on.pending.floor_id),
    "chunks": lambda tx, on: tx.chunks(on.run.run_id, NOWHERE, 9),
    "tool_calls": lambda tx, on: tx.tool_calls(on.run.run_id),
    "floor_calls": lambda tx, on: tx.floor_calls(on.pending.floor_id),
}
RUN_WRITES: dict[str, Write] = {
    "lock_run": lambda tx, on: tx.lock_run(on.run.run_id),
    "insert_run": lambda tx, on: tx.insert_run(on.world.run(on.first)),
    "update_run": lambda tx, on: tx.update_run(replace(on.run, state=RunState.CANCELLED)),
    "insert_chunk": lambda tx, on: tx.insert_chunk(on.session_id, chunk(on.run, 3, 3)),
    "insert_calls": lambda tx, on: tx.insert_calls(on.session_id, [call(on.run, 2)]),
    "update_calls": lambda tx, on: tx.update_calls([_done(on)]),
}


async def running(world: World, floor: Floor, **fields: object) -> Run:
    """A run of a floor, written."""
    run = world.run(floor, **fields)
    await world.write(lambda tx: tx.insert_run(run))
    return run
