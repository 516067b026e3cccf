"""AdminService."""

from stemma.conversation.v1 import admin_service_pb2 as pb
from stemma.conversation.v1 import session_service_pb2

from conversation_service.rpc.key_verifier import KeyVerifier
from conversation_service.rpc.projects import MAX_PRINCIPAL
from kernel.rpc.call import Call
from kernel.rpc.checks import text_field, uuid_field
from kernel.verbs.env import Env
from kernel.verbs.erase_principal import erase_principal
from kernel.verbs.verify import verify_session
from kernel.wire.requests import caller_of, write_of

_MAX_SHOWN = 1_000


class Admin:
    def __init__(self, env: Env, keys: KeyVerifier) -> None:
        self._env = env
        self._keys = keys

    async def erase_principal(
        self, request: pb.ErasePrincipalRequest, call: Call
    ) -> pb.ErasePrincipalResponse:
        write = write_of(request, call)
        principal = text_field(request.principal, "principal", maximum=MAX_PRINCIPAL, required=True)
        try:
            receipt = await erase_principal(self._env, write, principal)
        finally:
            # Whatever else is to be done still: its keys may be revoked by now.
            self._keys.forget_principal(write.caller.tenant_id, principal)
        erased = [session_service_pb2.Erased(store=one.store, rows=one.rows) for one in receipt]
        return pb.ErasePrincipalResponse(receipt=erased)

    async def verify_session(self, request: pb.VerifySessionRequest, call: Call) -> pb.VerifySessionResponse:
        session_id = uuid_field(request.session_id, "session_id")
        found = await verify_session(self._env, caller_of(call), session_id, repair=request.repair)
        return pb.VerifySessionResponse(
            problems=[
                pb.Problem(kind=p.kind, text=p.text, floor_id=p.floor_id, page_id=p.page_id)
                for p in found.problems[:_MAX_SHOWN]
            ],
            repaired=found.repaired,
        )
