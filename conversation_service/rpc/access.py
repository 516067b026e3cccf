"""AccessService."""

from stemma.conversation.v1 import access_service_pb2 as pb
from stemma.conversation.v1 import project_service_pb2

from conversation_service.app import policy
from kernel.rpc.call import Authenticator, Call
from kernel.rpc.checks import text_field
from kernel.wire.requests import caller_of

_MAX_CREDENTIAL = 8 * 1024
_ROLES = {
    "owner": project_service_pb2.MEMBER_ROLE_OWNER,
    "contributor": project_service_pb2.MEMBER_ROLE_CONTRIBUTOR,
    "observer": project_service_pb2.MEMBER_ROLE_OBSERVER,
}


class Access:
    """Answers for the one authenticator by which this service lets its own callers in."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator

    async def introspect(self, request: pb.IntrospectRequest, call: Call) -> pb.IntrospectResponse:
        policy.may_introspect(caller_of(call))
        given = text_field(request.authorization, "authorization", maximum=_MAX_CREDENTIAL)
        metadata = [("authorization", given)] if given else []
        found = await self._authenticator.authenticate(metadata, call.method)
        role = next((number for name, number in _ROLES.items() if name in found.roles), 0)
        return pb.IntrospectResponse(
            tenant_id=found.tenant_id,
            principal=found.principal,
            role=project_service_pb2.MemberRole.Name(role),
            scopes=sorted(found.roles - set(_ROLES)),
        )
