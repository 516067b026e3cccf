"""T2: after ErasePrincipal nothing of a person is in a table, a file or an answer, and nothing comes back."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from google.protobuf.json_format import MessageToJson
from sqlalchemy import MetaData, func, select

from kernel.storage.engine import Engines
from kernel.verbs import erase_principal as rules
from tests.access.stage import AccessStage, bearer, new_key
from tests.erasure.conftest import Scene
from tests.erasure.stage import CANARY, NAME, TABLES, WORDS, Person, clean, erase, files_with, tables_with
from tests.projects.stage import mask, new_id
from tests.support.client import Client, Refusal, assistant, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

BURIED = ("PERMISSION_DENIED", "FORBIDDEN")
# What an erasure blanks: the rows stay.
BLANKED = {
    "floor",
    "page",
    "run",
    "event",
    "request",
    "head_move",
    "config_version",
    "tombstone",
    "draft_audit",
}
BLANKED |= {"api_key", "staged_write", "tool_call", "snapshot_floor"}


async def test_nothing_of_them_is_left(scene: Scene) -> None:
    """In no table, file, answer or memory; and what others wrote is as it was."""
    stage, person, boss = scene.stage, scene.person, scene.stage.as_("boss")
    digests = await _digests(boss, person.shared)
    # Kept in memory by now.
    assert CANARY in MessageToJson(await boss.call("ListPath", session_id=person.shared))
    for where, url in scene.urls.items():
        assert len(await tables_with(url, TABLES[where])) > 8, "there is much to erase"
        assert files_with(url) or url.startswith("postgres")
    receipts = await erase(stage)
    assert receipts[0].keys() >= {"session", "floor", "search_message", "member", "api_key", "live_value"}
    assert receipts[1].keys() >= {"draft", "floor", "snapshot_floor", "request"}
    await clean(stage)
    for where, url in scene.urls.items():
        assert await tables_with(url, TABLES[where]) == [], where
        assert files_with(url) == [], where
    await _as_it_was(stage, person, digests)


async def _as_it_was(stage: AccessStage, person: Person, digests: list[str]) -> None:
    """What others wrote, and that all of it is still the same history."""
    boss = stage.as_("boss")
    assert await _digests(boss, person.shared) == digests
    assert list((await boss.call("VerifySession", session_id=person.shared)).problems) == []
    shown = await _shown(boss, person.shared)
    assert CANARY not in shown
    assert "of the boss" in shown
    assert "kept as well" in shown
    assert '"source": "erased"' in shown
    for session_id in (person.alone, person.draft):
        assert session_id not in json.dumps([one async for one in _answers(stage, person)])
    assert (await boss.refused("GetSession", session_id=person.alone)).code == "NOT_FOUND"
    found = await boss.call("SearchMessages", query="kept as well", project_id="default")
    assert [one.floor_id for one in found.hits] == [person.edited]


async def _digests(boss: Client, session_id: str) -> list[str]:
    found = await boss.call("ListPath", session_id=session_id)
    return [floor.digest for floor in found.floors]


async def _shown(boss: Client, session_id: str) -> str:
    path = MessageToJson(await boss.call("ListPath", session_id=session_id))
    tree = MessageToJson(await boss.call("GetTree", session_id=session_id))
    branches = await boss.call("ListBranches", session_id=session_id)
    for branch in branches.branches:
        path += MessageToJson(await boss.call("ListPath", session_id=session_id, branch=branch.name))
    return path + tree


async def _answers(stage: AccessStage, person: Person) -> AsyncIterator[str]:
    """Everything that can be asked, and none of it holds a word or a name of theirs."""
    boss, drafting = stage.as_("boss"), stage.drafting("boss")
    asked: list[tuple[Client, str, dict[str, Any]]] = [
        (boss, "ListSessions", {}),
        (boss, "ListProjectMembers", {"project_id": "default"}),
        (boss, "ListEvents", {"project_id": "default", "page_size": 1000}),
        (boss, "SearchMessages", {"query": WORDS, "project_id": "default"}),
        (boss, "GetState", {"session_id": person.shared}),
        (boss, "ListMemory", {"session_id": person.shared}),
        (boss, "AssembleContext", {"session_id": person.shared}),
        (boss, "ListStagedWrites", {"session_id": person.shared}),
        (boss, "ListHeadMoves", {"session_id": person.shared, "branch": "main"}),
        (boss, "ListApiKeys", {}),
        (boss, "ListAuditEntries", {"page_size": 200}),
        (drafting, "draft.ListDrafts", {}),
        (drafting, "draft.GetTranscript", {"draft_id": person.other_draft}),
        (drafting, "draft.ListAuditEntries", {"page_size": 200}),
    ]
    yield await _shown(boss, person.shared)
    for client, name, fields in asked:
        answer = MessageToJson(await client.call(name, **fields))
        if name not in {"ListEvents", "ListAuditEntries", "draft.ListAuditEntries"}:
            yield answer
        assert CANARY not in answer, name


async def _nothing_comes_back(stage: AccessStage, person: Person) -> None:
    """Neither a repeat of what was asked before nor anything new, even with a new credential of that name."""
    assert (await person.client.refused("ListProjects")).code == "UNAUTHENTICATED"
    _, secret = await new_key(stage.store, NAME, role="owner")
    again, drafting = stage.client.bringing(bearer(secret)), stage.draft.client.bringing(bearer(secret))
    for name, request in person.sent:
        client = drafting if name.startswith("draft.") else again
        assert _of(await client.refusal(name, request)) in {BURIED, ("NOT_FOUND", "NOT_FOUND")}, name
    said = {"input": [user(WORDS)], "output": [assistant(WORDS)]}
    new: list[tuple[Client, str, dict[str, Any]]] = [
        (again, "AppendFloor", {"session_id": person.shared, **said}),
        (again, "CreateSession", {"title": WORDS}),
        (again, "CreateProject", {"title": WORDS}),
        (again, "UpdateSession", {"session_id": person.shared, "title": WORDS, "update_mask": mask("title")}),
        (drafting, "draft.CreateDraft", {"session_id": person.shared, "purpose": WORDS}),
        (drafting, "draft.AppendMessage", {"draft_id": person.other_draft, "message": user(WORDS)}),
    ]
    for client, name, fields in new:
        assert _of(await client.refused(name, **fields)) == BURIED, name


def _of(refusal: Refusal) -> tuple[str, str]:
    return refusal.code, refusal.reason


async def test_cut_off_it_goes_on(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever step was the last: a repeat completes it, and its receipt says of each row once that it
    went."""
    stage, counted = scene.stage, {}
    for where, url in scene.urls.items():
        counted[where] = await _counts(url, TABLES[where])
    for client, name in (
        (stage.as_("boss"), "ErasePrincipal"),
        (stage.drafting("boss"), "draft.ErasePrincipal"),
    ):
        assert (await client.refused(name, principal="boss")).code == "INVALID_ARGUMENT", (
            "nobody erases themselves"
        )
    asked = {"request_id": new_id()}
    with monkeypatch.context() as patch:
        patch.setattr(rules, "_erase_in", _once(rules._erase_in))
        assert (await stage.as_("boss").refused("ErasePrincipal", principal=NAME, **asked)).code == "INTERNAL"
    with monkeypatch.context() as patch:
        patch.setattr(rules, "_end", _once(rules._end, after=0))
        assert (await stage.as_("boss").refused("ErasePrincipal", principal=NAME, **asked)).code == "INTERNAL"
    receipts = await erase(stage, **asked)
    assert await erase(stage, **asked) == receipts
    assert await erase(stage) == receipts, "another request finds nothing more"
    await clean(stage)
    for (where, url), receipt in zip(scene.urls.items(), receipts, strict=True):
        left = await _counts(url, TABLES[where])
        gone = {name: was - left[name] for name, was in counted[where].items() if was > left[name]}
        assert {name: rows for name, rows in receipt.items() if name in gone and name not in BLANKED} == {
            name: rows for name, rows in gone.items() if name not in BLANKED
        }
        assert await tables_with(url, TABLES[where]) == []
    await _nothing_comes_back(stage, scene.person)


def _once(work: Callable[..., Any], after: int = 1) -> Callable[..., Any]:
    """The work, but for a fault after so many times."""
    left = after

    async def done(*given: Any) -> Any:
        nonlocal left
        if left == 0:
            raise RuntimeError("as if the process had died here")
        left -= 1
        return await work(*given)

    return done


async def _counts(url: str, tables: MetaData) -> dict[str, int]:
    engines = Engines(url)
    try:
        async with engines.reading() as connection:
            return {
                table.name: (await connection.execute(select(func.count()).select_from(table))).scalar_one()
                for table in tables.sorted_tables
            }
    finally:
        await engines.close()
