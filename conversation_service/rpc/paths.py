"""FloorService.ListPath: from kept bytes where they are known, else from rows of the database."""

from collections.abc import Sequence
from dataclasses import dataclass

from stemma.conversation.v1 import floor_service_pb2 as pb
from stemma.kernel.v1 import floor_pb2

from kernel.errors import invalid
from kernel.rpc.call import Call
from kernel.rpc.checks import branch_name, enum_field, uuid_field
from kernel.rpc.tokens import Json, PageTokens
from kernel.verbs.answers import Shown, shown
from kernel.verbs.env import MAIN, Env, ReadTx
from kernel.verbs.queries import PAGE_BYTES, known_floor, path_end
from kernel.verbs.records import Tip
from kernel.wire.floor_bytes import delimited, floor_bytes, tags
from kernel.wire.path_cache import PathCache
from kernel.wire.path_chunks import Positioned
from kernel.wire.path_reader import PathFields, PathReader
from kernel.wire.requests import Listing, listing

_TAGS = tags(pb.ListPathResponse.DESCRIPTOR)


@dataclass(frozen=True, slots=True)
class _Asked:
    session_id: str
    branch: str
    # Named, or pinned by the page token.
    floor_id: str
    head_first: bool
    # Where this page begins; None for the first page.
    from_depth: int | None
    with_pending: bool

    def range(self, depth: int, size: int) -> tuple[int, int]:
        """The depths of the page, as far as its number of floors decides."""
        if self.head_first:
            last = depth if self.from_depth is None else self.from_depth
            return max(1, last - size + 1), last
        first = 1 if self.from_depth is None else self.from_depth
        return first, min(depth, first + size - 1)


@dataclass(frozen=True, slots=True)
class _Found:
    """The page by depth, maybe more than fits one answer."""

    tip: Tip
    pieces: Sequence[Positioned]
    pending: Shown | None = None


class Paths:
    def __init__(self, env: Env, tokens: PageTokens, cache: PathCache) -> None:
        self._env = env
        self._tokens = tokens
        self._reader = PathReader(cache, PathFields(_TAGS["floors"], _TAGS["positions"]))

    async def list_path(self, request: pb.ListPathRequest, call: Call) -> bytes:
        asked, page = self._asked(request, call)
        tenant_id = call.identity.tenant_id
        async with self._env.store.glances(tenant_id) as source:
            tip = await source.tip(asked.session_id, asked.branch, asked.floor_id)
            found = None
            if tip is not None and not _may_pend(asked, tip, page.size):
                first, last = asked.range(tip.place.depth, page.size)
                pieces = await self._reader.glanced(source, tenant_id, asked.session_id, tip, first, last)
                found = None if pieces is None else _Found(tip, pieces)
        if found is None:
            async with self._env.store.reading(tenant_id) as tx:
                found = await self._read(tx, tenant_id, asked, page.size)
        return _answer(asked, page, found)

    def _asked(self, request: pb.ListPathRequest, call: Call) -> tuple[_Asked, Listing]:
        session_id = uuid_field(request.session_id, "session_id")
        floor_id = uuid_field(request.floor_id, "floor_id", required=False)
        if floor_id and request.branch:
            raise invalid("floor_id", "not together with branch")
        branch = branch_name(request.branch, MAIN)
        order = enum_field(request.order, floor_pb2.PathOrder, "order", floor_pb2.PATH_ORDER_ROOT_FIRST)
        filters: dict[str, Json] = {"s": session_id, "b": branch, "f": floor_id, "o": order}
        page = listing(self._tokens, request, call, filters)
        pinned, from_depth = page.last or (floor_id, None)
        head_first = order == floor_pb2.PATH_ORDER_HEAD_FIRST
        return _Asked(session_id, branch, pinned, head_first, from_depth, not floor_id), page

    async def _read(self, tx: ReadTx, tenant_id: str, asked: _Asked, size: int) -> _Found:
        """In one snapshot: errors, pending floors, and pages too large to be read at once."""
        tip = await tx.tip(asked.session_id, asked.branch, asked.floor_id)
        if tip is None:
            await path_end(tx, asked.session_id, asked.branch, asked.floor_id)
            raise AssertionError("a path has an end, or an error says why not")
        pending = await _pending(tx, asked) if asked.with_pending else None
        first, last = asked.range(tip.place.depth, size)
        pieces = await self._reader.read(
            tx, tenant_id, asked.session_id, tip, first, last, head_first=asked.head_first
        )
        return _Found(tip, pieces, pending)


def _may_pend(asked: _Asked, tip: Tip, size: int) -> bool:
    """Whether a pending floor may have to be shown behind this page."""
    if tip.pending_floor_id is not None:
        return True
    # The end of a listing that began at another head: what is pending now, is not known.
    pinned = asked.with_pending and bool(asked.floor_id)
    return pinned and asked.range(tip.place.depth, size)[1] == tip.place.depth


async def _pending(tx: ReadTx, asked: _Asked) -> Shown | None:
    branch = await tx.branch(asked.session_id, asked.branch)
    if branch is None or branch.pending_floor_id is None:
        return None
    return await shown(tx, await known_floor(tx, branch.pending_floor_id))


def _answer(asked: _Asked, page: Listing, found: _Found) -> bytes:
    depth = found.tip.place.depth
    first, last = asked.range(depth, page.size)
    floors, positions, count = _fitting(found.pieces, asked.head_first)
    if asked.head_first:
        end = last - count
        more, at_end = end >= 1 and count > 0, last == depth or not count
    else:
        end = first + count
        more, at_end = end <= depth and count > 0, end > depth
    parts = [*floors, *positions, delimited(_TAGS["head_floor_id"], found.tip.floor_id.encode())]
    if more:
        parts.append(delimited(_TAGS["next_page_token"], page.token([found.tip.floor_id, end]).encode()))
    if found.pending is not None and at_end:
        parts.append(delimited(_TAGS["pending_floor"], floor_bytes(found.pending)))
    return b"".join(parts)


def _fitting(pieces: Sequence[Positioned], head_first: bool) -> tuple[list[bytes], list[bytes], int]:
    """What fits one answer, and always one floor: floors, their positions, and how many they are."""
    floors: list[bytes] = []
    positions: list[bytes] = []
    room, total = PAGE_BYTES, 0
    for piece in reversed(pieces) if head_first else pieces:
        count = (
            len(piece)
            if piece.size <= room
            else max(piece.fitting(room, backwards=head_first), 0 if total else 1)
        )
        fields = piece.cut(count, backwards=head_first)
        floors.append(fields[0])
        positions.append(fields[1])
        room, total = room - piece.size, total + count
        if count < len(piece):
            break
    return floors, positions, total
