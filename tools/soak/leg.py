"""One leg of a soak: one engine, its replicas, the clients and the kills; then the verdict."""

from __future__ import annotations

import asyncio
import base64
import secrets
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.history.checker import check
from tools.history.clients import run_clients
from tools.history.dump import dump
from tools.history.files import read_history, write_dump
from tools.history.model import Verdict
from tools.history.wire import Caller
from tools.soak.balancer import Balancer
from tools.soak.databases import Database, postgres, sqlite
from tools.soak.killer import Killer, Progress, WatchedHistory
from tools.soak.planted_service import VARIABLE
from tools.soak.replica import Replica
from tools.soak.schedule import schedule

# Sessions and clients begin anew after so many kills: no session grows without end.
_ROUND = 20


@dataclass(frozen=True, slots=True)
class Plan:
    """What a leg does. `engine` is sqlite or postgres; `plant` a fault of planted_service; `settings` are
    PostgreSQL's. After every twenty kills, and in the end, `calls` more are acknowledged. The kills follow
    from the seed; when the clients' calls meet them does not."""

    engine: str
    seed: int
    service_kills: int
    postgres_kills: int
    replicas: int = 1
    calls: int = 200
    clients: int = 12
    sessions: int = 8
    plant: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a leg. `problems`: what VerifySession found, by session; `faults`: ends of the service
    that nobody asked for; `errors`: what it logged as one; `seconds`: of the load, and of the verdict."""

    plan: Plan
    service_kills: int
    postgres_kills: int
    verdict: Verdict
    sessions: int
    problems: tuple[str, ...]
    faults: tuple[str, ...]
    errors: Counter[str]
    seconds: tuple[float, float]

    @property
    def passed(self) -> bool:
        return self.verdict.passed and not (self.problems or self.faults or self.errors)


async def run(plan: Plan, folder: Path, progress: Progress) -> Result:
    """Runs a leg. `folder`, which exists, gets its history and its dump. Raises Stuck."""
    started = time.monotonic()
    history = folder / "history.jsonl"
    async with _database(plan) as database, _replicas(plan, database, folder) as replicas:
        balancer = Balancer([replica.address for replica in replicas])
        async with balancer.serving():
            with WatchedHistory(history) as out:
                killer = Killer(database, replicas, balancer, out, plan.clients // len(replicas) // 2)
                await _load_and_kill(plan, killer, database, balancer.address, out, progress)
            loaded = time.monotonic()
            progress("reading everything back")
            # What clients gave up waiting for may still be under way: a service that stops ends it first.
            await asyncio.gather(*(replica.end(signal.SIGTERM) for replica in replicas))
            await _all_ready(replicas)
            found = await dump(database.url, balancer.address)
            problems = await _verified(balancer.address, [row.session_id for row in found.sessions])
    write_dump(found, folder / "dump.jsonl")
    progress("checking the history")
    verdict = check(read_history(history), found)
    return Result(
        plan,
        sum(replica.kills for replica in replicas),
        database.kills,
        verdict,
        len(found.sessions),
        tuple(problems),
        tuple(fault for replica in replicas for fault in replica.faults),
        sum((replica.errors for replica in replicas), Counter()),
        (loaded - started, time.monotonic() - loaded),
    )


def _database(plan: Plan) -> AbstractAsyncContextManager[Database]:
    return sqlite() if plan.engine == "sqlite" else postgres(plan.settings)


@asynccontextmanager
async def _replicas(plan: Plan, database: Database, folder: Path) -> AsyncIterator[list[Replica]]:
    """The replicas, serving, and kept so. Raises Stuck."""
    environment = {
        "STEMMA_DATA": str(folder),
        "STEMMA_CONVERSATION_DATABASE_URL": database.url,
        "STEMMA_SECRET_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_LOG_LEVEL": "WARNING",
    }
    module = "conversation_service"
    if plan.plant:
        module, environment[VARIABLE] = "tools.soak.planted_service", plan.plant
    replicas = [Replica(module, environment, lambda: database.epoch) for _ in range(plan.replicas)]
    try:
        async with asyncio.TaskGroup() as group:
            keepers = [group.create_task(replica.keep()) for replica in replicas]
            await _all_ready(replicas)
            yield replicas
            for keeper in keepers:
                keeper.cancel()
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None


async def _all_ready(replicas: Iterable[Replica]) -> None:
    await asyncio.gather(*(replica.ready() for replica in replicas))


async def _load_and_kill(
    plan: Plan,
    killer: Killer,
    database: Database,
    address: str,
    out: WatchedHistory,
    progress: Progress,
) -> None:
    kills = schedule(
        plan.seed, service=plan.service_kills, postgres=plan.postgres_kills, replicas=plan.replicas
    )
    for number, first in enumerate(range(0, len(kills), _ROUND)):
        stop = asyncio.Event()
        load = run_clients(
            address,
            seed=1000 * plan.seed + number,
            clients=plan.clients,
            sessions=plan.sessions,
            operations_or_stop_event=stop,
            out=out,
        )
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(load)
                # Each session with its second branch is there, and stays even where a fault loses turns.
                await killer.acknowledged(2 * plan.sessions)
                await database.checkpoint()
                await killer.carry_out(kills[first : first + _ROUND], progress)
                await killer.acknowledged(plan.calls)
                stop.set()
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None


async def _verified(address: str, sessions: Sequence[str]) -> list[str]:
    """What VerifySession says of each session."""
    caller = Caller(address)
    try:
        return [
            f"{session_id}: {problem.kind}: {problem.text}"
            for session_id in sessions
            for problem in (await caller.read("VerifySession", session_id=session_id)).problems
        ]
    finally:
        await caller.close()
