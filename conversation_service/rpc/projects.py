"""ProjectService: projects and their members. Configuration is in `configs.py`."""

from stemma.conversation.v1 import project_service_pb2 as pb
from stemma.kernel.v1 import project_pb2, session_pb2

from conversation_service.app import members
from conversation_service.app import projects as app
from conversation_service.rpc.changes import MAX_TITLE, change_of, page_of
from kernel.generation.registry import Providers
from kernel.rpc.call import Call
from kernel.rpc.checks import enum_field, text_field, uuid_field
from kernel.rpc.tokens import PageTokens
from kernel.verbs.env import Env
from kernel.verbs.records import Member, MemberRole, Project
from kernel.wire.projects import project_pb, session_states
from kernel.wire.requests import caller_of, config_of, listing, write_of
from kernel.wire.trees import time_pb

MAX_PRINCIPAL = 200
_ROLES: dict[int, MemberRole] = {
    pb.MEMBER_ROLE_OBSERVER: MemberRole.OBSERVER,
    pb.MEMBER_ROLE_CONTRIBUTOR: MemberRole.CONTRIBUTOR,
    pb.MEMBER_ROLE_OWNER: MemberRole.OWNER,
}


def project_field(value: str, *, required: bool = True) -> str:
    return uuid_field(value, "project_id", required=required, also={app.DEFAULT_PROJECT})


class ProjectMethods:
    def __init__(self, env: Env, providers: Providers, tokens: PageTokens) -> None:
        self._env = env
        self._providers = providers
        self._tokens = tokens

    async def create_project(self, request: pb.CreateProjectRequest, call: Call) -> pb.CreateProjectResponse:
        write = write_of(request, call)
        new = app.NewProject(
            text_field(request.title, "title", maximum=MAX_TITLE),
            config_of(request.config, "config", self._providers, call),
        )
        project = await app.create_project(self._env, write, new)
        return pb.CreateProjectResponse(project=project_pb(project))

    async def get_project(self, request: pb.GetProjectRequest, call: Call) -> pb.GetProjectResponse:
        project = await app.get_project(self._env, caller_of(call), project_field(request.project_id))
        return pb.GetProjectResponse(project=project_pb(project))

    async def list_projects(self, request: pb.ListProjectsRequest, call: Call) -> pb.ListProjectsResponse:
        number = enum_field(request.state, session_pb2.SessionState, "state", 0)
        state = session_states().get(number)
        page = listing(self._tokens, request, call, {"s": number})

        async def fetch(last: tuple[str, str] | None, limit: int) -> list[Project]:
            return await app.list_projects(self._env, caller_of(call), state, last, limit)

        shown, last = await page_of(page.size, page.last, fetch, _key, project_pb)
        token = page.token(last) if last else ""
        return pb.ListProjectsResponse(projects=shown, next_page_token=token)

    async def update_project(self, request: pb.UpdateProjectRequest, call: Call) -> pb.UpdateProjectResponse:
        write, project = write_of(request, call), project_field(request.project_id)
        change = change_of(request, project_pb2.Project.DESCRIPTOR, self._providers, call)
        updated = await app.update_project(self._env, write, project, change)
        return pb.UpdateProjectResponse(project=project_pb(updated))

    async def archive_project(
        self, request: pb.ArchiveProjectRequest, call: Call
    ) -> pb.ArchiveProjectResponse:
        write, project = write_of(request, call), project_field(request.project_id)
        archived = await app.archive_project(self._env, write, project)
        return pb.ArchiveProjectResponse(project=project_pb(archived))

    async def restore_project(
        self, request: pb.RestoreProjectRequest, call: Call
    ) -> pb.RestoreProjectResponse:
        write, project = write_of(request, call), project_field(request.project_id)
        restored = await app.restore_project(self._env, write, project)
        return pb.RestoreProjectResponse(project=project_pb(restored))

    async def set_project_member(
        self, request: pb.SetProjectMemberRequest, call: Call
    ) -> pb.SetProjectMemberResponse:
        write, project = write_of(request, call), project_field(request.project_id)
        principal = _principal(request.principal)
        role = _ROLES[enum_field(request.role, pb.MemberRole, "role")]
        member = await members.set_member(self._env, write, project, principal, role)
        return pb.SetProjectMemberResponse(member=_member(member))

    async def remove_project_member(
        self, request: pb.RemoveProjectMemberRequest, call: Call
    ) -> pb.RemoveProjectMemberResponse:
        write, project = write_of(request, call), project_field(request.project_id)
        member = await members.remove_member(self._env, write, project, _principal(request.principal))
        return pb.RemoveProjectMemberResponse(member=_member(member))

    async def list_project_members(
        self, request: pb.ListProjectMembersRequest, call: Call
    ) -> pb.ListProjectMembersResponse:
        project = project_field(request.project_id)
        page = listing(self._tokens, request, call, {"p": project})
        found = await members.list_members(
            self._env, caller_of(call), project, page.last or "", page.size + 1
        )
        shown = found[: page.size]
        return pb.ListProjectMembersResponse(
            members=[_member(member) for member in shown],
            next_page_token=page.token(shown[-1].principal) if len(found) > page.size else "",
        )


def _principal(value: str) -> str:
    return text_field(value, "principal", maximum=MAX_PRINCIPAL, required=True)


def _key(project: Project) -> list[str]:
    return [project.create_time.isoformat(), project.project_id]


def _member(member: Member) -> pb.ProjectMember:
    return pb.ProjectMember(
        project_id=member.project_id,
        principal=member.principal,
        role=f"MEMBER_ROLE_{member.role.name}",
        create_time=time_pb(member.create_time),
        update_time=time_pb(member.update_time),
    )
