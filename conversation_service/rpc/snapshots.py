"""SnapshotService."""

from collections.abc import AsyncIterator

from stemma.conversation.v1 import snapshot_service_pb2 as pb

from conversation_service.app import snapshots as app
from conversation_service.rpc.projects import project_field
from kernel.errors import invalid
from kernel.rpc.call import Call
from kernel.rpc.checks import uuid_field
from kernel.verbs.env import Env
from kernel.verbs.snapshots import snapshot_digest
from kernel.wire.requests import caller_of
from kernel.wire.snapshots import header_messages, path_pb


class Snapshots:
    def __init__(self, env: Env) -> None:
        self._env = env

    async def get_snapshot(
        self, request: pb.GetSnapshotRequest, call: Call
    ) -> AsyncIterator[pb.GetSnapshotResponse]:
        source, caller = _source(request), caller_of(call)
        taken = await app.take_snapshot(self._env, caller, source)
        for header in header_messages(taken.snapshot, snapshot_digest(taken.snapshot)):
            yield pb.GetSnapshotResponse(header=header)
        async for floors in app.path_of(self._env, caller, taken):
            yield pb.GetSnapshotResponse(path=path_pb(floors))


def _source(request: pb.GetSnapshotRequest) -> app.Source:
    project = project_field(request.project_id, required=False)
    session_id = uuid_field(request.session_id, "session_id", required=False)
    if bool(project) == bool(session_id):
        raise invalid("session_id", "or project_id is required, and not both")
    floor_id = uuid_field(request.floor_id, "floor_id", required=False)
    if project and (floor_id or request.include_history or request.reply_to_floor):
        raise invalid("floor_id", "include_history and reply_to_floor are a session's")
    return app.Source(project, session_id, floor_id, request.include_history, request.reply_to_floor)
