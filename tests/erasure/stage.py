"""Somebody who has written everywhere, and what looks for what is left of them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import MetaData, select
from sqlalchemy.engine import make_url

from conversation_service.storage.tables import metadata as canon_tables
from draft_service.storage.tables import metadata as draft_tables
from kernel.storage.engine import Engines
from tests.access.stage import TENANT, AccessStage, bearer, new_key
from tests.projects.stage import mask
from tests.support.client import Client, assistant, request_for, user

NAME, WORDS = "zebrawriter", "zebrawords"
# Both are looked for by what they have in common.
CANARY = "zebra"


@dataclass
class Person:
    """`alone`: a session that nobody else wrote in; `shared`: one of the boss's, who wrote before, after and
    beside; `edited`: the boss's floor with a page of theirs; `draft`: their draft, `other_draft`: the boss's,
    which began with their words. `sent`: every write of theirs, by name, as it was asked."""

    client: Client
    drafting: Client
    alone: str = ""
    shared: str = ""
    edited: str = ""
    draft: str = ""
    other_draft: str = ""
    before: dict[str, bytes] = field(default_factory=dict)
    sent: list[tuple[str, Any]] = field(default_factory=list)

    async def call(self, name: str, /, **fields: Any) -> Any:
        request = request_for(name, **fields)
        self.sent.append((name, request))
        client = self.drafting if name.startswith("draft.") else self.client
        return await client.send(name, request)

    async def respond(self, name: str = "Respond", /, **fields: Any) -> None:
        request = request_for(name, **fields, input={"messages": [user(WORDS)]})
        client = self.drafting if name.startswith("draft.") else self.client
        await client.frames(name, request)


def memory(text: str) -> dict[str, Any]:
    return {
        "variables": [{"key": text, "value_json": f'"{text}"'}],
        "memory": [{"op": 1, "kind": 1, "text": text}],
    }


async def person_of(stage: AccessStage) -> Person:
    _, secret = await new_key(stage.store, NAME, role="owner")
    brings = bearer(secret)
    person = Person(stage.client.bringing(brings), stage.draft.client.bringing(brings))
    boss, drafting = stage.as_("boss"), stage.drafting("boss")
    await boss.call("SetProjectMember", project_id="default", principal=NAME, role=3)
    person.alone = (
        await person.call("CreateSession", title=WORDS, config={"system_prompt": WORDS})
    ).session.session_id
    await _wrote_in(person, person.alone)
    person.shared = (await boss.call("CreateSession", title="shared")).session.session_id
    said = {"input": [user("of the boss")], "output": [assistant("kept")]}
    await boss.call("AppendFloor", session_id=person.shared, **said)
    floor = await _wrote_in(person, person.shared)
    await boss.call("AppendFloor", session_id=person.shared, **said)
    state = {"scope": "SCOPE_PROJECT", "key": WORDS, "value_json": f'"{WORDS}"'}
    await person.call("WriteState", project_id="default", variables=[state])
    target = {"session_id": person.shared, "placement": "PLACEMENT_NEXT_FLOOR"}
    await person.call("StageWrite", target=target, parts=[{"output_page": {"output": [assistant(WORDS)]}}])
    await _drafted(person, drafting)
    again = await boss.call("RegenerateFloor", floor_id=floor, output=[assistant("kept as well")])
    person.edited = again.floor.floor_id
    await stage.service.service.following.indexer.caught_up()
    return person


async def _wrote_in(person: Person, session_id: str) -> str:
    """-> a floor with words on both sides"""
    said = {"input": [user(WORDS)], "output": [assistant(WORDS)]}
    first = await person.call("AppendFloor", session_id=session_id, **said, effects=memory(WORDS))
    await person.respond(session_id=session_id)
    opened = await person.call("OpenFloor", session_id=session_id, input=[user(WORDS)])
    await person.call("AddPage", floor_id=opened.floor.floor_id, slot=2, messages=[assistant(WORDS)])
    await person.call("AbandonFloor", floor_id=opened.floor.floor_id, reason=WORDS)
    await person.call("CreateBranch", session_id=session_id, name="side", floor_id=first.floor.floor_id)
    await person.call("UpdateSession", session_id=session_id, title="t", update_mask=mask("title"))
    return str(first.floor.floor_id)


async def _drafted(person: Person, boss: Client) -> None:
    made = {"session_id": person.shared, "purpose": "to see", "visibility": 1}
    person.draft = (await person.call("draft.CreateDraft", **made)).draft.draft_id
    await person.call("draft.AppendMessage", draft_id=person.draft, message=user(WORDS))
    await person.respond("draft.Respond", draft_id=person.draft)
    person.other_draft = (await boss.call("draft.CreateDraft", **made)).draft.draft_id
    await person.call("draft.AppendMessage", draft_id=person.other_draft, message=user(WORDS))


async def erase(stage: AccessStage, **fields: Any) -> tuple[dict[str, int], ...]:
    """Asked of both services. -> their receipts"""
    boss = stage.as_("boss")
    canon = await boss.call("ErasePrincipal", principal=NAME, **fields)
    drafts = await stage.drafting("boss").call("draft.ErasePrincipal", principal=NAME, **fields)
    return tuple({one.store: one.rows for one in answer.receipt} for answer in (canon, drafts))


async def clean(stage: AccessStage) -> None:
    """The audit has everything, the index, and the files."""
    for service in (stage.service.service, stage.draft.service):
        await service.sealer.flush(TENANT)
    await stage.service.service.following.indexer.caught_up()
    for service in (stage.service.service, stage.draft.service):
        await service.scrubber.clean()


async def tables_with(url: str, tables: MetaData, text: str = CANARY) -> list[str]:
    """Those that hold a text in any column, whatever tenant."""
    engines, found = Engines(url), []
    try:
        async with engines.reading() as connection:
            for table in tables.sorted_tables:
                if any(text in plain(row) for row in await connection.execute(select(table))):
                    found.append(table.name)
    finally:
        await engines.close()
    return found


def plain(row: Any) -> str:
    values = [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in row]
    return json.dumps(values, default=str, ensure_ascii=False)


def files_with(url: str, text: str = CANARY) -> list[str]:
    """Of a SQLite database, its log and whatever lies beside it; none for PostgreSQL."""
    return [path.name for path in _files(url) if text.encode() in path.read_bytes()]


def _files(url: str) -> Iterator[Path]:
    parsed = make_url(url if "://" in url else f"sqlite:///{url}")
    if parsed.get_backend_name() == "sqlite":
        path = Path(str(parsed.database))
        yield from path.parent.glob(f"{path.name}*")


TABLES = {"canon": canon_tables, "drafts": draft_tables}
