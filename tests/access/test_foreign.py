"""What is another's is not there: in no answer, and told from nothing by nothing (R6)."""

import asyncio
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from sqlalchemy import event as sql_event

from tests.access.stage import AccessStage
from tests.bad_inputs.world import samples
from tests.support.client import METHODS, Client, assistant, request_for, user

pytestmark = pytest.mark.asyncio(loop_scope="session")

# Ten thousand in `make soak`.
IDS = int(os.environ.get("IDS", "1000"))
CANARY = "canary-acme-7f3a"


async def everything_heard(client: Client, names: list[str], given: dict[str, dict[str, Any]]) -> str:
    """All that the calls answer, errors with their details included."""
    heard = []
    for name in names:
        request = request_for(name, **given[name])
        try:
            if METHODS[name].server_streaming:
                call = client.stream(name, request)
                first = await call.read()
                call.cancel()
                heard.append("" if first is grpc.aio.EOF else json.dumps(MessageToDict(first)))
            else:
                heard.append(json.dumps(MessageToDict(await client.send(name, request))))
        except grpc.aio.AioRpcError as error:
            heard.append(f"{error.details()} {error.trailing_metadata()}")
    return "\n".join(heard)


@pytest.mark.parametrize("caller", ["stranger", "elsewhere"])
async def test_bad_input_16_no_answer_holds_a_word_of_others(stage: AccessStage, caller: str) -> None:
    owner = stage.as_("owner")
    session_id = (await owner.call("CreateSession", title=CANARY)).session.session_id
    words = {"input": [user(CANARY)], "output": [assistant(CANARY)]}
    floor_id = (await owner.call("AppendFloor", session_id=session_id, **words)).floor.floor_id
    await stage.service.service.following.indexer.caught_up()
    given = samples(stage.places)
    for fields in given.values():
        fields.update({"session_id": session_id} if "session_id" in fields else {})
        fields.update({"floor_id": floor_id} if "floor_id" in fields else {})
    given["SearchMessages"] = {"session_id": session_id, "query": CANARY}
    names = [name for name in METHODS if not METHODS[name].client_streaming]
    heard = await everything_heard(stage.as_(caller), names, given)
    assert CANARY not in heard
    assert session_id not in heard
    assert CANARY in await everything_heard(owner, ["GetSession", "ListPath", "SearchMessages"], given)


async def test_lists_show_what_the_caller_may_see(stage: AccessStage) -> None:
    boss = stage.as_("boss")
    there = (await boss.call("CreateSession", project_id=stage.other_project)).session.session_id
    here = (await boss.call("CreateSession")).session.session_id
    for session_id in (there, here):
        target = {"session_id": session_id, "placement": 2}
        await boss.call("StageWrite", target=target, parts=[{"output_page": {"output": [assistant("x")]}}])

    async def seen(caller: str) -> tuple[set[str], set[str], set[str]]:
        client = stage.as_(caller)
        projects = await client.everything("ListProjects", "projects", page_size=1)
        sessions = await client.everything("ListSessions", "sessions", page_size=2)
        entries = await client.everything("ListStagedWrites", "staged_writes", page_size=1)
        return (
            {project.project_id for project in projects},
            {session.session_id for session in sessions},
            {entry.target.session_id for entry in entries},
        )

    projects, sessions, entries = await seen("elsewhere")
    assert (projects, sessions, entries) == ({stage.other_project}, {there}, {there})
    projects, sessions, entries = await seen("observer")
    assert stage.other_project not in projects
    assert here in sessions & entries
    assert there not in sessions | entries
    _, sessions, entries = await seen("boss")
    assert {here, there} <= sessions & entries
    for found in await seen("stranger"):
        assert not found & {here, there, stage.other_project}


async def test_foreign_and_missing_ids_are_told_apart_by_nothing(stage: AccessStage) -> None:
    """Status, words, details and trailers: a foreign id and a missing one get the very same."""
    foreign = [stage.places.session, stage.places.other_session]
    for caller in ("elsewhere", "stranger"):
        client, seen = stage.as_(caller), set()
        for _ in range(IDS // 200):
            asked = [*(foreign * 25), *(str(uuid.uuid4()) for _ in range(50))]
            seen |= set(await asyncio.gather(*(refused(client, session_id) for session_id in asked)))
        assert len(seen) == 1, seen


async def refused(client: Client, session_id: str) -> tuple[Any, ...]:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await client.call("GetSession", session_id=session_id)
    error = caught.value
    trailers = tuple(pair for pair in error.trailing_metadata() if pair[0] != "x-request-id")
    return error.code(), error.details(), trailers


async def test_and_they_cost_the_same_statements(stage: AccessStage) -> None:
    """The fewest of several calls: others work meanwhile."""
    fewest = {}
    for kind, session_id in (("foreign", stage.places.session), ("missing", str(uuid.uuid4()))):
        counts = []
        for _ in range(20):
            with counted(stage.service.service.store._engines) as statements:
                await refused(stage.as_("elsewhere"), session_id)
            counts.append(len(statements))
        fewest[kind] = min(counts)
    assert fewest["foreign"] == fewest["missing"] > 0


@contextmanager
def counted(engines: Any) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    listening = {engine.sync_engine for engine in engines_of(engines)}
    for engine in listening:
        sql_event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        for engine in listening:
            sql_event.remove(engine, "before_cursor_execute", note)


def engines_of(engines: Any) -> list[Any]:
    return [value for value in vars(engines).values() if hasattr(value, "sync_engine")]
