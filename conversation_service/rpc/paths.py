"""FloorService.ListPath: from kept bytes where they are known, else from the database in one snapshot."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stemma.conversation.v1 import floor_service_pb2 as pb
from stemma.kernel.v1 import floor_pb2

from kernel.errors import invalid
from kernel.rpc.call import Call
from kernel.rpc.checks import branch_name, enum_field, uuid_field
from kernel.rpc.tokens import Json, PageTokens
from kernel.tree.model import Floor, Place
from kernel.tree.places import Chain
from kernel.tree.positions import Sibling, positions
from kernel.verbs.answers import Shown, before, last_message, shown
from kernel.verbs.env import MAIN, Env, ReadTx
from kernel.verbs.queries import PAGE_BYTES, fitting, known_floor, path_end
from kernel.verbs.records import Tip
from kernel.wire.floor_bytes import delimited, floor_bytes, position_bytes, tags
from kernel.wire.path_cache import Entry, PathCache, places
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
    """Entries of the path in the order asked for, maybe more than fit one answer."""

    tip: Tip
    entries: Sequence[Entry]
    pending: Shown | None


class Paths:
    def __init__(self, env: Env, tokens: PageTokens, cache: PathCache) -> None:
        self._env = env
        self._tokens = tokens
        self._cache = cache

    async def list_path(self, request: pb.ListPathRequest, call: Call) -> bytes:
        asked, page = self._asked(request, call)
        tenant_id = call.identity.tenant_id
        tip = await self._env.store.tip(tenant_id, asked.session_id, asked.branch, asked.floor_id)
        found = self._kept(tenant_id, asked, page.size, tip)
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

    def _kept(self, tenant_id: str, asked: _Asked, size: int, tip: Tip | None) -> _Found | None:
        """The page without a look at the floors; None when part of it is not kept, or not committed."""
        if tip is None or tip.pending_floor_id is not None:
            return None
        first, last = asked.range(tip.place.depth, size)
        if asked.with_pending and asked.floor_id and last == tip.place.depth:
            return None  # The end of a listing that began at another head: what is pending now, is not known.
        chain = self._cache.chain(tenant_id, asked.session_id, tip.place, first)
        if chain is None:
            return None
        entries = self._cache.get(tenant_id, asked.session_id, tip.forks, places(chain, first, last))
        if entries is None or any(entry.position is None for entry in entries):
            return None
        return _Found(tip, entries[::-1] if asked.head_first else entries, None)

    async def _read(self, tx: ReadTx, tenant_id: str, asked: _Asked, size: int) -> _Found:
        tip = await tx.tip(asked.session_id, asked.branch, asked.floor_id)
        if tip is None:
            await path_end(tx, asked.session_id, asked.branch, asked.floor_id)
            raise AssertionError("a path has an end, or an error says why not")
        pending = await _pending(tx, asked) if asked.with_pending else None
        first, last = asked.range(tip.place.depth, size)
        if last < first:
            return _Found(tip, (), pending)
        chain = self._cache.chain(tenant_id, asked.session_id, tip.place, first)
        if chain is None:
            chain = await tx.chain(asked.session_id, tip.place)
            self._cache.learn(tenant_id, asked.session_id, chain)
        entries = await self._entries(tx, tenant_id, asked, tip, chain, first, last)
        return _Found(tip, entries[::-1] if asked.head_first else entries, pending)

    async def _entries(
        self, tx: ReadTx, tenant_id: str, asked: _Asked, tip: Tip, chain: Chain, first: int, last: int
    ) -> list[Entry]:
        """By depth: floors that are kept, or as many from the asked end as fit; positions of now."""
        session_id = asked.session_id
        kept = self._cache.get(tenant_id, session_id, tip.forks, places(chain, first, last))
        if kept is None:
            floors = await tx.path_page(
                session_id, tip.place, first, last, head_first=asked.head_first, max_bytes=PAGE_BYTES
            )
            first, last = floors[0].place.depth, floors[-1].place.depth
            kept = _shown(floors, await before(tx, floors[0]))
        numbers = await _positions(tx, session_id, tip.place, first, last)
        entries = [replace(entry, position=numbers[entry.floor_id]) for entry in kept]
        at = places(chain, first, last)
        self._cache.put(tenant_id, session_id, tip.forks, zip(at, entries, strict=True))
        return entries


def _shown(floors: Sequence[Floor], previous: str) -> list[Entry]:
    """Entries without positions; `previous` is the id of the message before the first floor's."""
    entries = []
    for floor in floors:
        entries.append(Entry(floor.floor_id, floor_bytes(Shown(floor, previous)), None))
        previous = last_message(floor) or previous
    return entries


async def _positions(tx: ReadTx, session_id: str, end: Place, low: int, high: int) -> dict[str, bytes]:
    siblings: dict[str, list[Sibling]] = {}
    for parent_id, sibling in await tx.path_siblings(session_id, end, low, high):
        siblings.setdefault(parent_id, []).append(sibling)
    return {
        floor_id: position_bytes(position)
        for group in siblings.values()
        for floor_id, position in positions(group).items()
    }


async def _pending(tx: ReadTx, asked: _Asked) -> Shown | None:
    branch = await tx.branch(asked.session_id, asked.branch)
    if branch is None or branch.pending_floor_id is None:
        return None
    return await shown(tx, await known_floor(tx, branch.pending_floor_id))


def _answer(asked: _Asked, page: Listing, found: _Found) -> bytes:
    depth = found.tip.place.depth
    first, last = asked.range(depth, page.size)
    count = fitting([len(entry.floor) for entry in found.entries])
    entries = found.entries[:count]
    if asked.head_first:
        end = last - count
        more, at_end = end >= 1 and count > 0, last == depth or not count
    else:
        end = first + count
        more, at_end = end <= depth and count > 0, end > depth
    parts = [delimited(_TAGS["floors"], entry.floor) for entry in entries]
    parts += [delimited(_TAGS["positions"], entry.position or b"") for entry in entries]
    parts.append(delimited(_TAGS["head_floor_id"], found.tip.floor_id.encode()))
    if more:
        parts.append(delimited(_TAGS["next_page_token"], page.token([found.tip.floor_id, end]).encode()))
    if found.pending is not None and at_end:
        parts.append(delimited(_TAGS["pending_floor"], floor_bytes(found.pending)))
    return b"".join(parts)
