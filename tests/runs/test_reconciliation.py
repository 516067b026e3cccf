"""What this process runs and what the database says it runs are brought together again."""

import asyncio
from typing import Any

from kernel.runs.control import Reconciliation
from tests.support.client import Client, connect, request_for, user
from tests.support.service import RunningService, running_service


class Held:
    """Lets a run stand before its third piece until it is let go."""

    def __init__(self) -> None:
        self.reached, self.go_on = asyncio.Event(), asyncio.Event()

    async def __call__(self, index: int) -> None:
        if index == 2:
            self.reached.set()
            await self.go_on.wait()


async def _start(client: Client, held: Held) -> tuple[str, Any]:
    session_id = (await client.call("CreateSession")).session.session_id
    stream = client.stream(
        "Respond", request_for("Respond", session_id=session_id, input={"messages": [user("hello there")]})
    )
    frames = aiter(stream)
    await anext(frames)
    await held.reached.wait()
    return session_id, frames


def _rows(service: RunningService) -> tuple[Reconciliation, list[tuple[str, str]]]:
    generation = service.service.generation
    rows = [("local", run_id) for run_id in generation.hub.run_ids]
    return Reconciliation(service.service.env, generation.hub), rows


async def test_a_lost_run_is_ended_at_the_second_look(migrated_url: str) -> None:
    held = Held()
    async with running_service(migrated_url, gate=held) as service, connect(service.address) as client:
        session_id, _ = await _start(client, held)
        reconciliation, rows = _rows(service)
        hub = service.service.generation.hub
        (run_id,) = hub.run_ids
        for _, task in list(hub._running.values()):
            task.cancel()
        live = hub.get(run_id)
        assert live is not None
        await live.wait_closed()

        await reconciliation.look(rows)
        assert (await client.call("ListBranches", session_id=session_id)).branches[0].pending_floor_id
        await reconciliation.look(rows)
        branch = (await client.call("ListBranches", session_id=session_id)).branches[0]
        assert not branch.pending_floor_id
        floor = (await client.call("GetFloor", floor_id=branch.failed_floor_id)).floor
        assert floor.failure_reason == "CRASHED"
