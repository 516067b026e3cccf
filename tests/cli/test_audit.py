"""`stemma audit`: what was done, as lines; and a chain that was tampered with is found in its database."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import update
from stemma_cli.main import app
from typer.testing import CliRunner, Result

from kernel.storage import tables as t
from kernel.storage.engine import Engines
from tests.projects.stage import Stage, on_stage


@pytest.fixture
async def stage(migrated_url: str) -> AsyncIterator[Stage]:
    async with on_stage(migrated_url) as stage:
        await stage.session(title="one")
        await stage.session(title="two")
        yield stage


async def audit(*arguments: str, **settings: str) -> Result:
    """In this process, on a loop of its own."""
    return await asyncio.to_thread(CliRunner().invoke, app, ["audit", *arguments], env=settings)


async def test_it_lists_what_was_done_and_the_head(stage: Stage) -> None:
    address = ("--address", stage.service.address)
    shown = await audit("list", "action=CreateSession", "principal=local", *address)
    assert (shown.exit_code, shown.stderr) == (0, "")
    first, second, head = shown.stdout.splitlines()
    assert first.split()[0] == "2"
    assert first.split()[3:6] == ["local", "CreateSession", "session"]
    assert second.split()[0] == "1"
    answer = json.loads((await audit("list", "--json", *address)).stdout)
    assert head == f"The chain's head is {answer['head']}"
    assert answer["auditEntries"][0]["digest"] == answer["head"].partition(":")[2]
    none = await audit("list", "outcome=PERMISSION_DENIED", *address)
    assert none.stdout.splitlines()[0] == "Nothing that fits was done."
    wrong = await audit("list", "colour=red", *address)
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "colour=red is not FIELD=VALUE" in wrong.stderr


async def test_it_names_the_entry_that_was_tampered_with(stage: Stage, migrated_url: str) -> None:
    """Beside the running service; `--kept` sees what a chain alone cannot show."""
    await stage.caught_up()
    url = ("--database-url", migrated_url)
    good = await audit("verify", "--json", *url)
    found = json.loads(good.stdout)
    assert (good.exit_code, found["entries"]) == (0, 2)
    assert (await audit("verify", *url, "--kept", found["head"])).stdout.startswith(
        "2 entries: the chain holds.\n"
    )
    later = f"3:{'ab' * 32}"
    cut = await audit("verify", *url, "--kept", later)
    assert (cut.exit_code, cut.stderr) == (
        1,
        "error: The audit of local does not hold: entry 3 is missing at the end.\n",
    )
    engines = Engines(migrated_url)
    async with engines.writing() as connection:
        await connection.execute(
            update(t.audit_entry).where(t.audit_entry.c.number == 2).values(action="GetSession")
        )
    await engines.close()
    bad = await audit("verify", *url)
    assert (bad.exit_code, bad.stdout, bad.stderr) == (
        1,
        "",
        "error: The audit of local does not hold: entry 2 differs from what was sealed.\n",
    )


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--database-url", "sqlite:////nowhere/at.db"], 1, "There is no database /nowhere/at.db."),
        (["--database-url", "mysql://x/y"], 1, "A database URL is postgresql://…"),
        (["--database-url", "postgresql://nobody@127.0.0.1:1/x"], 1, "The database cannot be read"),
        (["--kept", "nothing"], 2, "--kept is not a head"),
        (["--drafts"], 1, "There is no database"),
    ],
)
async def test_what_it_says_when_it_cannot(arguments: list[str], code: int, said: str) -> None:
    done = await audit("verify", *arguments, STEMMA_DATA="/nowhere")
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr
