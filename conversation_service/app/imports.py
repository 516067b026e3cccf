"""Importing a file: one transaction a conversation, each under a request id of its own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TypeVar
from uuid import UUID, uuid5

from conversation_service.app.changes import checked_size
from conversation_service.app.import_trees import Built, build_native, build_planned
from conversation_service.app.projects import lock_known, project_id_of, writable_project
from conversation_service.app.sessions import new_session
from conversation_service.domain.imports.model import (
    BadConversation,
    LogTokens,
    NativeConversation,
    PlannedTree,
)
from conversation_service.domain.imports.read import FORMATS, plans
from conversation_service.domain.limits import Refused, refuse
from kernel.errors import AlreadyExists, Exhausted, Invalid, NotFound
from kernel.prompt.config import Config
from kernel.tree.model import Branch, Floor
from kernel.verbs.env import MAIN, Env, Write, WriteTx, known_session
from kernel.verbs.pages import new_root
from kernel.verbs.records import Answer, Event, Request
from kernel.verbs.state_store import NO_LAYER, LiveLayer, LiveRow

__all__ = ["FORMATS", "Import", "Importing", "Landed", "begin_import"]

T = TypeVar("T")
_BATCH = 500
# Results of one file are told together at the end by whoever cannot stream them.
MAX_CONVERSATIONS = 100_000

ConfigOf = Callable[[str], Config]
"""A configuration from its text in a file, checked as a client's is; raises Invalid."""


@dataclass(frozen=True, slots=True)
class Import:
    """`project_id` as the caller wrote it; `format` is one of FORMATS."""

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


async def begin_import(env: Env, write: Write, ask: Import, config_of: ConfigOf) -> "Importing":
    """An import whose project is known and can be written to, before a byte of the file has come:
    NOT_FOUND, or ARCHIVED. The default project is made with its first session."""
    tenant_id = write.caller.tenant_id
    project_id = project_id_of(tenant_id, ask.project_id)
    async with env.store.reading(tenant_id) as tx:
        project = await tx.project(project_id)
    if project is not None:
        writable_project(project)
    elif project_id != project_id_of(tenant_id, ""):
        raise NotFound("project")
    return Importing(env, write, ask, project_id, config_of)


@dataclass(frozen=True, slots=True)
class _Item:
    """One conversation, ready to be written."""

    request: Request
    title: str
    source: str
    config: Config
    root: Floor
    made: Built
    layer: LiveLayer = NO_LAYER


@dataclass(frozen=True, slots=True)
class Importing:
    """See `begin_import`."""

    env: Env
    write: Write
    ask: Import
    project_id: str
    config_of: ConfigOf

    async def landed(self, chunks: Iterable[bytes]) -> AsyncIterator[Landed]:
        """Every conversation of the file, in its order, as it lands.

        One conversation is held at a time; reading and shaping happen on another thread. A repeat with
        the same request id makes what is missing and answers for the rest as it did.
        """
        found = plans(
            self.ask.format, chunks, lambda messages: self.env.codec.page(messages).blob, self.ask.file_name
        )
        count = 0
        while (one := await asyncio.to_thread(_next, found)) is not None:
            count += 1
            if count > MAX_CONVERSATIONS:
                raise Exhausted("LIMIT", f"A file has at most {MAX_CONVERSATIONS:,} conversations. Split it.")
            yield await self._land(one)

    async def _land(self, found: PlannedTree | NativeConversation | BadConversation) -> Landed:
        """Only what is wrong with this conversation is its result; all else ends the call."""
        if isinstance(found, BadConversation):
            return Landed(found.index, found.title, reason=found.reason, message=found.message)
        of = found.conversation if isinstance(found, PlannedTree) else found
        failed = Landed(of.index, of.title, warnings=found.warnings)
        try:
            item = await asyncio.to_thread(self._item, found)
            session_id = await self._made(item)
        except (Refused, AlreadyExists, NotFound) as error:
            return replace(failed, reason=getattr(error, "reason", ""), message=error.message)
        return replace(
            failed,
            session_id=session_id,
            floors=len(item.made.floors),
            messages=item.made.messages,
            tokens=found.conversation.tokens if isinstance(found, PlannedTree) else None,
        )

    def _item(self, found: PlannedTree | NativeConversation) -> _Item:
        env, principal = self.env, self.write.caller.principal
        root = new_root(env, env.new_id(), env.new_id(), principal)
        if isinstance(found, PlannedTree):
            of, config = found.conversation, Config()
            made = build_planned(env, found, root, principal)
            return _Item(self._request(of.index, of.digest), of.title, of.source, config, root, made)
        config = self._config(found)
        made = build_native(env, found, root, principal)
        request = self._request(found.index, found.digest)
        rows = tuple(LiveRow(v.key, v.value_json, v.version, principal) for v in found.tree.live)
        layer = LiveLayer(found.tree.live_version, rows)
        return _Item(request, found.title, found.source, config, root, made, layer)

    def _config(self, found: NativeConversation) -> Config:
        try:
            return checked_size(self.config_of(found.tree.config_json))
        except Invalid as error:
            fields = ", ".join(violation.field for violation in error.violations)
            raise refuse(f"The session's configuration is not valid: {fields}.") from None

    def _request(self, index: int, digest: bytes) -> Request:
        """The item's own; the same conversation for another project is other content."""
        given = self.write.request
        item_id = str(uuid5(UUID(given.request_id), str(index)))
        fingerprint = sha256(UUID(self.project_id).bytes + digest).digest()
        return Request(given.principal, given.method, item_id, fingerprint)

    async def _made(self, item: _Item) -> str:
        """-> the session's id, new or of the time before; NOT_FOUND when that one was erased since."""

        async def attempt(tx: WriteTx) -> str:
            answer = await tx.answer(item.request)
            if answer is not None:
                return (await known_session(tx, answer.session_id)).session_id
            await self._insert(tx, item)
            return item.root.session_id

        return await self.env.store.write(self.write.caller.tenant_id, attempt)

    async def _insert(self, tx: WriteTx, item: _Item) -> None:
        tenant_id = self.write.caller.tenant_id
        writable_project(await lock_known(tx, tenant_id, self.project_id, shared=True))
        root, made = item.root, item.made
        session = new_session(
            self.env, root.session_id, self.project_id, root.floor_id, item.title, item.config
        )
        session = replace(session, stored_tokens=made.stored_tokens)
        now = session.create_time
        at_root = Branch(MAIN, root.floor_id, None, None, 0, 1, now, now)
        await tx.insert_session(session, root, at_root)
        await _insert_tree(tx, session.session_id, made, at_root)
        if item.layer != NO_LAYER:
            await tx.copy_live(session.session_id, item.layer)
        await tx.record(item.request, Answer(session.session_id))
        payload: dict[str, str | int] = {"title": item.title, "source": item.source}
        event = Event(self.env.new_id(), "session.created", session.session_id, root.floor_id, payload)
        tx.emit(self.project_id, event)


def _next(items: Iterator[T]) -> T | None:
    return next(items, None)


async def _insert_tree(tx: WriteTx, session_id: str, made: Built, at_root: Branch) -> None:
    for start in range(0, len(made.floors), _BATCH):
        await tx.insert_tree(made.floors[start : start + _BATCH])
    for start in range(0, len(made.versions), _BATCH):
        await tx.insert_pages(session_id, made.versions[start : start + _BATCH])
    await tx.insert_state_copies(session_id, made.states)
    for branch in made.branches:
        if branch.name == MAIN:
            await tx.update_branch(session_id, at_root, branch)
        else:
            await tx.insert_branch(session_id, branch)
