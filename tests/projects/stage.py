"""What the tests of projects and sessions share: a running service, its feed and its rows."""

import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from google.protobuf import field_mask_pb2
from sqlalchemy import func, select
from stemma.kernel.v1 import floor_pb2, project_pb2, session_pb2

from conversation_service.app.projects import project_id_of
from kernel.generation.scripted import Gate
from kernel.storage.engine import Engines
from kernel.storage.tables import metadata
from kernel.tree.model import Role, Slot
from kernel.tree.places import first_child
from kernel.verbs.env import MAIN, Caller, WriteTx
from kernel.verbs.moves import head_floor, move_head
from kernel.verbs.pages import new_floor, new_page, sealed
from tests.support.client import Client, assistant, connect, user
from tests.support.service import RunningService, running_service

TENANT = "local"


def mask(*paths: str) -> field_mask_pb2.FieldMask:
    return field_mask_pb2.FieldMask(paths=paths)


@dataclass(frozen=True)
class Stage:
    service: RunningService
    client: Client
    url: str

    async def call(self, name: str, /, **fields: Any) -> Any:
        return await self.client.call(name, **fields)

    async def project(self, **fields: Any) -> project_pb2.Project:
        return (await self.call("CreateProject", **fields)).project

    async def session(self, **fields: Any) -> session_pb2.Session:
        return (await self.call("CreateSession", **fields)).session

    async def turn(self, session_id: str, text: str = "hello", **fields: Any) -> floor_pb2.Floor:
        answer = await self.call(
            "AppendFloor",
            session_id=session_id,
            input=[user(text)],
            output=[assistant(f"re: {text}")],
            **fields,
        )
        return answer.floor

    async def long_path(self, session_id: str, length: int) -> str:
        """Makes a path of that many committed floors, without a call for each. -> the last floor's id"""
        env = self.service.service.env
        caller = Caller(TENANT, "local")
        content = env.codec.text(Role.USER, "a line")

        async def work(tx: WriteTx) -> str:
            session = await tx.lock_session(session_id)
            assert session is not None
            branch = await tx.branch(session_id, MAIN)
            assert branch is not None
            parent = await head_floor(tx, branch)
            floors = []
            for _ in range(length):
                floor = new_floor(env, parent, first_child(parent.place), caller.principal, MAIN)
                page = new_page(env, floor.floor_id, Slot.INPUT, content)
                parent = sealed(env, replace(floor, input=page), parent)
                floors.append(parent)
            await tx.insert_floors(floors)
            await move_head(tx, env, session, branch, parent, "checkout", caller.principal)
            return parent.floor_id

        return await env.store.write(TENANT, work, session_id)

    async def facts(self, project: str = "default") -> list[tuple[str, dict[str, Any]]]:
        """(type, payload) of a project's whole feed; its positions have no gaps."""
        async with self.service.service.env.store.reading(TENANT) as tx:
            placed = await tx.events(project_id_of(TENANT, project), 0, 10_000)
        assert [one.position for one in placed] == list(range(1, len(placed) + 1))
        assert len({one.event.event_id for one in placed}) == len(placed)
        return [(one.event.type, one.event.payload) for one in placed]

    async def types(self, project: str = "default") -> list[str]:
        return [kind for kind, _ in await self.facts(project)]

    async def caught_up(self) -> None:
        """The index of words and the audit have everything that was done."""
        await self.service.service.following.indexer.caught_up()
        await self.service.service.sealer.flush(TENANT)

    async def rows(self, session_id: str = "") -> dict[str, int]:
        """How many rows each table has: of a session, or in all."""
        counts = {}
        await self.caught_up()
        engines = Engines(self.url)
        try:
            async with engines.reading() as connection:
                for table in metadata.sorted_tables:
                    column = next((c for c in ("session_id", "target_id") if c in table.c), None)
                    query = select(func.count()).select_from(table)
                    if session_id:
                        if column is None:
                            continue
                        query = query.where(table.c[column] == session_id)
                    counts[table.name] = (await connection.execute(query)).scalar_one()
        finally:
            await engines.close()
        return counts

    async def everywhere(self, text: str) -> list[str]:
        """The tables that hold a text in any column."""
        found = []
        await self.caught_up()
        engines = Engines(self.url)
        try:
            async with engines.reading() as connection:
                for table in metadata.sorted_tables:
                    if any(text in _plain(row) for row in await connection.execute(select(table))):
                        found.append(table.name)
        finally:
            await engines.close()
        return found


def _plain(row: Any) -> str:
    values = [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in row]
    return json.dumps(values, default=str, ensure_ascii=False)


@asynccontextmanager
async def on_stage(url: str, gate: Gate | None = None) -> AsyncIterator[Stage]:
    async with running_service(url, gate=gate) as service, connect(service.address) as client:
        yield Stage(service, client, url)


def new_id() -> str:
    return str(uuid.uuid4())
