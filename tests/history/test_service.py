"""The real service under many clients at once: its history passes; with a fault planted it does not."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kernel.storage.store import SqlStore
from tests.support.service import running_service
from tools.history.checker import check
from tools.history.clients import run_clients
from tools.history.dump import dump
from tools.history.evidence import METHODS
from tools.history.files import HistoryWriter, read_history
from tools.history.model import Operation, Verdict

CLIENTS, SESSIONS = 8, 6


async def history_of(url: str, path: Path, *, seed: int, operations: int) -> tuple[list[Operation], Verdict]:
    """Eight clients on a service of this database, and the verdict on what they saw and left."""
    async with running_service(url) as running:
        with HistoryWriter(path) as out:
            await run_clients(
                running.address,
                seed=seed,
                clients=CLIENTS,
                sessions=SESSIONS,
                operations_or_stop_event=operations,
                out=out,
            )
        await running.service.store.idle()
        found = await dump(url, running.address)
    history = list(read_history(path))
    return history, check(history, found)


async def test_the_service_keeps_its_promises(migrated_url: str, tmp_path: Path) -> None:
    history, verdict = await history_of(migrated_url, tmp_path / "history", seed=1, operations=180)
    assert verdict.passed, "\n".join(verdict.lines())
    # What the clients did is worth checking: every method, races that were lost, repeats, unknown ends.
    assert {call.method for call in history if call.acknowledged} == METHODS
    reasons = Counter(call.reason for call in history if call.refused)
    assert reasons["HEAD_MOVED"] > 5
    assert reasons["REQUEST_ID_REUSED"] > 5
    told = Counter(call.request_id for call in history if call.acknowledged)
    assert sum(times > 1 for times in told.values()) > 5
    assert verdict.unknown > 0
    assert any(call.expected_head and call.acknowledged for call in history)


async def test_a_missing_head_check_is_seen(
    migrated_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernel.verbs.pending.expect_head", lambda branch, target: None)
    _, verdict = await history_of(migrated_url, tmp_path / "history", seed=2, operations=80)
    assert verdict.first is not None
    assert verdict.first.rule == "T3"
    assert "expected HEAD_MOVED" in verdict.first.text


class _RollsBack(Exception):
    """Undoes a transaction whose caller has its answer already."""


async def test_an_acknowledgement_before_the_commit_is_seen(
    migrated_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every few writes one is answered and then rolled back, as by a crash just before COMMIT."""
    once, writes = SqlStore._once, 0

    async def acknowledged_too_early(store: SqlStore, tenant_id: str, work: Any) -> Any:
        nonlocal writes
        writes += 1
        # The sessions themselves are made first, and stay.
        if writes <= 2 * SESSIONS or writes % 4:
            return await once(store, tenant_id, work)
        answers = []

        async def rolled_back(tx: Any) -> None:
            answers.append(await work(tx))
            raise _RollsBack

        with pytest.raises(_RollsBack):
            await once(store, tenant_id, rolled_back)
        return answers[0]

    monkeypatch.setattr(SqlStore, "_once", acknowledged_too_early)
    _, verdict = await history_of(migrated_url, tmp_path / "history", seed=3, operations=80)
    assert verdict.first is not None
    assert verdict.first.rule == "R2"
    assert verdict.lost > 0


class _Milestones(HistoryWriter):
    """Sets an event at a number of acknowledgements."""

    def __init__(self, path: Path, *at: int) -> None:
        super().__init__(path)
        self.reached = {count: asyncio.Event() for count in at}

    def complete(self, *arguments: Any, **told: Any) -> Operation:
        done = super().complete(*arguments, **told)
        if (event := self.reached.get(self.counts["ok"])) is not None:
            event.set()
        return done


async def test_clients_wait_for_a_service_that_comes_back(migrated_url: str, tmp_path: Path) -> None:
    """It stops under load and starts again at the same address; what was under way may have happened."""
    stop = asyncio.Event()
    with _Milestones(tmp_path / "history", 40, 80) as out:
        async with running_service(migrated_url) as first:
            load = asyncio.create_task(
                run_clients(
                    first.address, seed=4, clients=4, sessions=3, operations_or_stop_event=stop, out=out
                )
            )
            await _until(out.reached[40], load)
        async with running_service(migrated_url, conversation=first.address) as second:
            await _until(out.reached[80], load)
            stop.set()
            await load
            await second.service.store.idle()
            found = await dump(migrated_url, second.address)
    verdict = check(read_history(tmp_path / "history"), found)
    assert verdict.passed, "\n".join(verdict.lines())
    assert verdict.acknowledged >= 80


async def _until(event: asyncio.Event, load: asyncio.Task[None]) -> None:
    """Waits for the event; a load that has ended before raises what it raised."""
    waiting = asyncio.create_task(event.wait())
    await asyncio.wait((waiting, load), return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        waiting.cancel()
        await load
    assert event.is_set()


async def test_clients_that_are_told_to_stop_stop_without_a_service(tmp_path: Path) -> None:
    stop = asyncio.Event()
    with HistoryWriter(tmp_path / "history") as out:
        # Nothing listens on port 1.
        load = run_clients(
            "127.0.0.1:1", seed=5, clients=2, sessions=1, operations_or_stop_event=stop, out=out, deadline=2.0
        )
        stop.set()
        await load
    (call,) = read_history(tmp_path / "history")
    assert (call.method, call.outcome, call.reason) == ("CreateSession", "unknown", "UNAVAILABLE")
