"""Snapshots between the kernel's values and the messages that they travel in."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp
from stemma.kernel.v1 import snapshot_pb2 as pb

from kernel.state.text import effects_from, state_from, state_text
from kernel.tree.blob import split_bodies
from kernel.tree.digest import ERASED_EFFECTS, effects_digest
from kernel.tree.model import (
    Floor,
    FloorState,
    MessageFacts,
    Page,
    PageContent,
    Place,
    Role,
    Slot,
    StoredEffects,
)
from kernel.verbs.env import MAIN
from kernel.verbs.snapshots import Base, Snapshot, Versions, mismatch
from kernel.verbs.state_store import LiveLayer, LiveRow
from kernel.wire.config import config_pb, unchecked
from kernel.wire.trees import time_pb

# Characters of the state's text in one message: 4 MiB hold them whatever they are.
_PIECE = 512 * 1024


def header_messages(snapshot: Snapshot, digest: bytes) -> Iterator[pb.SnapshotHeader]:
    """The header in messages that each fit into a call's 4 MiB, to be merged in their order."""
    base = snapshot.base
    versions = snapshot.versions
    yield pb.SnapshotHeader(
        digest=digest.hex(),
        project_id=snapshot.project_id,
        session_id=snapshot.session_id,
        title=snapshot.title,
        source_floor_id=base.source_floor_id if base else "",
        base_floor_id=base.floor_id if base else "",
        base_digest=base.digest.hex() if base else "",
        base_depth=base.depth if base else 0,
        path_tokens=base.path_tokens if base else 0,
        floor_count=snapshot.floor_count,
        own_endpoints=snapshot.own_endpoints,
        versions=pb.SnapshotVersions(
            config_version=versions.config_version,
            live_version=versions.live_version,
            project_version=versions.project_version,
            session_version=versions.session_version,
        ),
    )
    yield pb.SnapshotHeader(config=config_pb(snapshot.config))
    text = state_text(snapshot.state)
    for start in range(0, len(text), _PIECE):
        yield pb.SnapshotHeader(state=pb.SnapshotState(path=[text[start : start + _PIECE]]))
    if snapshot.session_id:
        yield pb.SnapshotHeader(state=pb.SnapshotState(session=_live_pb(snapshot.session_live)))
    yield pb.SnapshotHeader(state=pb.SnapshotState(project=_live_pb(snapshot.project_live)))
    if snapshot.input is not None:
        yield pb.SnapshotHeader(input_page=_page_pb(snapshot.input))


def merged(headers: Iterable[pb.SnapshotHeader]) -> pb.SnapshotHeader:
    whole = pb.SnapshotHeader()
    for header in headers:
        whole.MergeFrom(header)
    return whole


def snapshot_from(header: pb.SnapshotHeader) -> tuple[Snapshot, bytes]:
    """The snapshot of a whole header, and the digest that it has by its own account.

    DATA_LOSS for what is none; whether it is what the digest says is for `check_snapshot`.
    """
    try:
        return _snapshot(header), bytes.fromhex(header.digest)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise mismatch() from None


def _snapshot(header: pb.SnapshotHeader) -> Snapshot:
    versions = header.versions
    base = None
    if header.base_floor_id:
        base = Base(
            header.base_floor_id,
            bytes.fromhex(header.base_digest),
            header.base_depth,
            header.source_floor_id,
            header.path_tokens,
        )
    return Snapshot(
        header.project_id,
        header.session_id,
        header.title,
        unchecked(header.config),
        Versions(
            versions.config_version,
            versions.live_version,
            versions.project_version,
            versions.session_version,
        ),
        state_from("".join(header.state.path) or "{}"),
        _live(header.state.session),
        _live(header.state.project),
        base,
        _page(header.input_page, Slot.INPUT) if header.HasField("input_page") else None,
        header.floor_count,
        tuple(header.own_endpoints),
    )


def path_pb(floors: Sequence[Floor]) -> pb.SnapshotPath:
    return pb.SnapshotPath(floors=[_floor_pb(floor) for floor in floors])


def floors_from(path: pb.SnapshotPath, session_id: str) -> list[Floor]:
    """As a path of one segment, all committed. DATA_LOSS for what is none."""
    try:
        return [_floor(floor, session_id) for floor in path.floors]
    except (ValueError, KeyError, TypeError):
        raise mismatch() from None


def _floor_pb(floor: Floor) -> pb.StoredFloor:
    return pb.StoredFloor(
        floor_id=floor.floor_id,
        parent_floor_id=floor.parent_floor_id or "",
        depth=floor.place.depth,
        input_page=_page_pb(floor.input),
        output_page=_page_pb(floor.output),
        effects=_effects_pb(floor.effects),
        digest=floor.digest or b"",
        path_tokens=floor.path_tokens,
        principal=floor.principal,
        create_time=time_pb(floor.create_time),
        commit_time=time_pb(floor.commit_time),
    )


def _floor(floor: pb.StoredFloor, session_id: str) -> Floor:
    return Floor(
        floor_id=floor.floor_id,
        session_id=session_id,
        parent_floor_id=floor.parent_floor_id,
        parent_segment=0,
        place=Place(0, floor.depth),
        ordinal=0,
        state=FloorState.COMMITTED,
        input=_page(floor.input_page, Slot.INPUT) if floor.HasField("input_page") else None,
        output=_page(floor.output_page, Slot.OUTPUT) if floor.HasField("output_page") else None,
        digest=floor.digest,
        path_tokens=floor.path_tokens,
        usage=None,
        run_id=None,
        failure_reason="",
        principal=floor.principal,
        create_time=_time(floor.create_time),
        commit_time=_time(floor.commit_time),
        branch=MAIN,
        effects=_effects(floor.effects) if floor.HasField("effects") else None,
    )


def _page_pb(page: Page | None) -> pb.StoredPage | None:
    if page is None:
        return None
    return pb.StoredPage(
        page_id=page.page_id,
        floor_id=page.floor_id,
        messages=page.content.blob,
        facts=[
            pb.StoredFacts(
                role=f"ROLE_{fact.role.name}",
                hidden=fact.hidden,
                token_count=fact.tokens,
                plain=fact.plain,
            )
            for fact in page.content.facts
        ],
        digest=page.digest,
        partial=page.partial,
        source=page.source,
        create_time=time_pb(page.create_time),
    )


def _page(page: pb.StoredPage, slot: Slot) -> Page:
    facts = tuple(
        MessageFacts(Role(fact.role), fact.hidden, fact.token_count, fact.plain) for fact in page.facts
    )
    if len(split_bodies(page.messages)) != len(facts):
        raise ValueError("there is one fact for each message")
    content = PageContent(page.messages, facts)
    return Page(
        page.page_id,
        page.floor_id,
        slot,
        content,
        page.digest,
        content.tokens,
        page.partial,
        page.source,
        _time(page.create_time),
    )


def _effects_pb(effects: StoredEffects | None) -> pb.StoredEffects | None:
    if effects is None:
        return None
    return pb.StoredEffects(
        text=effects.blob, source=effects.source, covered_floor_ids=effects.covers, digest=effects.digest
    )


def _effects(effects: pb.StoredEffects) -> StoredEffects:
    found = effects_from(effects.text)
    counts = len(found.variables), len(found.memory), len(found.slots)
    covers = tuple(effects.covered_floor_ids)
    # What was erased keeps the digest that the floor's covers.
    erased = effects.text.startswith(ERASED_EFFECTS)
    digest = effects.digest if erased else effects_digest(effects.text)
    return StoredEffects(effects.text, digest, effects.source, counts, covers)


def _live_pb(layer: LiveLayer) -> pb.LiveValues:
    values = [
        pb.LiveValue(key=row.key, value_json=row.value_json, version=row.version, principal=row.principal)
        for row in layer.values
    ]
    return pb.LiveValues(version=layer.version, values=values)


def _live(values: pb.LiveValues) -> LiveLayer:
    """A session's that is not there is as one that nobody wrote to."""
    rows = tuple(LiveRow(row.key, row.value_json, row.version, row.principal) for row in values.values)
    return LiveLayer(values.version or 1, rows)


def _time(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(tzinfo=UTC)
