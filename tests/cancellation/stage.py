"""One conversation in as many tenants as there are calls to be cancelled, all with the same ids and times.

The clock stands still and ids are counted, so a call that happened whole leaves the same rows in each.
"""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select
from stemma.kernel.v1 import message_pb2

from conversation_service.rpc.admin import Admin
from conversation_service.rpc.configs import Projects
from conversation_service.rpc.floor_writes import FloorWrites
from conversation_service.rpc.key_verifier import KeyVerifier
from conversation_service.rpc.sessions import Sessions
from conversation_service.storage.keys import SqlKeyIndex
from kernel.rpc.call import Call, Identity
from kernel.rpc.exchange import encode
from kernel.rpc.registry import snake_case
from kernel.rpc.tokens import PageTokens
from kernel.storage.engine import Engines
from kernel.storage.tables import metadata
from kernel.verbs.known_heads import KnownHeads
from tests.support.client import answer_of, assistant, request_for, user
from tests.support.service import RunningService, running_service

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TEMPLATE = "template"
# Tenants that are made together.
_AT_ONCE = 32
# What follows the feed and the requests (the index of words, the audit) is written by itself, later.
_LATER = ("search_", "audit_")
TABLES = [t for t in metadata.sorted_tables if "tenant_id" in t.c and not t.name.startswith(_LATER)]

Rows = dict[str, list[tuple[Any, ...]]]


def ids(first: int) -> Callable[[], str]:
    numbers = count(first)
    return lambda: str(UUID(int=0x7 << 76 | 0b10 << 62 | next(numbers)))


@dataclass
class Stage:
    """`places` names the ids of the template's conversation; see `_furnish`."""

    running: RunningService
    places: dict[str, str] = field(default_factory=dict)
    _numbers: Any = field(default_factory=lambda: count(1))
    _ready: list[str] = field(default_factory=list)

    @property
    def engines(self) -> Engines:
        return self.running.service.store._engines

    async def call(self, tenant: str, name: str, fields: dict[str, Any], first_id: int = 10_000) -> Any:
        return answer_of(name, await self.raw(tenant, name, fields, first_id))

    async def raw(self, tenant: str, name: str, fields: dict[str, Any], first_id: int = 10_000) -> bytes:
        """What the servicer answers, as a process that was just started: it remembers no head."""
        env = replace(self.running.service.env, new_id=ids(first_id), heads=KnownHeads())
        providers, tokens = self.running.service.generation.providers, PageTokens([bytes(32)])
        servicers = (
            FloorWrites(env),
            Sessions(env, providers, tokens),
            Projects(env, providers, tokens),
            Admin(env, KeyVerifier(SqlKeyIndex(self.engines), env.clock)),
        )
        handler = next(h for s in servicers if (h := getattr(s, snake_case(name), None)))
        identity = Identity(tenant, "somebody", frozenset({"owner"}))
        call = Call(identity, "", name, time.monotonic() + 60)
        return encode(await handler(request_for(name, **fields), call))

    async def tenant(self) -> str:
        """A new tenant, with the template's rows."""
        if not self._ready:
            self._ready = [f"tenant {next(self._numbers)}" for _ in range(_AT_ONCE)]
            await self._copy_to(self._ready)
        return self._ready.pop()

    async def _copy_to(self, names: Sequence[str]) -> None:
        async with self.engines.reading() as connection:
            kept = {table: (await connection.execute(_of(table))).mappings().all() for table in TABLES}
        async with self.engines.writing() as connection:
            for table, found in kept.items():
                # Of copies there is nothing to be audited.
                changed = {"audited": True} if table.name == "request" else {}
                copies = [{**row, **changed, "tenant_id": name} for name in names for row in found]
                if copies:
                    await connection.execute(insert(table), copies)

    async def rows(self, tenant: str) -> Rows:
        """All that a tenant has, without its name."""
        found: Rows = {}
        async with self.engines.reading() as connection:
            for table in TABLES:
                rows = [tuple(row) for row in await connection.execute(_of(table, tenant))]
                assert all(row[0] == tenant for row in rows)
                found[table.name] = [row[1:] for row in rows]
        return found


def _of(table: Any, tenant: str = TEMPLATE) -> Any:
    columns = [column for column in table.c if column.name != "audited"]
    return select(*columns).where(table.c.tenant_id == tenant).order_by(*table.primary_key)


@asynccontextmanager
async def staged(database_url: str) -> AsyncIterator[Stage]:
    async with running_service(database_url, clock=lambda: NOW) as running:
        stage = Stage(running)
        await _furnish(stage)
        yield stage


def words(text: str) -> dict[str, list[message_pb2.Message]]:
    return {"input": [user(text)], "output": [assistant(f"re: {text}")]}


async def _furnish(stage: Stage) -> None:
    """`root` - `first` - `second` is `main`'s path, `edited` the second's sibling; `side` has `opened`
    pending below `first`, with two answers, the newer one `page`; `spare` is at `first`, too. `other` is
    another session, whose floor `chosen` committed one of two answers, not `candidate`; `archived` a third.
    """
    first_ids = count(1, 100)
    at = stage.places

    async def call(name: str, /, **fields: Any) -> Any:
        return await stage.call(TEMPLATE, name, fields, next(first_ids))

    at["project"] = (await call("CreateProject", title="a project")).project.project_id
    here = (await call("CreateSession", project_id=at["project"])).session
    at |= {"session": here.session_id, "root": here.root_floor_id}
    for name in ("first", "second"):
        answer = await call("AppendFloor", session_id=at["session"], **words(name))
        at[name] = answer.floor.floor_id
    for name in ("side", "spare"):
        await call("CreateBranch", session_id=at["session"], name=name, floor_id=at["first"])
    at["edited"] = (await call("EditFloor", floor_id=at["second"], **words("edited"))).floor.floor_id
    await call("MoveHead", session_id=at["session"], floor_id=at["second"])
    opened = await call("OpenFloor", session_id=at["session"], branch="side", input=[user("draft")])
    at["opened"] = opened.floor.floor_id
    for text in ("one", "another"):
        page = {"floor_id": at["opened"], "slot": message_pb2.SLOT_OUTPUT, "messages": [assistant(text)]}
        at["page"] = (await call("AddPage", **page)).page.page_id
    at["archived"] = (await call("CreateSession", project_id=at["project"])).session.session_id
    await call("ArchiveSession", session_id=at["archived"])
    at["other"] = (await call("CreateSession", project_id=at["project"])).session.session_id
    answer = await call("OpenFloor", session_id=at["other"], input=[user("asked")])
    at["chosen"] = answer.floor.floor_id
    for text in ("one", "another"):
        page = {"floor_id": at["chosen"], "slot": message_pb2.SLOT_OUTPUT, "messages": [assistant(text)]}
        at["candidate"] = (await call("AddPage", **page)).page.page_id
    await call("CommitFloor", floor_id=at["chosen"])
