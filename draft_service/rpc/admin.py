"""AdminService of the draft service."""

from stemma.draft.v1 import admin_service_pb2 as pb

from kernel.rpc.call import Call
from kernel.rpc.checks import text_field
from kernel.verbs.env import Env
from kernel.verbs.erase_principal import erase_principal
from kernel.wire.requests import write_of

_MAX_PRINCIPAL = 200


class Admin:
    def __init__(self, env: Env) -> None:
        self._env = env

    async def erase_principal(
        self, request: pb.ErasePrincipalRequest, call: Call
    ) -> pb.ErasePrincipalResponse:
        principal = text_field(request.principal, "principal", maximum=_MAX_PRINCIPAL, required=True)
        receipt = await erase_principal(self._env, write_of(request, call), principal)
        return pb.ErasePrincipalResponse(
            receipt=[pb.Erased(store=one.store, rows=one.rows) for one in receipt]
        )
