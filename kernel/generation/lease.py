"""Whose a run is: everything that a run writes is conditional on it."""

from dataclasses import dataclass

from kernel.generation.sink import RunOver
from kernel.tree.model import Floor
from kernel.verbs.env import WriteTx
from kernel.verbs.records import Run, RunState, Session


@dataclass(frozen=True, slots=True)
class Lease:
    """A process's claim on a run, for one epoch."""

    tenant_id: str
    run_id: str
    session_id: str
    owner: str
    epoch: int


async def held(tx: WriteTx, lease: Lease) -> tuple[Session, Run, Floor]:
    """The run and what is around it, under the session's lock. Raises RunOver when it has ended, or
    another process has it."""
    session = await tx.lock_session(lease.session_id)
    run = await tx.run(lease.run_id)
    if session is None or session.ended or run is None or run.state is not RunState.RUNNING:
        raise RunOver
    if (run.owner, run.epoch) != (lease.owner, lease.epoch):
        raise RunOver
    floor = await tx.floor(run.floor_id)
    assert floor is not None, "a run's floor exists (foreign key)"
    return session, run, floor
