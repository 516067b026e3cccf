"""A small conversation to aim bad inputs at, a valid request for every RPC, and what the database holds.

Everything is walked from the descriptors: a new RPC is in every test once its sample is here, and fails
`test_every_rpc_has_a_sample` until then.
"""

import re
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2, health_pb2_grpc
from sqlalchemy import select
from stemma.kernel.v1 import floor_pb2

from kernel.storage import tables
from tests.rpc.plumbing import Answer
from tests.rpc.plumbing import Client as RawClient
from tests.support.client import METHODS, Client, assistant, request_for, user, writes
from tests.support.service import RunningService, running_service

TIMEOUT = 30.0
# One request in, so all that a walk over "every RPC" can send the same way.
RPCS = tuple(name for name, method in METHODS.items() if not method.client_streaming)
# With auth off, whose a credential is needs no look.
ASKING = tuple(name for name in RPCS if name != "Introspect")
WRITES = tuple(filter(writes, RPCS))

# For tests of what never gets as far as the database.
ON_SQLITE_ONLY = pytest.mark.parametrize("world_url", ["sqlite"], indirect=True, scope="session")

# What Python, its libraries and our own insides look like in a text.
LEAKS = re.compile(
    r"Traceback|File \"|\bline \d+, in |\w+(Error|Exception|Warning)\b|object at 0x|NoneType|<class"
    r"|google\.protobuf|asyncpg|aiosqlite|sqlalchemy|sqlite3?\b|psycopg|\bkernel\.|conversation_service\."
    r"|\.py\b|/tmp/|\bassert\b|SELECT |INSERT "
)


def path_of(name: str) -> str:
    return f"/{METHODS[name].containing_service.full_name}/{name}"


def fields_of(name: str) -> dict[str, FieldDescriptor]:
    return dict(METHODS[name].input_type.fields_by_name)


@dataclass(frozen=True)
class Places:
    """The ids of the conversation. `root` - `first` - `second` is `main`'s path, `edited` the second's
    sibling, on the way to `long`; `side` has `opened` pending below `first`, where `spare` stands too;
    `failed` was given up; `other_session` is another."""

    project: str
    session: str
    root: str
    first: str
    second: str
    edited: str
    opened: str
    failed: str
    page: str
    run: str
    other_session: str
    other_floor: str
    staged: str
    key: str


@dataclass(frozen=True)
class World:
    service: RunningService
    raw: RawClient
    places: Places

    def sample(self, name: str, /, **changes: Any) -> Message:
        """A request that is right in itself, with a fresh request_id, and then changed."""
        return request_for(name, **(samples(self.places)[name] | changes))

    async def ask(self, name: str, request: Message | bytes, **options: Any) -> Answer:
        """Whatever comes back."""
        send = self.raw.stream if METHODS[name].server_streaming else self.raw.unary
        return await send(path_of(name), request, **{"timeout": TIMEOUT, **options})

    async def healthy(self) -> bool:
        stub = health_pb2_grpc.HealthStub(self.raw.channel)
        answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT)
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    async def rows(self) -> dict[str, list[str]]:
        """Every row of every table, but the leases that processes renew. What follows later is there."""
        found = {}
        await self.service.service.following.indexer.caught_up()
        await self.service.service.sealer.flush("local")
        async with self.service.service.store._engines.reading() as connection:
            for table in tables.metadata.sorted_tables:
                if table is not tables.process:
                    result = await connection.execute(select(table))
                    found[table.name] = sorted(repr(tuple(row)) for row in result)
        return found


def samples(at: Places) -> dict[str, dict[str, Any]]:
    """For each RPC the fields of a request that would be answered."""
    words = {"input": [user("asked")], "output": [assistant("said")]}
    here = {"session_id": at.session}
    config = {"project_id": at.project, "version": 1}
    return {
        "CreateProject": {"title": "a project"},
        "GetProject": {"project_id": at.project},
        "ListProjects": {},
        "UpdateProject": {"project_id": at.project, "title": "b", "update_mask": {"paths": ["title"]}},
        "ArchiveProject": {"project_id": at.project},
        "RestoreProject": {"project_id": at.project},
        "SetProjectMember": {"project_id": at.project, "principal": "somebody", "role": 1},
        "RemoveProjectMember": {"project_id": at.project, "principal": "somebody"},
        "ListProjectMembers": {"project_id": at.project},
        "GetEffectiveConfig": here,
        "ListConfigVersions": here,
        "GetConfigVersion": config,
        "RestoreConfigVersion": config,
        "CreateSession": {"title": "another"},
        "GetSession": here,
        "ListSessions": {},
        "UpdateSession": {**here, "title": "b", "update_mask": {"paths": ["title"]}},
        "ArchiveSession": here,
        "RestoreSession": here,
        "DeleteSession": {"session_id": at.other_session},
        "ForkSession": {**here, "floor_id": at.second},
        "ExportSession": here,
        "AppendFloor": {**here, **words},
        "OpenFloor": {**here, "input": words["input"]},
        "AddPage": {"floor_id": at.opened, "slot": 2, "messages": words["output"]},
        "ActivatePage": {"page_id": at.page},
        "CommitFloor": {"floor_id": at.opened},
        "AbandonFloor": {"floor_id": at.opened, "reason": "enough"},
        "EditFloor": {"floor_id": at.second, **words},
        "RegenerateFloor": {"floor_id": at.second, "output": words["output"]},
        "MoveHead": {**here, "floor_id": at.first},
        "SelectSibling": {**here, "floor_id": at.second},
        "CreateBranch": {**here, "name": "new", "floor_id": at.first},
        "DeleteBranch": {**here, "branch": "spare"},
        "ListBranches": here,
        "DiffBranches": {**here, "target": "long"},
        "MergeBranch": {**here, "branch": "spare", "source_branch": "main"},
        "ListHeadMoves": here,
        "GetFloor": {"floor_id": at.second},
        "ListSiblings": {"floor_id": at.second},
        "ListPages": {"floor_id": at.opened},
        "ListPath": here,
        "GetTree": here,
        "SearchMessages": {**here, "query": "re"},
        "Respond": {**here, "input": {"messages": words["input"]}},
        "AssembleContext": {**here, "input": {"messages": words["input"]}},
        "ExplainFloor": {"floor_id": at.second},
        "DiffContexts": {"left_floor_id": at.second, "right_floor_id": at.edited},
        **_of_runs(at),
        **_of_state_and_events(at),
    }


def _of_runs(at: Places) -> dict[str, dict[str, Any]]:
    run = {"run_id": at.run}
    return {
        "AttachRun": run,
        "GetRun": run,
        "CancelRun": run,
        "SubmitToolResults": {**run, "results": [{"call_id": "call_1", "content": "42"}]},
    }


def _of_state_and_events(at: Places) -> dict[str, dict[str, Any]]:
    here = {"session_id": at.session}
    return {
        "VerifySession": here,
        "ErasePrincipal": {"principal": "somebody who left"},
        "ListAuditEntries": {},
        "GetState": here,
        "WriteState": {**here, "variables": [{"key": "mood", "value_json": "1"}]},
        "ListMemory": here,
        **_of_the_ledger(at),
        "ListEvents": {"project_id": at.project},
        # Ahead of the feed: else there would be no end to its answer.
        "WatchEvents": {"project_id": at.project, "after": 2**40},
    }


def _of_the_ledger(at: Places) -> dict[str, dict[str, Any]]:
    entry = {"staged_write_id": at.staged}
    decided = {**entry, "reason": "because"}
    page = {"output_page": {"output": [assistant("proposed")]}}
    return {
        "GetSnapshot": {"session_id": at.session},
        "Introspect": {},
        "CreateApiKey": {"principal": "somebody", "scopes": ["admin"]},
        "RevokeApiKey": {"api_key_id": at.key},
        "ListApiKeys": {},
        "StageWrite": {
            "target": {"session_id": at.session, "placement": "PLACEMENT_NEXT_FLOOR"},
            "parts": [page],
        },
        "GetStagedWrite": entry,
        "ListStagedWrites": {},
        "PreviewStagedWrite": entry,
        "AcceptStagedWrite": {**decided, "allow_stale": True},
        "RejectStagedWrite": decided,
        "WithdrawStagedWrite": decided,
    }


@asynccontextmanager
async def a_world(database_url: str, **settings: Any) -> AsyncIterator[World]:
    async with running_service(database_url, **settings) as service:
        options = [("grpc.max_receive_message_length", -1), ("grpc.enable_retries", 0)]
        async with grpc.aio.insecure_channel(service.address, options=options) as channel:
            places = await places_of(Client(channel))
            yield World(service, RawClient(channel), places)


async def places_of(client: Client) -> Places:
    created = await client.call("CreateSession", title="one")
    session = created.session.session_id

    async def append(session_id: str, text: str) -> floor_pb2.Floor:
        words = {"input": [user(text)], "output": [assistant(f"re: {text}")]}
        facts = [{"op": 1, "kind": 1, "text": f"{text} {number}"} for number in range(2)]
        return (
            await client.call("AppendFloor", session_id=session_id, **words, effects={"memory": facts})
        ).floor

    first, second = await append(session, "one"), await append(session, "two")
    for name in ("side", "spare"):
        await client.call("CreateBranch", session_id=session, name=name, floor_id=first.floor_id)
    words = {"input": [user("two, edited")], "output": [assistant("well")]}
    edited = (await client.call("EditFloor", floor_id=second.floor_id, **words)).floor
    answered = await client.respond(session, input={"messages": [user("three")]})
    await client.call("CreateBranch", session_id=session, name="long", floor_id=answered.floor_id)
    await client.call("MoveHead", session_id=session, floor_id=second.floor_id)
    given_up = (await client.call("OpenFloor", session_id=session, input=[user("never mind")])).floor
    await client.call("AbandonFloor", floor_id=given_up.floor_id)
    opened = await client.call("OpenFloor", session_id=session, branch="side", input=[user("draft")])
    page = {"slot": 2, "messages": [assistant("one answer")]}
    page_id = (await client.call("AddPage", floor_id=opened.floor.floor_id, **page)).page.page_id
    other = (await client.call("CreateSession", title="two")).session.session_id
    target = {"session_id": session, "placement": "PLACEMENT_NEXT_FLOOR"}
    proposed = [{"output_page": {"output": [assistant("proposed")]}}]
    for _ in range(2):
        staged = await client.call("StageWrite", target=target, parts=proposed)
    return Places(
        project=created.session.project_id,
        session=session,
        root=created.session.root_floor_id,
        first=first.floor_id,
        second=second.floor_id,
        edited=edited.floor_id,
        opened=opened.floor.floor_id,
        failed=given_up.floor_id,
        page=page_id,
        run=answered.run_id,
        other_session=other,
        other_floor=(await append(other, "elsewhere")).floor_id,
        staged=staged.staged_write.staged_write_id,
        key=(await client.call("CreateApiKey", principal="somebody")).api_key.api_key_id,
    )


def refused(answer: Answer, code: str, reason: str, fields: Sequence[str] | None = None) -> Answer:
    """Asserts a refusal in the contract's shape, which names these fields, if any are given."""
    assert answer.code.name == code, answer
    assert (answer.info.reason, answer.info.domain) == (reason, "stemma"), answer
    assert answer.text, answer
    assert answer.trailers["x-request-id"], answer
    assert answer.messages == (), answer
    leak = LEAKS.search(f"{answer.text}\n{answer.status}")
    assert leak is None, f"{leak}: {answer}"
    if fields is not None:
        assert answer.fields == list(fields), answer
    return answer


def invalid(answer: Answer, *fields: str) -> Answer:
    """INVALID_ARGUMENT that names exactly these fields; none given: whichever."""
    return refused(answer, "INVALID_ARGUMENT", "INVALID", fields or None)


def unknown() -> str:
    """A well-formed id of nothing."""
    return str(uuid.uuid4())
