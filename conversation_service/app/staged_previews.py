"""What accepting an entry would do now, and what stands against it: read, and decided by the same rules."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from conversation_service.app.accepting import Patching, refuse_stale
from conversation_service.app.projects import writable_project
from conversation_service.app.staged_floors import answered_floor, given
from conversation_service.app.staging import known_entry, owner_of, undecided
from conversation_service.domain.staged import is_next_floor, is_on_head, path_effects, versioned_scope
from conversation_service.domain.staged_text import Change, said, state_changes
from kernel.errors import NotFound, StemmaError, floor_pending
from kernel.tree.model import Floor
from kernel.verbs.effects import checked
from kernel.verbs.env import Caller, Env, ReadTx, known_session, writable
from kernel.verbs.queries import known_floor
from kernel.verbs.records import Project, Session
from kernel.verbs.staged_store import StagedConfig, StagedEffects, StagedPage, StagedPart, StagedWrite
from kernel.verbs.state import project_state, visible_state


@dataclass(frozen=True, slots=True)
class Conflict:
    """The refusal that accepting would get for a part."""

    part: int
    error: StemmaError


@dataclass(slots=True)
class Preview:
    entry: StagedWrite
    changes: list[Change] = field(default_factory=list)
    stale: bool = False
    conflicts: list[Conflict] = field(default_factory=list)


async def preview_staged(env: Env, caller: Caller, staged_write_id: str, patching: Patching) -> Preview:
    """One consistent read. NOT_FOUND once the entry is gone with its session."""
    async with env.store.reading(caller.tenant_id) as tx:
        entry = await known_entry(tx, staged_write_id)
        if entry.target.session_id:
            target: Session | Project = await known_session(tx, entry.target.session_id)
        else:
            target = await _project(tx, entry.target.project_id)
        looking = _Looking(tx, env, entry, patching, target, Preview(entry))
        await looking.look()
    return looking.seen


async def _project(tx: ReadTx, project_id: str) -> Project:
    project = await tx.project(project_id)
    assert project is not None, "an entry's project exists (foreign key)"
    return project


@dataclass
class _Looking:
    tx: ReadTx
    env: Env
    entry: StagedWrite
    patching: Patching
    target: Session | Project
    seen: Preview
    head: Floor | None = None

    async def look(self) -> None:
        await self._try(0, self._open)
        if isinstance(self.target, Session):
            await self._try(0, self._branch)
        for number, part in enumerate(self.entry.parts):
            await self._try(number, partial(self._moved, part))
            await self._try(number, partial(self._part, number, part))

    async def _try(self, number: int, look: Callable[[], Awaitable[None]]) -> None:
        try:
            await look()
        except StemmaError as error:
            self.seen.conflicts.append(Conflict(number, error))

    async def _open(self) -> None:
        undecided(self.env, self.entry, self.entry)
        if isinstance(self.target, Session):
            writable(self.target)
        else:
            writable_project(self.target)

    async def _branch(self) -> None:
        target = self.entry.target
        branch = await self.tx.branch(target.session_id, target.branch)
        if branch is None:
            raise NotFound("branch")
        self.head = await known_floor(self.tx, branch.head_floor_id)
        on_head = any(is_on_head(target, part) for part in self.entry.parts)
        if branch.pending_floor_id and on_head:
            raise floor_pending(branch.pending_floor_id)

    async def _moved(self, part: StagedPart) -> None:
        base, current = await self._versions(part)
        if base != current:
            self.seen.stale = True
            raise refuse_stale(base, current)

    async def _versions(self, part: StagedPart) -> tuple[str, str]:
        """What a part was written for, and what is there; the same where nothing can have moved."""
        origin = self.entry.origin
        if self.head is not None and is_on_head(self.entry.target, part):
            here = origin.base_floor_id, self.head.floor_id
            if here[0] != here[1]:
                return here
        if isinstance(part, StagedConfig):
            return str(origin.base_version), str(self.target.version)
        scope = versioned_scope(self.entry.parts)
        if isinstance(part, StagedEffects) and scope is not None:
            owner = owner_of(self.target, scope)
            return str(origin.base_version), str((await self.tx.live_layers(owner))[owner].version)
        return "", ""

    async def _part(self, number: int, part: StagedPart) -> None:
        match part:
            case StagedConfig(operations_json):
                layer = self.target.config
                after = self.patching.patched(layer, operations_json, self.target.version)
                for path, old, new in self.patching.changes(layer, after):
                    self.seen.changes.append(Change(number, f"/config{path}", old, new))
            case StagedEffects():
                await self._effects(number, part)
            case StagedPage():
                await self._page(number, part)

    async def _effects(self, number: int, part: StagedEffects) -> None:
        if isinstance(self.target, Project):
            shared = await project_state(self.tx, self.target)
            self.seen.changes += state_changes(number, part.effects, shared)
            return
        if self.head is None:
            return
        state = await visible_state(self.tx, self.target, self.head)
        self.seen.changes += state_changes(number, part.effects, state)
        of_path = path_effects(part)
        if of_path is not None:
            await checked(self.tx, self.head, given(of_path))

    async def _page(self, number: int, part: StagedPage) -> None:
        before = ""
        if not is_next_floor(self.entry.target, part):
            floor = await answered_floor(self.tx, self.entry)
            before = self._said(floor.output.content.blob) if floor.output else ""
        elif part.input is not None:
            self.seen.changes.append(Change(number, "/input", "", self._said(part.input.blob)))
        self.seen.changes.append(Change(number, "/output", before, self._said(part.output.blob)))

    def _said(self, blob: bytes) -> str:
        return said(self.env.codec.messages(blob))
