"""`stemma doctor`: what it finds when all is well, and when one thing is not."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.conftest import DatabaseFactory
from tests.support.processes import stemma_up

STEMMA = [sys.executable, "-m", "stemma_cli", "doctor", "--json"]


def examined(**environment: str) -> dict[str, Any]:
    """What it says of each thing, and its exit status under ""."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("STEMMA_")}
    done = subprocess.run(
        STEMMA, env={**inherited, **environment}, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    findings = {one["what"]: one for one in json.loads(done.stdout)["findings"]}
    return {"": done.returncode, **findings}


async def test_all_is_well(tmp_path: Path) -> None:
    free = {"STEMMA_DATA": str(tmp_path), "STEMMA_PROVIDER": "scripted"}
    ports = dict.fromkeys(("STEMMA_HTTP", "STEMMA_CONVERSATION", "STEMMA_DRAFT"), "127.0.0.1:0")
    async with stemma_up({**free, **ports}) as up:
        at = up.addresses
        found = examined(
            **free,
            STEMMA_CONVERSATION=at["conversation_service"],
            STEMMA_DRAFT=at["draft_service"],
            STEMMA_HTTP=at["gateway"].removeprefix("http://"),
        )
    assert found.pop("") == 0
    assert {name: one["state"] for name, one in found.items()} == dict.fromkeys(
        [
            *("settings", "STEMMA_SECRET_KEY", "access", "disk", "conversation database"),
            *("conversation service", "model", "draft database", "draft service", "gateway"),
        ],
        "ok",
    )


def test_nothing_runs(tmp_path: Path) -> None:
    closed = dict.fromkeys(("STEMMA_HTTP", "STEMMA_CONVERSATION", "STEMMA_DRAFT"), "127.0.0.1:1")
    found = examined(STEMMA_DATA=str(tmp_path), **closed)
    assert found[""] == 1
    assert found["conversation service"]["said"].startswith("UNAVAILABLE")
    assert found["gateway"]["advice"] == "Start it."
    assert found["conversation database"]["state"] == "ok"
    assert not list(tmp_path.iterdir())


def test_a_setting_that_no_program_takes(tmp_path: Path) -> None:
    found = examined(STEMMA_DATA=str(tmp_path), STEMMA_TENANT_RATE="many", STEMMA_SECRET_KEY="hush")
    assert found[""] == 1
    assert "STEMMA_TENANT_RATE" in found["settings (conversation)"]["said"]
    assert "many" not in json.dumps(found)
    assert "hush" not in json.dumps(found)


@pytest.fixture
def postgres(database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory("postgres", migrated=False) as url:
        yield url


async def test_a_postgres_that_would_lose_turns(postgres: str, tmp_path: Path) -> None:
    connection = await asyncpg.connect(postgres)
    name = await connection.fetchval("SELECT current_database()")
    await connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off')
    await connection.close()
    found = examined(STEMMA_DATA=str(tmp_path), STEMMA_CONVERSATION_DATABASE_URL=postgres)
    assert found["conversation database"]["state"] == "fail"
    assert "synchronous_commit = off" in found["conversation database"]["said"]
    assert found["STEMMA_SECRET_KEY"]["state"] == "fail"
    assert postgres not in json.dumps(found)
