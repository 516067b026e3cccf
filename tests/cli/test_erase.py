"""`stemma erase`: both services are asked, each receipt is shown, and only --yes does it."""

import json
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.access.stage import AccessStage, bearer, new_key, on_access_stage
from tests.cli.programs import Done, in_process
from tests.conftest import DatabaseFactory
from tests.support.client import assistant, user

SAID = {"input": [user("I have fifteen apples.")], "output": [assistant("Fifteen it is.")]}


@pytest.fixture
def urls(database_factory: DatabaseFactory) -> Iterator[tuple[str, str]]:
    with database_factory("sqlite") as canon, database_factory("sqlite", migrated=False) as drafts:
        yield canon, drafts


@pytest.fixture
async def stage(urls: tuple[str, str]) -> AsyncIterator[AccessStage]:
    async with on_access_stage(*urls) as made:
        yield made


async def erase(stage: AccessStage, *arguments: str) -> Done:
    key = str(stage.callers["boss"][0][1]).removeprefix("Bearer ")
    return await in_process(
        *("erase", "ada", *arguments),
        STEMMA_API_KEY=key,
        STEMMA_CONVERSATION=stage.service.address,
        STEMMA_DRAFT=stage.draft.service.address,
    )


async def test_it_asks_both_services_and_shows_their_receipts(stage: AccessStage) -> None:
    _, secret = await new_key(stage.store, "ada", role="owner")
    ada, drafting = (one.bringing(bearer(secret)) for one in (stage.client, stage.draft.client))
    session_id = await ada.new_session()
    await ada.call("AppendFloor", session_id=session_id, **SAID)
    await drafting.call("draft.CreateDraft", session_id=session_id, purpose="to see")

    unsaid = await erase(stage)
    assert (unsaid.code, unsaid.err) == (2, "error: This cannot be undone: say --yes.\n")
    assert (await ada.call("GetSession", session_id=session_id)).session.session_id == session_id

    done = await erase(stage, "--yes")
    assert (done.code, done.err) == (0, "")
    canon, drafts, note = done.lines
    assert canon.startswith("The conversation service erased ")
    assert "1 row of session" in canon
    assert "1 row of draft" in drafts
    assert note == "ada writes nothing any more; keys of theirs are worth nothing."
    assert (await ada.refused("AppendFloor", session_id=session_id, **SAID)).code == "UNAUTHENTICATED"

    again = json.loads((await erase(stage, "--yes", "--json")).out)
    rows = {one["store"]: int(one["rows"]) for one in again["conversation"]["receipt"]}
    assert rows["session"] == 1
