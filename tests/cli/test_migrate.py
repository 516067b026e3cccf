"""`stemma migrate` on both engines, and what it says when it cannot."""

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
from stemma_cli.main import app
from typer.testing import CliRunner, Result

from tests.support.service import running_service


async def migrate(*arguments: str, **settings: str) -> Result:
    """In this process, on a loop of its own."""
    return await asyncio.to_thread(CliRunner().invoke, app, ["migrate", *arguments], env=settings)


async def test_it_makes_the_schema_that_the_service_needs_and_again_does_nothing(engine_url: str) -> None:
    first = await migrate("--database-url", engine_url)
    assert (first.exit_code, first.stderr) == (0, "")
    again = await migrate("--json", STEMMA_CONVERSATION_DATABASE_URL=engine_url)
    assert again.exit_code == 0
    revision = json.loads(again.stdout)["revision"]
    assert first.stdout == f"The conversation database is at revision {revision}, the newest.\n"
    async with running_service(engine_url):
        pass


async def test_without_a_url_it_is_the_file_in_the_data_folder(tmp_path: Path) -> None:
    assert (await migrate(STEMMA_DATA=str(tmp_path / "new"))).exit_code == 0
    with sqlite3.connect(tmp_path / "new" / "conversation.db") as database:
        assert database.execute("SELECT count(*) FROM floor").fetchone() == (0,)
    database.close()


@pytest.mark.parametrize(
    ("url", "code", "told"),
    [
        ("postgresql://nobody@127.0.0.1:1/x", 1, "The database cannot be reached: is it running"),
        ("mysql://x/y", 1, "A database URL is postgresql://… or sqlite:///path/to/file.db."),
        ("://", 2, "--database-url is not a URL"),
        ("sqlite:////proc/nowhere/x.db", 1, "The database cannot be opened: "),
    ],
)
async def test_a_url_that_does_not_work_is_one_line(url: str, code: int, told: str) -> None:
    done = await migrate("--database-url", url)
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr.startswith(f"error: {told}")
    assert done.stderr.count("\n") == 1


async def test_a_file_that_is_none_of_ours_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "noise.db").write_bytes(bytes(range(256)) * 40)
    noise = await migrate("--database-url", f"sqlite:///{tmp_path}/noise.db")
    assert (noise.exit_code, noise.stderr) == (
        1,
        "error: The database was not changed, it says: file is not a database.\n",
    )


async def test_a_schema_of_a_newer_version_is_one_line(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/newer.db"
    assert (await migrate("--database-url", url)).exit_code == 0
    database = sqlite3.connect(tmp_path / "newer.db")
    database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.commit()
    database.close()
    done = await migrate("--database-url", url)
    assert (
        done.stderr
        == "error: The database has schema 9999, which this version does not know: start the version "
        "that made it, or a newer one.\n"
    )


async def test_a_missing_postgres_database_is_one_line(postgres_url: str) -> None:
    done = await migrate("--database-url", f"{postgres_url.rpartition('/')[0]}/no_such_database")
    assert (done.exit_code, done.stdout) == (1, "")
    assert (
        done.stderr
        == 'error: The database was not changed, it says: database "no_such_database" does not exist.\n'
    )


async def test_a_file_in_use_is_not_touched(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/used.db"
    async with running_service(url):
        done = await migrate("--database-url", url)
    assert done.exit_code == 1
    assert done.stderr.startswith("error: Another process uses used.db: stop it first")
