"""Accepting an entry of the ledger: all of its parts in one transaction, by the ordinary commit (L3)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from conversation_service.app.changes import checked_size, expect_version, version_of
from conversation_service.app.projects import writable_project
from conversation_service.app.staged_floors import Floors
from conversation_service.app.staging import entry_of, get_staged, owner_of, settle, undecided
from conversation_service.app.state import LiveOwner, expect_live, write_layer
from conversation_service.domain.staged import live_scopes, live_values, versioned_scope
from kernel.errors import FailedPrecondition
from kernel.prompt.config import Config
from kernel.state.model import Scope
from kernel.verbs.answers import Answered, answered
from kernel.verbs.env import Env, ReadTx, Write, WriteTx, writable
from kernel.verbs.records import Answer, Event, Project, Session
from kernel.verbs.staged_store import (
    Decision,
    StagedConfig,
    StagedEffects,
    StagedPage,
    StagedState,
    StagedWrite,
)


class Patching(Protocol):
    """What is known of configurations outside of the rules: how a patch is read, and what it may say."""

    def patched(self, layer: Config, operations_json: str, version: int) -> Config:
        """The layer with the patch applied, checked. STALE when the patch does not fit it, with its version
        as the current one; INVALID for what would be no configuration."""

    def changes(self, before: Config, after: Config) -> Sequence[tuple[str, str, str]]:
        """(JSON pointer, before, after), the values as JSON text, "" for none."""


@dataclass(frozen=True, slots=True)
class Accept:
    staged_write_id: str
    expected_head: str | None
    expected_version: int
    allow_stale: bool
    select: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """`done` has the floor and the branch; project and session are as they are with the change."""

    entry: StagedWrite
    done: Answered
    project: Project | None
    session: Session | None


async def accept_staged(env: Env, write: Write, ask: Accept, patching: Patching) -> Accepted:
    """Decides an entry and makes it true, or refuses and leaves it staged: see the contract's table."""
    seen = await get_staged(env, write.caller, ask.staged_write_id)
    target = seen.target

    async def attempt(tx: WriteTx) -> Accepted:
        session = await tx.lock_session(target.session_id) if target.session_id else None
        project = None if target.session_id else await tx.lock_project(target.project_id)
        entry = await tx.lock_staged_write(ask.staged_write_id)
        answer = await tx.answer(write.request)
        if answer is None:
            given = tx, env, write, undecided(env, entry, seen), ask, patching
            if session is not None:
                answer = await _ForSession(*given, writable(session)).decide()
            else:
                assert project is not None, "an entry's target exists (foreign keys)"
                answer = await _ForProject(*given, writable_project(project)).decide()
        return await _accepted(tx, answer)

    return await env.store.write(write.caller.tenant_id, attempt, target.session_id or target.project_id)


async def _accepted(tx: ReadTx, answer: Answer) -> Accepted:
    entry = await entry_of(tx, answer)
    return Accepted(entry, await answered(tx, answer), answer.project, answer.session)


def refuse_stale(base: str, current: str) -> FailedPrecondition:
    return FailedPrecondition(
        "STALE",
        "The target has changed since this was written for it: preview it, and pass allow_stale to take it"
        " all the same.",
        {"base": base, "current": current},
    )


@dataclass
class _Accepting:
    """One entry that is made true in one transaction, whose target is locked."""

    tx: WriteTx
    env: Env
    write: Write
    entry: StagedWrite
    ask: Accept
    patching: Patching
    stale: bool = field(default=False, init=False)

    async def settled(self, answer: Answer) -> Answer:
        decision = Decision(
            StagedState.ACCEPTED,
            self.principal,
            self.ask.reason,
            answer.floor_id,
            self.stale,
            self.env.clock(),
        )
        return await settle(self.tx, self.env, self.write, self.entry, answer, decision)

    @property
    def principal(self) -> str:
        """Who decides: what is not a floor's content is theirs."""
        return self.write.caller.principal

    def moved(self, base: str, current: str) -> None:
        """What it was written for, and what is there."""
        if base == current:
            return
        if not self.ask.allow_stale:
            raise refuse_stale(base, current)
        self.stale = True

    async def expect_versions(self, target: Session | Project) -> None:
        """Of the one layer that versions speak of; all layers that are written are locked."""
        base, expected = self.entry.origin.base_version, self.ask.expected_version
        if any(isinstance(part, StagedConfig) for part in self.entry.parts):
            expect_version(target, expected)
            self.moved(str(base), str(target.version))
        scope = versioned_scope(self.entry.parts)
        for one in live_scopes(self.entry.parts):
            versioned = one is scope
            current = await expect_live(self.tx, owner_of(target, one), expected if versioned else 0)
            if versioned:
                self.moved(str(base), str(current))

    async def write_values(self, part: StagedEffects, target: Session | Project) -> None:
        for scope in (Scope.SESSION, Scope.PROJECT):
            if values := live_values(part.effects, scope):
                own = target.session_id if isinstance(target, Session) and scope is Scope.SESSION else ""
                owner = LiveOwner(owner_of(target, scope), target.project_id, own)
                await write_layer(self.tx, self.env, owner, values, self.principal)

    def patched(self, part: StagedConfig, layer: Session | Project) -> Config:
        return checked_size(self.patching.patched(layer.config, part.operations_json, layer.version))

    async def changed(self, new: Session | Project, session_id: str) -> None:
        """A new version of a layer, with its event."""
        target_id = session_id or new.project_id
        await self.tx.insert_config_version(version_of(self.env, target_id, new, self.principal))
        event = Event(self.env.new_id(), "config.changed", session_id, payload={"version": new.version})
        self.tx.emit(new.project_id, event)


@dataclass
class _ForProject(_Accepting):
    project: Project

    async def decide(self) -> Answer:
        await self.expect_versions(self.project)
        for part in self.entry.parts:
            match part:
                case StagedConfig():
                    await self._configure(part)
                case StagedEffects():
                    await self.write_values(part, self.project)
                case StagedPage():
                    raise AssertionError("a page is for a session")
        return await self.settled(Answer(project=self.project))

    async def _configure(self, part: StagedConfig) -> None:
        config = self.patched(part, self.project)
        if config != self.project.config:
            version, now = self.project.version + 1, self.env.clock()
            self.project = replace(self.project, config=config, version=version, update_time=now)
            await self.tx.update_project(self.project)
            await self.changed(self.project, "")


@dataclass
class _ForSession(_Accepting):
    session: Session

    async def decide(self) -> Answer:
        floors = Floors(self.tx, self.env, self.session, self.entry, self.principal)
        head = await floors.begin(self.ask.expected_head, select=self.ask.select)
        if head is not None and floors.held_to_base(self.ask.expected_head is not None):
            self.moved(self.entry.origin.base_floor_id, head)
        await self.expect_versions(self.session)
        configured = False
        for part in self.entry.parts:
            match part:
                case StagedConfig():
                    configured = True
                    await self._configure(part)
                case StagedEffects():
                    await self.write_values(part, self.session)
                    await floors.effects(part)
                case StagedPage():
                    await floors.page(part, select=self.ask.select)
        await self.tx.touch_session(self.session.session_id, 0)
        shown = replace(floors.answer(), session=self.session if configured else None)
        return await self.settled(shown)

    async def _configure(self, part: StagedConfig) -> None:
        config = self.patched(part, self.session)
        if config != self.session.config:
            version, now = self.session.version + 1, self.env.clock()
            self.session = replace(self.session, config=config, version=version, update_time=now)
            await self.tx.update_session(self.session)
            await self.changed(self.session, self.session.session_id)
