"""Many clients at work on a real service, and a record of all they did.

Each makes turns, edits, regenerates, rolls back and opens floors, on its own sessions and on shared ones,
retries what it does not know the end of, and repeats old requests on purpose. What they choose follows from
the seed; what they meet does not.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tools.history.files import HistoryWriter
from tools.history.recording import Recorder, Stopped
from tools.history.world import Client, World, open_sessions

# Seconds that a call may take.
DEADLINE = 10.0


async def run_clients(
    address: str,
    *,
    seed: int,
    clients: int,
    sessions: int,
    operations_or_stop_event: int | asyncio.Event,
    out: HistoryWriter,
    deadline: float = DEADLINE,
) -> None:
    """Runs `clients` clients on `sessions` new sessions: a number of operations in all (calls that begin
    something; retries come on top), or until the event is set. Calls under way then are awaited.

    The service may go away and come back at the same address: clients wait for it. Every run on one database
    needs a seed of its own: request ids and texts come from it. Writes into `out` as it goes; whoever cancels
    this leaves calls there that are `unknown`.
    """
    stop = (
        operations_or_stop_event if isinstance(operations_or_stop_event, asyncio.Event) else asyncio.Event()
    )
    left = operations_or_stop_event if isinstance(operations_or_stop_event, int) else None
    recorders = [
        Recorder(address, f"client-{seed}-{number}", out, stop, deadline) for number in range(clients)
    ]
    world = World(left)
    try:
        with suppress(Stopped):
            await open_sessions(recorders[0], world, sessions)
        workers = [Client(world, recorder, seed, number) for number, recorder in enumerate(recorders)]
        async with asyncio.TaskGroup() as group:
            for worker in workers:
                group.create_task(worker.run())
    finally:
        for recorder in recorders:
            await recorder.close()
