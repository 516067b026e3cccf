"""Whose a run is: everything that a run writes is conditional on it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from kernel.errors import Unavailable
from kernel.generation.sink import RunOver
from kernel.tree.model import Floor
from kernel.verbs.env import Env, WriteTx
from kernel.verbs.records import Run, RunState, Session

T = TypeVar("T")

# Between tries to write while the database is away, in seconds.
_PAUSES = (0.2, 1.0, 3.0)


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


async def write_patiently(env: Env, lease: Lease, work: Callable[[WriteTx], Awaitable[T]]) -> T:
    """`Store.write` for what a run must not lose: an end, what has acted. Tried again while the database is
    away; then UNAVAILABLE."""
    for pause in _PAUSES:
        try:
            return await env.store.write(lease.tenant_id, work, lease.session_id)
        except Unavailable:
            await asyncio.sleep(pause)
    return await env.store.write(lease.tenant_id, work, lease.session_id)
