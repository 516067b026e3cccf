"""Projects: making, reading, changing, archiving."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID, uuid5

from conversation_service.app.changes import Change, applied, checked_size, expect_version, version_of
from kernel.errors import NotFound
from kernel.prompt.config import Config
from kernel.verbs.env import Caller, Env, ReadTx, Write, WriteTx, project_archived
from kernel.verbs.pending import fail
from kernel.verbs.records import Answer, Event, Member, MemberRole, Project, SessionState

DEFAULT_PROJECT = "default"
ARCHIVED = "ARCHIVED"
_PROJECTS = UUID("5a8c1b6e-6d0e-4d37-9f0c-7d3f5f0b7a11")


def project_id_of(tenant_id: str, name: str) -> str:
    """A project's id: `default`, like no name at all, is the tenant's own default project."""
    return str(uuid5(_PROJECTS, tenant_id)) if name in ("", DEFAULT_PROJECT) else name


async def known_project(tx: ReadTx, project_id: str) -> Project:
    project = await tx.project(project_id)
    if project is None:
        raise NotFound("project")
    return project


async def lock_known(tx: WriteTx, tenant_id: str, project_id: str, *, shared: bool = False) -> Project:
    """The project, locked. The default one is made when it is first written to: it always exists."""
    if project_id == project_id_of(tenant_id, DEFAULT_PROJECT):
        await tx.insert_project(project_id, DEFAULT_PROJECT)
    project = await tx.lock_project(project_id, shared=shared)
    if project is None:
        raise NotFound("project")
    return project


def writable_project(project: Project) -> Project:
    if project.state is SessionState.ARCHIVED:
        raise project_archived()
    return project


async def ensure_default(env: Env, caller: Caller) -> None:
    """Makes the tenant's default project unless it is there: reads must find it, too."""
    project_id = project_id_of(caller.tenant_id, DEFAULT_PROJECT)
    async with env.store.reading(caller.tenant_id) as tx:
        if await tx.project(project_id) is not None:
            return

    async def make(tx: WriteTx) -> None:
        await tx.insert_project(project_id, DEFAULT_PROJECT)

    await env.store.write(caller.tenant_id, make)


Work = Callable[[WriteTx, Project], Awaitable[Answer]]


async def in_project(
    env: Env,
    write: Write,
    name: str,
    work: Work,
    check: Callable[[Project], Project] = writable_project,
) -> Answer:
    """One write on one project: locked, answered once, recorded with what it did (R1)."""
    tenant_id = write.caller.tenant_id
    project_id = project_id_of(tenant_id, name)

    async def attempt(tx: WriteTx) -> Answer:
        project = await lock_known(tx, tenant_id, project_id)
        answer = await tx.answer(write.request)
        if answer is None:
            answer = await work(tx, check(project))
            await tx.record(write.request, answer)
        return answer

    return await env.store.write(tenant_id, attempt, project_id)


def shown(answer: Answer) -> Project:
    assert answer.project is not None
    return answer.project


@dataclass(frozen=True, slots=True)
class NewProject:
    """`config` checked."""

    title: str
    config: Config


async def create_project(env: Env, write: Write, new: NewProject) -> Project:
    """A project, with the caller as its first owner."""
    project_id, event_id = env.new_id(), env.new_id()
    principal = write.caller.principal

    async def attempt(tx: WriteTx) -> Answer:
        answer = await tx.answer(write.request)
        if answer is not None:
            return answer
        now = env.clock()
        config = checked_size(new.config)
        project = Project(project_id, new.title, SessionState.ACTIVE, config, 1, now, now)
        await tx.create_project(project, principal)
        await tx.set_member(Member(project_id, principal, MemberRole.OWNER, now, now))
        answer = Answer(project=project)
        await tx.record(write.request, answer)
        tx.emit(project_id, Event(event_id, "project.created", "", payload={"title": new.title}))
        return answer

    return shown(await env.store.write(write.caller.tenant_id, attempt))


async def get_project(env: Env, caller: Caller, name: str) -> Project:
    project_id = project_id_of(caller.tenant_id, name)
    if project_id == project_id_of(caller.tenant_id, DEFAULT_PROJECT):
        await ensure_default(env, caller)
    async with env.store.reading(caller.tenant_id) as tx:
        return await known_project(tx, project_id)


async def list_projects(
    env: Env, caller: Caller, state: SessionState | None, after: tuple[str, str] | None, limit: int
) -> list[Project]:
    """Newest first, after the (time as ISO text, id) of the last one seen."""
    await ensure_default(env, caller)
    start = (datetime.fromisoformat(after[0]), after[1]) if after else None
    async with env.store.reading(caller.tenant_id) as tx:
        return await tx.projects(state, start, limit, caller.member)


async def update_project(env: Env, write: Write, name: str, change: Change) -> Project:
    """The change as a new version; VERSION_MOVED when it was made for another. What changes nothing
    leaves no trace."""

    async def work(tx: WriteTx, project: Project) -> Answer:
        expect_version(project, change.expected_version)
        title, config = applied(project, change)
        if (title, config) == (project.title, project.config):
            return Answer(project=project)
        new = replace(
            project, title=title, config=config, version=project.version + 1, update_time=env.clock()
        )
        await tx.update_project(new)
        await tx.insert_config_version(version_of(env, new.project_id, new, write.caller.principal))
        payload: dict[str, str | int] = {"version": new.version}
        if title != project.title:
            _emit(tx, env, new, "project.updated", payload)
        if config != project.config:
            _emit(tx, env, new, "config.changed", payload)
        return Answer(project=new)

    return shown(await in_project(env, write, name, work))


async def archive_project(env: Env, write: Write, name: str) -> Project:
    """Refuses every write from here on, in its sessions too, whose pending floors fail."""

    async def work(tx: WriteTx, project: Project) -> Answer:
        new = replace(project, state=SessionState.ARCHIVED, update_time=env.clock())
        await tx.update_project(new)
        await tx.archive_sessions(new.project_id, True)
        for session_id in await tx.pending_sessions(new.project_id):
            await fail_pending(tx, env, session_id)
        _emit(tx, env, new, "project.archived", {})
        return Answer(project=new)

    return shown(await in_project(env, write, name, work))


async def fail_pending(tx: WriteTx, env: Env, session_id: str) -> None:
    """Ends what is pending on any branch of a locked session, and its runs."""
    session = await tx.session(session_id)
    assert session is not None
    for branch in await tx.pending_branches(session_id):
        floor = await tx.floor(branch.pending_floor_id or "")
        assert floor is not None, "a branch's pending floor exists"
        await fail(tx, env, session, floor, branch, ARCHIVED)


async def restore_project(env: Env, write: Write, name: str) -> Project:
    async def work(tx: WriteTx, project: Project) -> Answer:
        if project.state is SessionState.ACTIVE:
            return Answer(project=project)
        new = replace(project, state=SessionState.ACTIVE, update_time=env.clock())
        await tx.update_project(new)
        await tx.archive_sessions(new.project_id, False)
        _emit(tx, env, new, "project.restored", {})
        return Answer(project=new)

    return shown(await in_project(env, write, name, work, check=lambda project: project))


def _emit(tx: WriteTx, env: Env, project: Project, kind: str, payload: dict[str, str | int]) -> None:
    tx.emit(project.project_id, Event(env.new_id(), kind, "", payload=payload))
