"""A service with a session, and what tests of the ledger do to it."""

import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import select
from stemma.kernel.v1 import floor_pb2, staged_write_pb2

from kernel.storage.tables import metadata, process
from tests.state import stage as states
from tests.support.client import Refusal, assistant, connect, user
from tests.support.service import running_service

STAGED = staged_write_pb2.STAGED_WRITE_STATE_STAGED
ACCEPTED = staged_write_pb2.STAGED_WRITE_STATE_ACCEPTED
REJECTED = staged_write_pb2.STAGED_WRITE_STATE_REJECTED
WITHDRAWN = staged_write_pb2.STAGED_WRITE_STATE_WITHDRAWN
EXPIRED = staged_write_pb2.STAGED_WRITE_STATE_EXPIRED


def page(text: str = "a better answer", *, asked: str = "") -> dict[str, Any]:
    given = {"input": [user(asked)]} if asked else {}
    return {"output_page": {"output": [assistant(text)], **given}}


def patch(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"config_patch": {"operations_json": json.dumps(operations)}}


def add(path: str, value: object) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}


def effects(**fields: Any) -> dict[str, Any]:
    return {"state_patch": {"effects": fields}}


@dataclass(frozen=True)
class Stage(states.Stage):
    def target(self, placement: str = "", **fields: Any) -> dict[str, Any]:
        chosen = {"placement": f"PLACEMENT_{placement}"} if placement else {}
        return {"session_id": self.session_id, **chosen, **fields}

    async def staged(
        self, *parts: dict[str, Any], target: dict[str, Any] | None = None, **fields: Any
    ) -> staged_write_pb2.StagedWrite:
        """An entry; by default for the session's next floor, or its layers."""
        if target is None:
            target = self.target("NEXT_FLOOR" if any("output_page" in part for part in parts) else "")
        answer = await self.client.call("StageWrite", target=target, parts=parts, **fields)
        return answer.staged_write

    async def for_floor(self, floor_id: str, text: str = "a better answer", **fields: Any) -> Any:
        target = {"floor_id": floor_id, "placement": "PLACEMENT_OUTPUT_OF_FLOOR"}
        return await self.staged(page(text), target=target, **fields)

    async def accept(self, entry: staged_write_pb2.StagedWrite, **fields: Any) -> Any:
        values = {"staged_write_id": entry.staged_write_id, "reason": "good"} | fields
        return await self.client.call("AcceptStagedWrite", **values)

    async def not_accepted(self, entry: staged_write_pb2.StagedWrite, **fields: Any) -> Refusal:
        """The refusal, after which nothing is another."""
        before = await self.rows()
        values = {"staged_write_id": entry.staged_write_id, "reason": "good"} | fields
        refused = await self.client.refused("AcceptStagedWrite", **values)
        assert await self.rows() == before
        return refused

    async def entry(self, entry: staged_write_pb2.StagedWrite) -> staged_write_pb2.StagedWrite:
        found = await self.client.call("GetStagedWrite", staged_write_id=entry.staged_write_id)
        return found.staged_write

    async def preview(self, entry: staged_write_pb2.StagedWrite) -> Any:
        return await self.client.call("PreviewStagedWrite", staged_write_id=entry.staged_write_id)

    async def head(self, branch: str = "main") -> str:
        found = await self.client.call("ListBranches", session_id=self.session_id)
        return next(one.head_floor_id for one in found.branches if one.name == branch)

    async def siblings(self, floor: floor_pb2.Floor) -> Any:
        return await self.client.call("ListSiblings", floor_id=floor.floor_id)

    async def types(self, after: int = 0) -> list[str]:
        events = await self.client.call("ListEvents", project_id=self.project_id, after=after, page_size=1000)
        return [event.type for event in events.events]

    async def events(self) -> Any:
        found = await self.client.call("ListEvents", project_id=self.project_id, page_size=1000)
        return found.events

    async def rows(self) -> dict[str, list[str]]:
        """Every row of every table, but the leases that processes renew. What follows later is there."""
        await self.service.service.following.indexer.caught_up()
        await self.service.service.sealer.flush("local")
        found = {}
        async with self.service.service.store._engines.reading() as connection:
            for table in metadata.sorted_tables:
                if table is not process:
                    rows = await connection.execute(select(table))
                    found[table.name] = sorted(repr(tuple(row)) for row in rows)
        return found


def added(before: dict[str, list[str]], after: dict[str, list[str]]) -> dict[str, int]:
    """How many rows are new, by table; a row that is gone or another is a failed test."""
    for table, rows in before.items():
        assert set(rows) <= set(after[table]), table
    return {table: len(rows) - len(before[table]) for table, rows in after.items() if rows != before[table]}


def new_id() -> str:
    return str(uuid.uuid4())


@asynccontextmanager
async def a_stage(url: str, **settings: Any) -> AsyncIterator[Stage]:
    async with running_service(url, **settings) as service, connect(service.address) as client:
        yield await stage_in(Stage(client, service, "", ""))


async def stage_in(stage: Stage) -> Stage:
    """With a project and a session of its own."""
    project = (await stage.client.call("CreateProject", title="p")).project.project_id
    session = (await stage.client.call("CreateSession", project_id=project)).session
    return replace(stage, session_id=session.session_id, project_id=project)
