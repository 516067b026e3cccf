"""What the draft service asks the conversation service: frozen copies, and to stage what is exported."""

import grpc
from stemma.conversation.v1 import snapshot_service_pb2 as snapshot_pb
from stemma.conversation.v1 import staged_write_service_pb2 as ledger_pb

from draft_service.app.world import Fetched, Outgoing, Wanted
from kernel.rpc.credentials import TENANT
from kernel.rpc.dial import BALANCED
from kernel.rpc.remote import error_of
from kernel.telemetry.tracing import traces
from kernel.tree.model import Floor
from kernel.verbs.env import Caller
from kernel.verbs.snapshots import check_snapshot
from kernel.verbs.staged_store import StagedWrite
from kernel.wire.snapshots import floors_from, merged, snapshot_from
from kernel.wire.staged import staged_pb

Metadata = tuple[tuple[str, str], ...]

# Seconds; a call of ours has 30 for everything.
_SNAPSHOT_SECONDS, _STAGE_SECONDS = 20.0, 10.0
OPTIONS = (
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    # A service that was restarted is found again within two seconds.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.enable_http_proxy", 0),
    BALANCED,
)

_LEDGER = ledger_pb.DESCRIPTOR.services_by_name["StagedWriteService"]
_SNAPSHOTS = snapshot_pb.DESCRIPTOR.services_by_name["SnapshotService"]


class Conversation:
    """`draft_service.app.world.Sources` and `Ledger` over a channel to the conversation service."""

    def __init__(self, channel: grpc.aio.Channel, metadata: Metadata = ()) -> None:
        """`metadata` is the service's own credential."""
        self._own = metadata
        self._stage_write = channel.unary_unary(
            f"/{_LEDGER.full_name}/StageWrite",
            request_serializer=lambda payload: payload,
            response_deserializer=ledger_pb.StageWriteResponse.FromString,
        )
        self._get_snapshot = channel.unary_stream(
            f"/{_SNAPSHOTS.full_name}/GetSnapshot",
            request_serializer=snapshot_pb.GetSnapshotRequest.SerializeToString,
            response_deserializer=snapshot_pb.GetSnapshotResponse.FromString,
        )

    async def fetch(self, caller: Caller, wanted: Wanted) -> Fetched:
        request = snapshot_pb.GetSnapshotRequest(
            session_id=wanted.session_id,
            project_id=wanted.project_id,
            floor_id=wanted.floor_id,
            include_history=wanted.history and bool(wanted.session_id),
            reply_to_floor=wanted.reply,
        )
        headers, paths = [], []
        try:
            metadata = self._metadata(caller.tenant_id)
            async for answer in self._get_snapshot(request, timeout=_SNAPSHOT_SECONDS, metadata=metadata):
                if answer.WhichOneof("part") == "header":
                    headers.append(answer.header)
                else:
                    paths.append(answer.path)
        except grpc.aio.AioRpcError as refusal:
            raise error_of(refusal, "source") from None
        snapshot, digest = snapshot_from(merged(headers))
        floors: list[Floor] = []
        for path in paths:
            floors += floors_from(path, snapshot.session_id)
        check_snapshot(snapshot, digest, floors)
        return Fetched(snapshot, digest, floors)

    def _metadata(self, tenant_id: str) -> Metadata:
        return (*self._own, (TENANT, tenant_id), *traces.headers())

    def payload(self, outgoing: Outgoing) -> bytes:
        entry = StagedWrite(
            outgoing.export_id,
            outgoing.target,
            outgoing.parts,
            outgoing.origin,
            outgoing.reason,
            outgoing.principal,
            outgoing.time,
            outgoing.time,
        )
        shown = staged_pb(entry)
        request = ledger_pb.StageWriteRequest(
            request_id=outgoing.export_id,
            target=shown.target,
            parts=shown.parts,
            origin=shown.origin,
            reason=outgoing.reason,
            on_behalf_of=outgoing.principal,
        )
        return request.SerializeToString(deterministic=True)

    async def stage(self, tenant_id: str, payload: bytes) -> str:
        with traces.asking("StageWrite"):
            metadata = self._metadata(tenant_id)
            try:
                answer = await self._stage_write(payload, timeout=_STAGE_SECONDS, metadata=metadata)
            except grpc.aio.AioRpcError as refusal:
                raise error_of(refusal, "target") from None
        staged_write_id: str = answer.staged_write.staged_write_id
        return staged_write_id
