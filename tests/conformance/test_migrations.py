"""Migrations make the schema that the code expects, once, however many start together; and a SQLite file
belongs to one process."""

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from conversation_service.migrate import SCRIPTS, migrate
from conversation_service.storage.tables import metadata
from kernel.errors import FailedPrecondition
from kernel.storage.engine import Engines
from kernel.storage.migrate import _ADVISORY_LOCK
from tests.conformance.schemas import create_all, execute, schema
from tests.conftest import DatabaseFactory

ROOT = Path(__file__).parent.parent.parent
WAIT_SECONDS = 30

MIGRATE = (
    "import asyncio, sys; from conversation_service.migrate import migrate as m; asyncio.run(m(sys.argv[1]))"
)
HOLD = (
    "import sys; from kernel.storage.engine import Engines; held = Engines(sys.argv[1]); held.hold();"
    " print('held', flush=True); sys.stdin.read()"
)


@pytest.fixture
def other_url(engine: str, database_factory: DatabaseFactory) -> Iterator[str]:
    """A second database without a table."""
    with database_factory(engine, migrated=False) as url:
        yield url


@asynccontextmanager
async def process(code: str, url: str) -> AsyncIterator[Process]:
    """A Python process of its own; killed at the end if it still runs."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in (".", "cli", "protos/gen"))
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-W", "error", "-c", code, url]
    started = await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, cwd=ROOT
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.send_signal(signal.SIGKILL)
        await started.communicate()


async def test_the_migrated_schema_is_the_one_of_the_code(migrated_url: str, other_url: str) -> None:
    """Tables, columns, types, nullability, defaults, keys, foreign keys, indexes with their conditions."""
    await create_all(other_url)
    found = await schema(migrated_url)
    assert found == await schema(other_url)
    shown = repr(found)
    assert all(table in shown for table in metadata.tables), "the comparison sees every table"


PLANTED = {
    "a column": "ALTER TABLE session ADD COLUMN planted INTEGER",
    "an index": "CREATE INDEX planted ON session (title)",
    "a missing index": "DROP INDEX segment_parent_ix",
    "an index of another kind": "CREATE UNIQUE INDEX planted ON session (tenant_id, title)",
    "a table": "CREATE TABLE planted (tenant_id VARCHAR)",
    "a renamed column": "ALTER TABLE head_move RENAME COLUMN kind TO planted",
}


@pytest.mark.parametrize("what", sorted(PLANTED))
async def test_the_comparison_sees_what_differs(migrated_url: str, what: str) -> None:
    before = await schema(migrated_url)
    await execute(migrated_url, PLANTED[what])
    assert await schema(migrated_url) != before


async def test_the_condition_of_a_partial_index_is_compared(migrated_url: str) -> None:
    before = await schema(migrated_url)
    await execute(migrated_url, "DROP INDEX run_running_ix")
    await execute(migrated_url, "CREATE INDEX run_running_ix ON run (owner)")
    assert await schema(migrated_url) != before


async def test_migrating_again_changes_nothing(engine_url: str) -> None:
    first = await migrate(engine_url)
    before = await schema(engine_url)
    await execute(
        engine_url,
        "INSERT INTO feed (tenant_id, project_id, last) VALUES ('t', '0123456789abcdef0123456789abcdef', 1)",
    )
    assert await migrate(engine_url) == first
    assert await schema(engine_url) == before
    engines = Engines(engine_url)
    try:
        async with engines.reading() as connection:
            assert (await connection.exec_driver_sql("SELECT count(*) FROM feed")).scalar() == 1
    finally:
        await engines.close()


async def test_a_newer_schema_is_refused_with_a_sentence(migrated_url: str) -> None:
    await execute(migrated_url, "UPDATE alembic_version SET version_num = '9999'")
    before = await schema(migrated_url)
    with pytest.raises(FailedPrecondition, match="schema 9999, which this version does not know"):
        await migrate(migrated_url)
    assert await schema(migrated_url) == before


def test_migrations_are_numbered_in_one_line() -> None:
    """Each follows the one before; none is named twice."""
    files = sorted(path for path in (SCRIPTS / "versions").glob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in files]
    revisions = [re.search(r'^revision.* = "(\d{4})"', text, re.M) for text in texts]
    numbers = [found[1] for found in revisions if found]
    assert numbers == [path.name[:4] for path in files] == [f"{n:04}" for n in range(1, 1 + len(files))]
    previous = [re.search(r'^down_revision.* = (?:"(\d{4})"|None)', text, re.M) for text in texts]
    assert [found[1] for found in previous if found] == [None, *numbers[:-1]]


async def _waiting_for_the_lock(connection: asyncpg.Connection, number: int) -> None:
    """Returns when that many sessions of this database wait for an advisory lock."""
    query = (
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            if await connection.fetchval(query) >= number:
                return
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("engine", ["postgres"])
async def test_two_processes_may_migrate_at_once(engine_url: str, other_url: str) -> None:
    """Both are held until both have come as far as the lock: then one migrates, and one finds it done."""
    connection = await asyncpg.connect(engine_url)
    try:
        async with process(MIGRATE, engine_url) as one, process(MIGRATE, engine_url) as two:
            async with connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1)", _ADVISORY_LOCK)
                await _waiting_for_the_lock(connection, 2)
            async with asyncio.timeout(WAIT_SECONDS):
                ends = [await started.communicate() for started in (one, two)]
            assert (one.returncode, two.returncode) == (0, 0), ends
    finally:
        await connection.close()
    await create_all(other_url)
    assert await schema(engine_url) == await schema(other_url)


@pytest.mark.parametrize("engine", ["sqlite"])
async def test_a_second_process_on_a_file_is_refused_with_a_sentence(engine_url: str) -> None:
    """While it runs; when it is killed, the file is free."""
    name = Path(engine_url).name
    async with process(HOLD, engine_url) as holder:
        assert holder.stdout is not None
        assert await holder.stdout.readline() == b"held\n"
        with pytest.raises(FailedPrecondition) as caught:
            await migrate(engine_url)
        assert caught.value.message == (
            f"Another process uses {name}: stop it first, or use PostgreSQL for several."
        )
        assert not os.access(engine_url.removeprefix("sqlite:///"), os.F_OK), "it has not been touched"
    await migrate(engine_url)


@pytest.mark.parametrize("engine", ["sqlite"])
async def test_a_file_is_given_back_when_its_engines_close(engine_url: str) -> None:
    first, second = Engines(engine_url), Engines(engine_url)
    first.hold()
    with pytest.raises(FailedPrecondition):
        second.hold()
    await first.close()
    second.hold()
    await second.close()


@pytest.mark.parametrize(
    "url", ["mysql://host/name", "sqlite://", "sqlite:///:memory:", "sqlite:///", "", "http://host/name"]
)
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(FailedPrecondition, match=r"postgresql://… or sqlite:///"):
        Engines(url)


def test_a_bare_name_is_a_file(tmp_path: Path) -> None:
    assert Engines(str(tmp_path / "a.db")).dialect == "sqlite"
    assert Engines("postgresql://host/name").dialect == "postgresql"
