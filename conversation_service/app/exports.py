"""Exporting a session: one snapshot of its tree, as a file in pieces."""

from collections.abc import Iterator
from dataclasses import dataclass

from conversation_service.domain.exports.model import (
    ExportBranch,
    ExportFloor,
    ExportLive,
    ExportPage,
    ExportTree,
)
from conversation_service.domain.exports.write import MEDIA_TYPES, export
from kernel.errors import DataLoss
from kernel.prompt.config import without_endpoints
from kernel.prompt.config_text import config_text
from kernel.tree.digest import effects_hold, page_holds
from kernel.tree.model import Floor, Page, Place, StoredEffects
from kernel.verbs.env import Caller, Env, ReadTx, known_session

_CHUNK = 200
_PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class ExportFile:
    media_type: str
    pieces: Iterator[bytes]


async def export_session(env: Env, caller: Caller, session_id: str, format: str) -> ExportFile:
    """The whole session in the format; INVALID for an unknown one, DATA_LOSS for bytes that fail."""
    async with env.store.reading(caller.tenant_id) as tx:
        session = await known_session(tx, session_id)
        branches = [
            ExportBranch(b.name, b.head_floor_id, b.pending_floor_id, b.failed_floor_id)
            for b in await tx.branches(session_id, "", 1_000_000)
        ]
        floors = await _floors(tx, env, session_id)
        layer = (await tx.live_layers(session_id))[session_id]
    tree = ExportTree(
        session.title,
        session.root_floor_id,
        tuple(branches),
        floors,
        config_text(without_endpoints(session.config)),
        tuple(ExportLive(row.key, row.value_json, row.version) for row in layer.values),
        layer.version,
    )
    return ExportFile(MEDIA_TYPES.get(format, ""), _joined(export(format, tree)))


async def _floors(tx: ReadTx, env: Env, session_id: str) -> list[ExportFloor]:
    floors: list[ExportFloor] = []
    after: Place | None = None
    versions = await tx.versions(session_id)
    while found := await tx.tree(session_id, after, _CHUNK, bodies=True):
        floors += [
            _floor(env, floor, versions.get(floor.floor_id, [])) for floor in found if not floor.is_root
        ]
        after = found[-1].place
    return floors


def _floor(env: Env, floor: Floor, versions: list[Page]) -> ExportFloor:
    chosen = {page.page_id for page in floor.pages}
    return ExportFloor(
        floor.floor_id,
        floor.parent_floor_id or "",
        floor.ordinal,
        floor.state,
        _page(env, floor.input),
        _page(env, floor.output),
        floor.digest.hex() if floor.digest else "",
        tuple(page for v in versions if v.page_id not in chosen and (page := _page(env, v)) is not None),
        floor.failure_reason,
        floor.usage,
        floor.branch,
        floor.create_time.isoformat(),
        floor.commit_time.isoformat() if floor.commit_time else "",
        _effects(floor.effects),
        {version.page_id: _effects(version.effects) for version in versions if version.effects},
    )


def _effects(effects: StoredEffects | None) -> str:
    if effects is None:
        return ""
    if not effects_hold(effects.blob, effects.digest):
        raise DataLoss("DIGEST_MISMATCH", "Stored effects fail their digest: run `stemma verify`.")
    return effects.blob.decode()


def _page(env: Env, page: Page | None) -> ExportPage | None:
    if page is None:
        return None
    if not page_holds(page.slot, page.partial, page.content.blob, page.digest):
        text = "A stored page fails its digest: run `stemma verify`."
        raise DataLoss("DIGEST_MISMATCH", text, {"page_id": page.page_id})
    messages = env.codec.messages(page.content.blob)
    return ExportPage(page.page_id, page.slot, messages, page.digest.hex(), page.partial, page.source)


def _joined(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """In pieces worth sending; at least one, which may be empty: with it goes what the file is."""
    waiting: list[bytes] = []
    size = sent = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield b"".join(waiting)
            waiting, size, sent = [], 0, sent + 1
    if waiting or not sent:
        yield b"".join(waiting)
