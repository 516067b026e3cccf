"""Importing a file: one transaction a conversation, each under a request id of its own."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar
from uuid import UUID, uuid5

from conversation_service.app.import_trees import Built, build_native, build_planned
from conversation_service.app.projects import known_project, writable_project
from conversation_service.app.sessions import DEFAULT_PROJECT, new_session, project_id_of
from conversation_service.domain.imports.model import (
    BadConversation,
    LogTokens,
    NativeConversation,
    PlannedTree,
)
from conversation_service.domain.imports.read import plans
from kernel.errors import AlreadyExists, NotFound
from kernel.prompt.config import Config
from kernel.prompt.config_text import config_from_text
from kernel.tree.model import Branch, Floor
from kernel.verbs.env import MAIN, Env, Write, WriteTx
from kernel.verbs.pages import new_root
from kernel.verbs.records import Answer, Event, Request

T = TypeVar("T")
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Import:
    """`project_id` as the caller wrote it."""

    format: str
    file_name: str
    project_id: str


@dataclass(frozen=True, slots=True)
class Landed:
    """What became of one conversation. Without a session, `reason` and `message` say why."""

    index: int
    title: str
    session_id: str = ""
    floors: int = 0
    messages: int = 0
    warnings: tuple[str, ...] = ()
    reason: str = ""
    message: str = ""
    tokens: LogTokens | None = None


async def import_file(env: Env, write: Write, ask: Import, chunks: Iterable[bytes]) -> AsyncIterator[Landed]:
    """Every conversation of the file, in its order, as it lands.

    One conversation is held at a time; reading and shaping happen on another thread. A repeat with the
    same request id makes what is missing and answers for the rest as it did.
    """
    project_id = await _project(env, write, ask)
    found = plans(ask.format, chunks, lambda messages: env.codec.page(messages).blob, ask.file_name)
    while (one := await asyncio.to_thread(_next, found)) is not None:
        if isinstance(one, BadConversation):
            yield Landed(one.index, one.title, reason=one.reason, message=one.message)
        else:
            yield await _land(env, write, project_id, one)


def _next(items: Iterator[T]) -> T | None:
    return next(items, None)


async def _project(env: Env, write: Write, ask: Import) -> str:
    """The project's id; made with its first session if it is the default one."""
    tenant_id = write.caller.tenant_id
    project_id = project_id_of(tenant_id, ask.project_id)
    if project_id != project_id_of(tenant_id, ""):
        async with env.store.reading(tenant_id) as tx:
            writable_project(await known_project(tx, project_id))
    return project_id


@dataclass(frozen=True, slots=True)
class _Item:
    """One conversation, ready to be written."""

    request: Request
    project_id: str
    title: str
    source: str
    config: Config
    root: Floor
    made: Built


async def _land(env: Env, write: Write, project_id: str, found: PlannedTree | NativeConversation) -> Landed:
    item = await asyncio.to_thread(_build, env, write, project_id, found)
    conversation = found.conversation if isinstance(found, PlannedTree) else found
    landed = Landed(
        conversation.index,
        conversation.title,
        floors=len(item.made.floors),
        messages=item.made.messages,
        warnings=found.warnings,
        tokens=found.conversation.tokens if isinstance(found, PlannedTree) else None,
    )
    try:
        session_id = await env.store.write(write.caller.tenant_id, lambda tx: _write(tx, env, write, item))
    except AlreadyExists as error:
        return replace(landed, floors=0, messages=0, reason=error.reason, message=error.message)
    return replace(landed, session_id=session_id)


def _build(env: Env, write: Write, project_id: str, found: PlannedTree | NativeConversation) -> _Item:
    principal = write.caller.principal
    root = new_root(env, env.new_id(), env.new_id(), principal)
    if isinstance(found, PlannedTree):
        conversation, config = found.conversation, Config()
        made = build_planned(env, found, root, principal)
        index, digest, source = conversation.index, conversation.digest, conversation.source
    else:
        config = config_from_text(found.tree.config_json)
        made = build_native(env, found, root, principal)
        index, digest, source = found.index, found.digest, found.source
    item_id = str(uuid5(UUID(write.request.request_id), str(index)))
    request = Request(principal, write.request.method, item_id, digest)
    title = found.conversation.title if isinstance(found, PlannedTree) else found.title
    return _Item(request, project_id, title, source, config, root, made)


async def _write(tx: WriteTx, env: Env, write: Write, item: _Item) -> str:
    """-> the session's id, new or of the time before."""
    answer = await tx.answer(item.request)
    if answer is not None:
        return answer.session_id
    if item.project_id == project_id_of(write.caller.tenant_id, ""):
        await tx.insert_project(item.project_id, DEFAULT_PROJECT)
    project = await tx.lock_project(item.project_id, shared=True)
    if project is None:
        raise NotFound("project")
    writable_project(project)
    root, made = item.root, item.made
    session = new_session(env, root.session_id, item.project_id, root.floor_id, item.title, item.config)
    session = replace(session, stored_tokens=made.stored_tokens)
    now = session.create_time
    at_root = Branch(MAIN, root.floor_id, None, None, 0, 1, now, now)
    await tx.insert_session(session, root, at_root)
    await _insert(tx, session.session_id, made, at_root)
    await tx.record(item.request, Answer(session.session_id))
    payload: dict[str, str | int] = {"title": item.title, "source": item.source}
    event = Event(env.new_id(), "session.created", session.session_id, root.floor_id, payload)
    tx.emit(item.project_id, event)
    return session.session_id


async def _insert(tx: WriteTx, session_id: str, made: Built, at_root: Branch) -> None:
    for start in range(0, len(made.floors), _BATCH):
        await tx.insert_tree(made.floors[start : start + _BATCH])
    for start in range(0, len(made.versions), _BATCH):
        await tx.insert_pages(session_id, made.versions[start : start + _BATCH])
    for branch in made.branches:
        if branch.name == MAIN:
            await tx.update_branch(session_id, at_root, branch)
        else:
            await tx.insert_branch(session_id, branch)
