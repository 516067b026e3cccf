"""Who may do what in a project. Kept here; who asks for it decides what follows from it."""

from conversation_service.app.projects import get_project, in_project, project_id_of
from kernel.errors import NotFound
from kernel.verbs.env import Caller, Env, Write, WriteTx
from kernel.verbs.records import Answer, Event, Member, MemberRole, Project

_MOST_PROJECTS = 1_000


async def set_member(env: Env, write: Write, project: str, principal: str, role: MemberRole) -> Member:
    """Adds the member or changes the role; a role that is as it was leaves no trace."""

    async def work(tx: WriteTx, project: Project) -> Answer:
        known = await tx.member(project.project_id, principal)
        if known is not None and known.role is role:
            return Answer(member=known)
        now = env.clock()
        member = await tx.set_member(Member(project.project_id, principal, role, now, now))
        _emit(tx, env, member, role.value)
        return Answer(member=member)

    return _shown(await in_project(env, write, project, work))


async def remove_member(env: Env, write: Write, project: str, principal: str) -> Member:
    """-> the member as it was. NOT_FOUND when it is none."""

    async def work(tx: WriteTx, project: Project) -> Answer:
        known = await tx.member(project.project_id, principal)
        if known is None:
            raise NotFound("member")
        await tx.remove_member(project.project_id, principal)
        _emit(tx, env, known, "")
        return Answer(member=known)

    return _shown(await in_project(env, write, project, work))


async def list_members(env: Env, caller: Caller, project: str, after: str, limit: int) -> list[Member]:
    """By principal, those after `after`."""
    known = await get_project(env, caller, project)
    async with env.store.reading(caller.tenant_id) as tx:
        return await tx.members(known.project_id, after, limit)


async def role_in(env: Env, tenant_id: str, principal: str, kind: str, target_id: str) -> str:
    """What a principal is as a member of the project that a thing is in (`kernel.verbs.access.KINDS`); "" for
    none, and where there is no such thing. A project's id is as the caller wrote it."""
    if kind == "project":
        target_id = project_id_of(tenant_id, target_id)
    async with env.store.reading(tenant_id) as tx:
        return await tx.role_at(kind, target_id, principal)


async def projects_of(env: Env, tenant_id: str, principal: str) -> list[str]:
    """Where a principal is a member: at most 1,000 projects, by id."""
    async with env.store.reading(tenant_id) as tx:
        return await tx.projects_of(principal, _MOST_PROJECTS)


def _emit(tx: WriteTx, env: Env, member: Member, role: str) -> None:
    payload: dict[str, str | int] = {"member": member.principal, "role": role}
    tx.emit(member.project_id, Event(env.new_id(), "project.updated", "", payload=payload))


def _shown(answer: Answer) -> Member:
    assert answer.member is not None
    return answer.member
