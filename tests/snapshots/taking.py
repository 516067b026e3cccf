"""Taking a snapshot as the draft service does: every message, put together and checked."""

from dataclasses import dataclass
from typing import Any

from stemma.kernel.v1 import snapshot_pb2

from kernel.tree.model import Floor
from kernel.verbs.snapshots import Snapshot, check_snapshot
from kernel.wire.snapshots import floors_from, merged, snapshot_from
from tests.support.client import Client, request_for


@dataclass(frozen=True)
class Taken:
    header: snapshot_pb2.SnapshotHeader
    snapshot: Snapshot
    digest: bytes
    path: list[Floor]

    @property
    def path_ids(self) -> list[str]:
        return [floor.floor_id for floor in self.path]


async def take(client: Client, **fields: Any) -> Taken:
    answers = [answer async for answer in client.stream("GetSnapshot", request_for("GetSnapshot", **fields))]
    kinds = [answer.WhichOneof("part") for answer in answers]
    assert kinds == sorted(kinds), "the header comes first"
    header = merged(answer.header for answer in answers if answer.HasField("header"))
    snapshot, digest = snapshot_from(header)
    path = [
        floor
        for answer in answers
        if answer.HasField("path")
        for floor in floors_from(answer.path, header.session_id)
    ]
    check_snapshot(snapshot, digest, path)
    return Taken(header, snapshot, digest, path)
