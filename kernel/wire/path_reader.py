"""Pieces of a path, kept or read: floors as they are shown, with the positions of now beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernel.tree.model import Floor
from kernel.tree.places import Chain, Link, clipped
from kernel.tree.positions import Sibling, positions
from kernel.verbs.answers import Shown, before, last_message
from kernel.verbs.path_store import PathSource
from kernel.verbs.queries import PAGE_BYTES
from kernel.verbs.records import Tip
from kernel.verbs.store import ReadTx
from kernel.wire.floor_bytes import delimited, floor_bytes, position_bytes
from kernel.wire.path_bytes import INPUT_ID, OUTPUT_ID, Alone, LeftOut, PathWriter, above
from kernel.wire.path_cache import PathCache
from kernel.wire.path_chunks import Floors, Piece, Positioned

# A body may have so many times its share of a page: then the page is read at once all the same.
_SHARES = 4


@dataclass(frozen=True, slots=True)
class PathFields:
    """The fields of a response that hold floors and positions, as their tags."""

    floor: bytes
    position: bytes


class PathReader:
    """Of one process: what it reads it keeps."""

    def __init__(self, cache: PathCache, fields: PathFields) -> None:
        self._cache = cache
        self._fields = fields
        self._alone = Alone(fields.position)

    async def glanced(
        self, source: PathSource, tenant_id: str, session_id: str, tip: Tip, first: int, last: int
    ) -> list[Positioned] | None:
        """The floors of the path to `tip` between two depths, with their positions, by depth.

        None when that takes more than a few glances (a page too large to be read at once, a first floor
        below some that only change the state), or something was written meanwhile: ask a transaction.
        """
        if last < first:
            return []
        kept_as = _kept_as(session_id, tip)
        chain = self._cache.chain(tenant_id, kept_as, tip.place, first - 1)
        if chain is None:
            chain = await source.chain(session_id, tip.place) if tip.forked else [Link(0, 0, tip.place.depth)]
            self._cache.learn(tenant_id, kept_as, chain)
        pieces = await self._pieces(source, tenant_id, session_id, kept_as, chain, first, last)
        if pieces is None:
            return None
        at_forks: Mapping[str, bytes] = {}
        if tip.forked and not all(piece.knows(tip.forks) for piece in pieces):
            at_forks = await self._at_forks(source, session_id, chain, first, last)
            # Floors stay as they are, positions may not: those that were read must be of the tip's moment.
            again = await source.tip(session_id, "", tip.floor_id)
            if again is None or again.forks != tip.forks:
                return None
        return [_positioned(piece, tip, at_forks) for piece in pieces]

    async def read(
        self,
        tx: ReadTx,
        tenant_id: str,
        session_id: str,
        tip: Tip,
        first: int,
        last: int,
        *,
        head_first: bool,
    ) -> list[Positioned]:
        """The same in one snapshot, whatever lies there; maybe not all, but what fits an answer, from the
        asked end on."""
        pieces = await self.glanced(tx, tenant_id, session_id, tip, first, last)
        if pieces is not None:
            return pieces
        floors = await tx.path_page(
            session_id, tip.place, first, last, head_first=head_first, max_bytes=PAGE_BYTES
        )
        first, last = floors[0].place.depth, floors[-1].place.depth
        chain = await tx.chain(session_id, tip.place)
        at_forks = await self._at_forks(tx, session_id, chain, first, last)
        shown = self._shown(floors, await before(tx, floors[0]))
        made = self._kept(tenant_id, _kept_as(session_id, tip), shown)
        return [_positioned(piece, tip, at_forks) for piece in made]

    async def _pieces(
        self,
        source: PathSource,
        tenant_id: str,
        session_id: str,
        kept_as: str,
        chain: Chain,
        first: int,
        last: int,
    ) -> list[Piece] | None:
        found = list(self._cache.find(tenant_id, kept_as, clipped(chain, first, last)))
        kept = [one for one in found if isinstance(one, Piece)]
        missing = [one for one in found if isinstance(one, Link)]
        if not missing:
            return kept
        first, last = missing[0].first, missing[-1].last
        floors = await self._rows(source, session_id, chain, first, last)
        if floors is None:
            return None
        made = self._kept(tenant_id, kept_as, floors)
        return [p for p in kept if p.last < first] + made + [p for p in kept if p.first > last]

    async def _rows(
        self, source: PathSource, session_id: str, chain: Chain, first: int, last: int
    ) -> list[Floors] | None:
        most = _SHARES * PAGE_BYTES // (last - first + 1)
        # With the one above the first, whose last message is what the first one's follow.
        rows = await source.path_rows(session_id, clipped(chain, first - 1, last), most)
        if len(rows.rows) != last - first + 2 or (over := above(rows)) is None:
            return None
        writer = PathWriter(self._fields.floor, session_id, rows, *over)
        try:
            floors = [writer.floor(row) for row in rows.rows[1:]]
        except LeftOut:
            return None
        alone = [
            self._alone.position(floor_id, row[INPUT_ID] is not None, row[OUTPUT_ID] is not None)
            for floor_id, row in zip(writer.ids, rows.rows[1:], strict=True)
        ]
        found = []
        for link in clipped(chain, first, last):
            cut = slice(link.first - first, link.last + 1 - first)
            found.append(Floors(link.segment, link.first, writer.ids[cut], floors[cut], alone[cut]))
        return found

    def _shown(self, floors: Sequence[Floor], previous: str) -> list[Floors]:
        """`previous` is the id of the message before the first floor's."""
        found = []
        for floor in floors:
            raw = delimited(self._fields.floor, floor_bytes(Shown(floor, previous)))
            alone = self._alone.position(floor.floor_id, floor.input is not None, floor.output is not None)
            found.append(Floors(floor.place.segment, floor.place.depth, [floor.floor_id], [raw], [alone]))
            previous = last_message(floor) or previous
        return found

    def _kept(self, tenant_id: str, session_id: str, floors: Sequence[Floors]) -> list[Piece]:
        chunks = [chunk for run in floors for chunk in run.chunks()]
        for chunk in chunks:
            self._cache.put(tenant_id, session_id, chunk)
        return [Piece(chunk, 0, len(chunk.ids)) for chunk in chunks]

    async def _at_forks(
        self, source: PathSource, session_id: str, chain: Chain, first: int, last: int
    ) -> dict[str, bytes]:
        """Positions of the floors that have siblings, by floor id."""
        groups: dict[str, list[Sibling]] = {}
        parents = clipped(chain, first - 1, last - 1)
        for parent_id, sibling in await source.siblings_at_forks(session_id, parents):
            groups.setdefault(parent_id, []).append(sibling)
        return {
            floor_id: delimited(self._fields.position, position_bytes(position))
            for group in groups.values()
            for floor_id, position in positions(group).items()
        }


def _kept_as(session_id: str, tip: Tip) -> str:
    """The session's name in the cache: another one after each erasure in it."""
    return session_id if tip.erasures == 0 else f"{session_id}/{tip.erasures}"


def _positioned(piece: Piece, tip: Tip, at_forks: Mapping[str, bytes]) -> Positioned:
    beside = piece.positions(tip.forks, at_forks) if tip.forked else piece.chunk.alone
    return Positioned(piece, beside)
