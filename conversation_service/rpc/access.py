"""AccessService: whose a credential is, and what its principal is in a project."""

from stemma.conversation.v1 import access_service_pb2 as pb
from stemma.conversation.v1 import project_service_pb2

from conversation_service.app.members import projects_of, role_in
from conversation_service.rpc.projects import MAX_PRINCIPAL, project_field
from kernel.errors import Unauthenticated
from kernel.rpc.call import SCOPES, Authenticator, Call, Identity
from kernel.rpc.checks import text_field, uuid_field
from kernel.verbs.env import Env

_MAX_CREDENTIAL = 8 * 1024
_ROLES = {
    "owner": project_service_pb2.MEMBER_ROLE_OWNER,
    "contributor": project_service_pb2.MEMBER_ROLE_CONTRIBUTOR,
    "observer": project_service_pb2.MEMBER_ROLE_OBSERVER,
}


class Access:
    """Answers for the one authenticator by which this service lets its own callers in."""

    def __init__(self, env: Env, authenticator: Authenticator) -> None:
        self._env = env
        self._authenticator = authenticator

    async def introspect(self, request: pb.IntrospectRequest, call: Call) -> pb.IntrospectResponse:
        place = _place(request)
        found = await self._whose(request, call)
        who = found.tenant_id, found.principal
        role = await role_in(self._env, *who, *place) if place else ""
        project_ids = await projects_of(self._env, *who) if request.memberships else []
        return pb.IntrospectResponse(
            tenant_id=found.tenant_id,
            principal=found.principal,
            role=_name(next((name for name in _ROLES if name in found.roles), "")),
            scopes=sorted(found.roles & SCOPES),
            project_role=_name(role),
            project_ids=project_ids,
            credential=found.credential,
        )

    async def _whose(self, request: pb.IntrospectRequest, call: Call) -> Identity:
        given = text_field(request.authorization, "authorization", maximum=_MAX_CREDENTIAL)
        tenant_id = text_field(request.tenant, "tenant", maximum=MAX_PRINCIPAL)
        principal = text_field(request.principal, "principal", maximum=MAX_PRINCIPAL)
        if not given and tenant_id and principal:
            return Identity(tenant_id, principal, frozenset())
        metadata = [("authorization", given)] if given else []
        try:
            return await self._authenticator.authenticate(metadata, call.method)
        except Unauthenticated as error:
            # Told apart from the asking service's own credential.
            error.metadata = {"whose": "nobody"}
            raise


def _place(request: pb.IntrospectRequest) -> tuple[str, str] | None:
    """(kind, id) of what the request asks about; a project is as it was written."""
    if request.project_id:
        return "project", project_field(request.project_id)
    if request.session_id:
        return "session", uuid_field(request.session_id, "session_id")
    return ("floor", uuid_field(request.floor_id, "floor_id")) if request.floor_id else None


def _name(role: str) -> str:
    return project_service_pb2.MemberRole.Name(_ROLES.get(role, 0))
