"""`stemma draft …` on both services."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli.programs import Done, in_process
from tests.conftest import DatabaseFactory
from tests.drafts.stage import Replica, Stage, on_stage


@pytest.fixture
async def stage(database_factory: DatabaseFactory) -> AsyncIterator[Stage]:
    with database_factory("sqlite") as canon, database_factory("sqlite", migrated=False) as drafts:
        async with on_stage(canon, drafts) as stage:
            yield stage


async def run(replica: Replica, *arguments: str) -> Done:
    return await in_process("draft", *arguments, STEMMA_DRAFT=replica.service.address)


async def done(replica: Replica, *arguments: str) -> Done:
    found = await run(replica, *arguments)
    assert (found.code, found.err) == (0, ""), found
    return found


async def test_a_life_of_a_draft(stage: Stage, tmp_path: Path) -> None:
    session_id = await stage.session(2)
    made = json.loads(
        (await done(stage.draft, "new", "try", "--session", session_id, "--reply", "--json")).out
    )
    draft_id = made["draft"]["draftId"]
    answered = await done(stage.draft, "say", draft_id)
    assert "You said: user 2" in answered.out
    more = await done(stage.draft, "say", draft_id, "and now?")
    assert "You said: and now?" in more.out
    shown = await done(stage.draft, "transcript", draft_id, "--snapshot")
    assert shown.lines[0] == "user: user 1"
    assert shown.lines[2] == "user: user 2"
    listed = await done(stage.draft, "list", "--session", session_id)
    assert draft_id in listed.lines[0]
    assert "active" in listed.lines[0]
    patch = tmp_path / "patch.json"
    patch.write_text('[{"op":"add","path":"/systemPrompt","value":"slow"}]')
    exported = await done(stage.draft, "export", draft_id, "--config-patch", str(patch), "--reason", "better")
    assert "waits for review" in exported.out
    staged = await stage.client.everything("ListStagedWrites", "staged_writes", draft_id=draft_id)
    assert [entry.staged_write_id for entry in staged] == [exported.out.split()[0]]
    ended = await done(stage.draft, "finalize", draft_id, "--reason", "enough")
    assert ended.out.startswith("finalized; it can be read until")
    assert "finalized by local: enough" in (await done(stage.draft, "show", draft_id)).out
    late = await run(stage.draft, "discard", draft_id)
    assert late.code == 1
    assert "has ended" in late.err


async def test_what_a_draft_is_made_from_must_be_said(stage: Stage) -> None:
    found = await run(stage.draft, "new", "nothing")
    assert (found.code, found.err) == (2, "error: Say what it is made from: --session or --project.\n")
    internal = await done(
        stage.draft, "new", "agent", "--project", "default", "--ttl", "60", "--internal", "--json"
    )
    draft = json.loads(internal.out)["draft"]
    assert (draft["visibility"], draft["retentionPolicy"]) == ("VISIBILITY_INTERNAL", "RETENTION_POLICY_TTL")
    discarded = await done(stage.draft, "cancel", draft["draftId"])
    assert discarded.out.startswith("cancelled; ")


async def test_one_of_several_answers_is_chosen(stage: Stage, tmp_path: Path) -> None:
    session_id = await stage.session(1)
    config = tmp_path / "config.json"
    config.write_text('{"systemPrompt": "Be kind.", "model": {"provider": "scripted"}}')
    arguments = ("new", "try", "--session", session_id, "--reply", "--config", str(config), "--json")
    draft_id = json.loads((await done(stage.draft, *arguments)).out)["draft"]["draftId"]
    both = await done(stage.draft, "say", draft_id, "--candidate", "Be brief.", "--candidate", "Rhyme.")
    assert both.out.count("You said: user 1") == 2
    pages = [line for line in both.lines if line.count("-") == 4 and " " not in line]
    assert len(pages) == 2
    assert f"`stemma draft choose {draft_id} PAGE_ID`" in both.out
    assert "You said: user 1" in (await done(stage.draft, "choose", draft_id, pages[1])).out
    exported = await done(stage.draft, "export", draft_id, "--reply", "--json")
    assert json.loads(exported.out)["sourcePageId"] == pages[1]
    again = await run(stage.draft, "choose", draft_id, pages[0])
    assert (again.code, again.err) == (
        1,
        "error: No turn of this draft is open: there is nothing to choose.\n",
    )
    assert (await done(stage.draft, "proposals", draft_id)).out == "The model has proposed nothing.\n"


async def test_a_file_that_is_no_configuration_is_refused(stage: Stage, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"sytemPrompt": "Be kind."}')
    found = await run(stage.draft, "new", "try", "--project", "default", "--config", str(config))
    assert found.code == 2
    assert "holds no configuration" in found.err
