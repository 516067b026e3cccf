"""A service with one session, and what tests of state do to it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from stemma.kernel.v1 import floor_pb2

from tests.support.client import Client, assistant, connect, user
from tests.support.service import RunningService, running_service


def path(key: str, value: object) -> dict[str, Any]:
    return {"key": key, "value_json": json.dumps(value)}


def own(key: str, value: object) -> dict[str, Any]:
    return {"scope": "SCOPE_SESSION", **path(key, value)}


def shared(key: str, value: object) -> dict[str, Any]:
    return {"scope": "SCOPE_PROJECT", **path(key, value)}


def fact(text: str, key: str = "", **more: Any) -> dict[str, Any]:
    return {"op": "MEMORY_OP_ADD", "kind": "MEMORY_KIND_FACT", "fact_key": key, "text": text, **more}


def slot(name: str, value: object, namespace: str = "game") -> dict[str, Any]:
    return {"namespace": namespace, "slot": name, "value_json": json.dumps(value)}


@dataclass(frozen=True)
class Stage:
    client: Client
    service: RunningService
    session_id: str
    project_id: str

    async def turn(self, *variables: dict[str, Any], branch: str = "main", **effects: Any) -> floor_pb2.Floor:
        """A committed turn with effects."""
        effects = {"variables": variables, **effects} if variables or effects else {}
        more = {"effects": effects} if effects else {}
        words = {"input": [user("go on")], "output": [assistant("done")]}
        found = await self.client.call(
            "AppendFloor", session_id=self.session_id, branch=branch, **words, **more
        )
        return found.floor

    async def regenerate(self, floor: floor_pb2.Floor, **fields: Any) -> floor_pb2.Floor:
        words = {"output": [assistant("otherwise")]} | fields
        return (await self.client.call("RegenerateFloor", floor_id=floor.floor_id, **words)).floor

    async def select(self, floor: floor_pb2.Floor) -> None:
        await self.client.call("SelectSibling", session_id=self.session_id, floor_id=floor.floor_id)

    async def move(self, floor_id: str) -> None:
        await self.client.call("MoveHead", session_id=self.session_id, floor_id=floor_id)

    async def state(self, **where: Any) -> Any:
        return await self.client.call("GetState", **({"session_id": self.session_id} | where))

    async def values(self, **where: Any) -> dict[str, object]:
        """Each visible variable, under its scope's first letter and its key."""
        found = (await self.state(**where)).variables
        return {f"{' PSJ'[v.scope]}:{v.key}": json.loads(v.value_json) for v in found}

    async def texts(self, **where: Any) -> list[str]:
        """The texts of the visible memory."""
        return [item.text for item in (await self.state(**where)).memory]

    async def slots(self, **where: Any) -> dict[str, object]:
        found = (await self.state(**where)).slots
        return {f"{one.namespace}/{one.slot}": json.loads(one.value_json) for one in found}

    async def verified(self) -> list[Any]:
        return list((await self.client.call("VerifySession", session_id=self.session_id)).problems)


@asynccontextmanager
async def a_stage(url: str, **settings: Any) -> AsyncIterator[Stage]:
    async with running_service(url, **settings) as service, connect(service.address) as client:
        session = (await client.call("CreateSession")).session
        yield Stage(client, service, session.session_id, session.project_id)


async def stage_in(shared: Stage) -> Stage:
    """The same service, with a new project and a new session in it."""
    project_id = (await shared.client.call("CreateProject")).project.project_id
    session = (await shared.client.call("CreateSession", project_id=project_id)).session
    return Stage(shared.client, shared.service, session.session_id, project_id)
