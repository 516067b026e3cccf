"""`stemma migrate` on both engines, and what it says when it cannot."""

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
from stemma_cli.main import app
from typer.testing import CliRunner, Result

from draft_service.main import build
from draft_service.settings import Settings
from tests.conftest import DatabaseFactory
from tests.support.service import SECRET_KEY, running_service


async def migrate(*arguments: str, **settings: str) -> Result:
    """In this process, on a loop of its own."""
    return await asyncio.to_thread(CliRunner().invoke, app, ["migrate", *arguments], env=settings)


async def conversation(*arguments: str, **settings: str) -> Result:
    return await migrate("--only", "conversation", *arguments, **settings)


async def test_it_makes_the_schemas_that_the_services_need_and_again_does_nothing(
    engine: str, engine_url: str, database_factory: DatabaseFactory
) -> None:
    with database_factory(engine, migrated=False) as draft_url:
        first = await migrate("--database-url", engine_url, "--draft-database-url", draft_url)
        assert (first.exit_code, first.stderr) == (0, "")
        urls = {"STEMMA_CONVERSATION_DATABASE_URL": engine_url, "STEMMA_DRAFT_DATABASE_URL": draft_url}
        again = await migrate("--json", **urls)
        assert again.exit_code == 0
        revisions = json.loads(again.stdout)
        assert list(revisions) == ["conversation", "draft"]
        assert first.stdout == "".join(
            f"The {name} database is at revision {revision}, the newest.\n"
            for name, revision in revisions.items()
        )
        settings = Settings(draft="127.0.0.1:0", draft_database_url=draft_url, secret_key=SECRET_KEY)
        async with running_service(engine_url), build(settings):
            pass


async def test_without_urls_they_are_the_files_in_the_data_folder(tmp_path: Path) -> None:
    assert (await migrate(STEMMA_DATA=str(tmp_path / "new"))).exit_code == 0
    for name, table in {"conversation": "floor", "draft": "draft"}.items():
        with sqlite3.connect(tmp_path / "new" / f"{name}.db") as database:
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
        database.close()


@pytest.mark.parametrize(("only", "other"), [("conversation", "draft"), ("draft", "conversation")])
async def test_one_may_be_left_alone(tmp_path: Path, only: str, other: str) -> None:
    done = await migrate("--only", only, "--json", STEMMA_DATA=str(tmp_path))
    assert list(json.loads(done.stdout)) == [only]
    assert (tmp_path / f"{only}.db").exists()
    assert not (tmp_path / f"{other}.db").exists()


async def test_one_database_for_both_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/one.db"
    done = await migrate("--database-url", url, "--draft-database-url", url)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "error: Each service has a database of its own: the two URLs are the same.\n"
    assert not (tmp_path / "one.db").exists()


@pytest.mark.parametrize(
    ("url", "code", "told"),
    [
        (
            "postgresql://nobody@127.0.0.1:1/x",
            1,
            "The conversation database cannot be reached: is it running",
        ),
        ("mysql://x/y", 1, "A database URL is postgresql://… or sqlite:///path/to/file.db."),
        ("://", 2, "--database-url is not a URL"),
        ("sqlite:////proc/nowhere/x.db", 1, "The conversation database cannot be opened: "),
    ],
)
async def test_a_url_that_does_not_work_is_one_line(tmp_path: Path, url: str, code: int, told: str) -> None:
    done = await migrate("--database-url", url, STEMMA_DATA=str(tmp_path))
    assert (done.exit_code, done.stdout) == (code, "")
    assert done.stderr.startswith(f"error: {told}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "draft.db").exists(), "nothing is done after a failure"


async def test_a_failure_of_the_second_says_so_after_the_first(tmp_path: Path) -> None:
    (tmp_path / "draft.db").write_bytes(bytes(range(256)) * 40)
    done = await migrate(STEMMA_DATA=str(tmp_path))
    assert done.exit_code == 1
    assert done.stdout.startswith("The conversation database is at revision ")
    assert done.stderr == "error: The draft database was not changed, it says: file is not a database.\n"
    wrong = await migrate("--draft-database-url", "://", STEMMA_DATA=str(tmp_path))
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("error: --draft-database-url is not a URL")


async def test_a_file_that_is_none_of_ours_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "noise.db").write_bytes(bytes(range(256)) * 40)
    noise = await conversation("--database-url", f"sqlite:///{tmp_path}/noise.db")
    assert (noise.exit_code, noise.stderr) == (
        1,
        "error: The conversation database was not changed, it says: file is not a database.\n",
    )


@pytest.mark.parametrize("database", ["conversation", "draft"])
async def test_a_schema_of_a_newer_version_is_one_line(tmp_path: Path, database: str) -> None:
    only = ("--only", database)
    assert (await migrate(*only, STEMMA_DATA=str(tmp_path))).exit_code == 0
    connection = sqlite3.connect(tmp_path / f"{database}.db")
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    done = await migrate(*only, STEMMA_DATA=str(tmp_path))
    assert (
        done.stderr
        == "error: The database has schema 9999, which this version does not know: start the version "
        "that made it, or a newer one.\n"
    )


async def test_a_missing_postgres_database_is_one_line(postgres_url: str) -> None:
    done = await conversation("--database-url", f"{postgres_url.rpartition('/')[0]}/no_such_database")
    assert (done.exit_code, done.stdout) == (1, "")
    assert (
        done.stderr == "error: The conversation database was not changed, it says: "
        'database "no_such_database" does not exist.\n'
    )


async def test_a_file_in_use_is_not_touched(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/used.db"
    async with running_service(url):
        done = await conversation("--database-url", url)
    assert done.exit_code == 1
    assert done.stderr.startswith("error: Another process uses used.db: stop it first")
