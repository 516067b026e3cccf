"""AdminService."""

from stemma.conversation.v1 import admin_service_pb2 as pb

from kernel.rpc.call import Call
from kernel.rpc.checks import uuid_field
from kernel.verbs.env import Env
from kernel.verbs.verify import verify_session
from kernel.wire.requests import caller_of

_MAX_SHOWN = 1_000


class Admin:
    def __init__(self, env: Env) -> None:
        self._env = env

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
