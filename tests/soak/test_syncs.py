"""R2 against a loss of power: what is acknowledged has been synced. Kills cannot show it (`syncs.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import asyncpg
import pytest

from tests.support.client import Client, assistant, connect, user
from tests.support.databases import sqlite_url
from tests.support.own_postgres import OwnPostgres
from tests.support.postgres import SETTINGS, own_folder
from tests.support.service import running_service
from tools.soak.syncs import counted_syncs, postgres_syncs

APPENDS = 25
SESSIONS = 16


async def _append(client: Client, session_id: str, text: str) -> None:
    await client.call("AppendFloor", session_id=session_id, input=[user(text)], output=[assistant(text)])


async def _one_by_one(client: Client, session_id: str) -> None:
    for number in range(APPENDS):
        await _append(client, session_id, str(number))


async def _together(client: Client, sessions: list[str]) -> None:
    """Rounds of one append to every session at once; a session is never twice in a batch."""
    for number in range(APPENDS):
        await asyncio.gather(*(_append(client, session_id, str(number)) for session_id in sessions))


async def test_sqlite_syncs_its_log_before_each_acknowledgement(tmp_path: Path) -> None:
    log = str(tmp_path / "one.db-wal")
    async with (
        running_service(sqlite_url(tmp_path / "one.db")) as service,
        connect(service.address) as client,
    ):
        sessions = [await client.new_session() for _ in range(SESSIONS)]
        with counted_syncs() as syncs:
            await _one_by_one(client, sessions[0])
            assert syncs[log] >= APPENDS
            before = syncs[log]
            await _together(client, sessions)
            batches = syncs[log] - before
    assert APPENDS <= batches < APPENDS * SESSIONS * 3 / 4


@pytest.fixture
async def durable_postgres() -> AsyncIterator[str]:
    """A server as it is in production (the suite's own does without fsync), whose log is written by nobody
    but by who waits for it."""
    settings = {**SETTINGS, "fsync": "on", "full_page_writes": "on", "wal_writer_delay": "10s"}
    with own_folder() as folder:
        server = OwnPostgres(folder, settings)
        await server.start()
        yield server.url
        server.stop()


async def _syncs_of(url: str, work: Callable[[Client], Awaitable[None]], at_least: int = 0) -> int:
    """How many syncs a service makes from its start to its end, doing `work`; waits for `at_least`."""
    before = await postgres_syncs(url)
    async with running_service(url) as service, connect(service.address) as client:
        await work(client)
    return await postgres_syncs(url, at_least=before + at_least) - before


async def test_postgres_syncs_its_log_before_each_acknowledgement(durable_postgres: str) -> None:
    url = durable_postgres
    sessions: list[str] = []

    async def prepare(client: Client) -> None:
        sessions.extend([await client.new_session() for _ in range(SESSIONS)])

    async def nothing(client: Client) -> None:
        await client.call("ListSessions")

    async def one_by_one(client: Client) -> None:
        await _one_by_one(client, sessions[0])

    async def together(client: Client) -> None:
        await _together(client, sessions)

    await _syncs_of(url, prepare)
    idle = await _syncs_of(url, nothing)
    await _syncs_of(url, one_by_one, at_least=idle + APPENDS)
    assert await _syncs_of(url, together, at_least=idle + APPENDS) < APPENDS * SESSIONS * 3 / 4
    # What the counting itself is worth: without synchronous commits it sees that nobody waits.
    await _execute(url, "ALTER SYSTEM SET synchronous_commit = off", "SELECT pg_reload_conf()")
    assert await _syncs_of(url, one_by_one) < APPENDS / 2


async def _execute(url: str, *statements: str) -> None:
    connection = await asyncpg.connect(url)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()
