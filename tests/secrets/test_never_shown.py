"""A secret that was given is never given out: not in a log at its most talkative, not in an answer, an error,
an export, an event or the audit, and not in a database's files."""

import hashlib
import sqlite3
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx

from tests.generation.endpoint import endpoint
from tests.secrets.story import (
    CALLS,
    DRAFT_CALLS,
    OF_A_TENANT,
    OF_THE_OPERATOR,
    WRONG,
    Caller,
    Issuer,
    Secrets,
    channel,
    draft_story,
    drafts_go_wrong,
    environment,
    key_of,
    repeats_its_key,
    story,
    things_go_wrong,
)
from tests.support.processes import Running
from tests.support.processes import running as start

LEAST = {"OK", "INVALID_ARGUMENT", "NOT_FOUND", "UNAUTHENTICATED", "ALREADY_EXISTS", "INTERNAL"}


def files_in(folder: Path) -> dict[str, bytes]:
    """Each database's files, the log of what was written last too."""
    found = {path.name: path.read_bytes() for path in folder.glob("*.db*")}
    assert {"conversation.db", "draft.db"} <= set(found)
    return found


def change(folder: Path, statement: str) -> None:
    """Something that nobody but a test does to a database in use."""
    connection = sqlite3.connect(folder / "conversation.db", timeout=10)
    try:
        assert connection.execute(statement).rowcount > 0
        connection.commit()
    finally:
        connection.close()


async def test_no_secret_is_ever_shown(tmp_path: Path) -> None:
    secrets = Secrets()
    signed = Issuer(tmp_path).token()
    secrets.found["a token"] = signed
    secrets.found["a token's signature"] = signed.rpartition(".")[2]
    async with endpoint(repeats_its_key) as model, AsyncExitStack() as running:
        programs = await _started(running, environment(tmp_path, model.base_url))
        conversation, drafts, front = programs
        by_token = Caller(await running.enter_async_context(channel(conversation.address)), signed)
        key = await key_of(by_token, role=3, scopes=["admin"])
        secrets.found["an API key"] = key
        caller = by_token.bringing(key)
        ids = await story(caller, model.base_url)
        of_drafts = caller.to(await running.enter_async_context(channel(drafts.address)))
        draft = await draft_story(of_drafts, ids, model.base_url)
        assert 200 in await _over_rest(front.address, caller, ids), "the gateway lets the key through"
        codes = await things_go_wrong(caller, ids, model.base_url, CALLS)
        codes |= await drafts_go_wrong(of_drafts, draft, DRAFT_CALLS)
        codes |= await _inner_failures(tmp_path, caller, ids)
        assert codes >= LEAST, "all kinds of failures were looked at"
        sent = {exchange.headers["authorization"] for exchange in model.exchanges}
        assert {f"Bearer {OF_A_TENANT}", f"Bearer {OF_THE_OPERATOR}"} <= sent, "they were used"
    _nothing_in(secrets, programs, caller.heard, tmp_path)
    database = b"".join(files_in(tmp_path).values())
    assert hashlib.sha256(key.encode()).digest() in database, "of an API key there is a digest"
    assert b"s1." in database, "and a model's key is sealed"


async def _started(running: AsyncExitStack, settings: dict[str, str]) -> list[Running]:
    """All three programs, each told where the one before it is."""
    programs = []
    for name in ("conversation", "draft", "http"):
        module = "gateway" if name == "http" else f"{name}_service"
        settings[f"STEMMA_{name.upper()}"] = "127.0.0.1:0"
        command = [sys.executable, "-m", module]
        program = await running.enter_async_context(start(module, command, settings))
        settings[f"STEMMA_{name.upper()}"] = program.address
        programs.append(program)
    return programs


async def _over_rest(address: str, caller: Caller, ids: dict[str, str]) -> set[int]:
    """The same secrets in headers, bodies, paths and queries; -> the statuses that came"""
    session = f"/v1/sessions/{ids['session_id']}"
    body = {"config": {"model": {"apiKey": OF_A_TENANT, "baseUrl": "http://169.254.169.254/v1"}}}
    bodies: list[Any] = [body, {**body, "no": OF_A_TENANT}, [OF_A_TENANT], {"config": OF_A_TENANT}]
    paths = [session, f"/v1/projects?pageToken={OF_A_TENANT}", f"{session}?key={WRONG}", f"/v1/{WRONG}"]
    answers = []
    async with httpx.AsyncClient(base_url=address) as client:
        for credential in (caller.credential, WRONG):
            for header in ({"authorization": f"Bearer {credential}"}, {"x-api-key": credential}):
                answers += [await client.get(path, headers=header) for path in paths]
                answers += [await client.post("/v1/projects", json=one, headers=header) for one in bodies]
    caller.heard += [f"{answer.headers}\n{answer.text}".encode() for answer in answers]
    return {answer.status_code for answer in answers}


async def _inner_failures(folder: Path, caller: Caller, ids: dict[str, str]) -> set[str]:
    """What the service does not expect is logged with its traceback: here of a text that is cut in a key."""
    change(
        folder,
        "UPDATE session SET config = substr(config, 1, instr(config, 's1.') + 20) WHERE config <> '{}'",
    )
    asked = [("GetEffectiveConfig", ids["session_id"]), ("GetSession", ids["session_id"])]
    return {(await caller.ask(name, session_id=session_id)).code.name for name, session_id in asked}


def _nothing_in(secrets: Secrets, programs: list[Running], heard: list[bytes], folder: Path) -> None:
    logs = {program.name: "\n".join(program.lines).encode() for program in programs}
    assert b"unexpected error" in logs["conversation_service"], "tracebacks were looked at"
    for where, content in {**logs, "answers": b"\n".join(heard), **files_in(folder)}.items():
        assert secrets.seen_in(content) == [], where
