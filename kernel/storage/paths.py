"""Paths, siblings and leaves, by segment and depth. Nothing here touches another branch's bodies."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Integer,
    Select,
    and_,
    func,
    literal,
    or_,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.orm import aliased

from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.reads import Reads
from kernel.tree.model import Floor, FloorOutline, FloorState, Place
from kernel.tree.places import Link, Segment
from kernel.tree.positions import Sibling

_COMMITTED = FloorState.COMMITTED.value
# Bytes of the bodies; neither engine reads a body to tell its length.
_SIZES = (
    func.coalesce(func.length(t.floor.c.input_blob), 0).label("input_size"),
    func.coalesce(func.length(t.floor.c.output_blob), 0).label("output_size"),
)
_OUTLINE = ("floor_id", "depth", "input_page_id", "input_facts", "output_page_id", "output_facts")
_SIBLING = ("floor_id", "ordinal", "input_page_id", "output_page_id")


class PathReads(Reads):
    def _chain(self, session_id: str, place: Place, first: int) -> CTE:
        """(segment, low, high): the path to `place`, walked up only as far as depth `first`."""
        seg = t.segment
        low = seg.c.parent_depth + 1
        start = select(
            seg.c.segment,
            low.label("low"),
            literal(place.depth, Integer).label("high"),
            seg.c.parent_segment,
        ).where(self.where(seg, session_id=session_id, segment=place.segment))
        chain = start.cte("chain", recursive=True)
        up = (
            select(seg.c.segment, low, chain.c.low - 1, seg.c.parent_segment)
            .select_from(seg)
            .join(chain, seg.c.segment == chain.c.parent_segment)
            .where(self.where(seg, session_id=session_id), chain.c.low > first)
        )
        return chain.union_all(up)

    async def chain(self, session_id: str, place: Place) -> list[Link]:
        chain = self._chain(session_id, place, 0)
        found = await self.all(select(chain.c.segment, chain.c.low, chain.c.high).order_by(chain.c.high))
        return [Link(row["segment"], row["low"] or 0, row["high"]) for row in found]

    async def path(self, session_id: str, place: Place, first: int, last: int) -> list[Floor]:
        query = self._path(rows.FLOOR_COLUMNS, session_id, place, first, last)
        return [rows.floor(row) for row in await self.all(query)]

    async def path_outline(self, session_id: str, place: Place, first: int, last: int) -> list[FloorOutline]:
        query = self._path([t.floor.c[name] for name in _OUTLINE], session_id, place, first, last)
        return [rows.outline(row) for row in await self.all(query.add_columns(*_SIZES))]

    def _path(
        self, columns: Sequence[ColumnElement[Any]], session_id: str, place: Place, first: int, last: int
    ) -> Select[Any]:
        """The floors of the path between two depths: a range of each segment of its chain."""
        chain = self._chain(session_id, place, first)
        return (
            select(*columns)
            .join_from(
                t.floor,
                chain,
                and_(t.floor.c.segment == chain.c.segment, t.floor.c.depth <= chain.c.high),
            )
            .where(self.where(t.floor, session_id=session_id), t.floor.c.depth.between(first, last))
            .order_by(t.floor.c.depth)
        )

    async def path_siblings(
        self, session_id: str, place: Place, first: int, last: int
    ) -> list[tuple[str, Sibling]]:
        chain = self._chain(session_id, place, first - 1)
        floor = t.floor
        columns = [floor.c[name] for name in ("parent_floor_id", *_SIBLING)]
        wanted = and_(
            self.where(floor, session_id=session_id, state=_COMMITTED), floor.c.depth.between(first, last)
        )
        # The first child of every floor on the path continues its segment ...
        continuing = (
            select(*columns)
            .join(chain, floor.c.segment == chain.c.segment)
            .where(wanted, floor.c.depth <= chain.c.high + 1)
        )
        # ... and every later one opens a segment that hangs there.
        seg = t.segment
        hanging = (
            select(*columns)
            .select_from(seg)
            .join(chain, seg.c.parent_segment == chain.c.segment)
            .join(
                floor,
                and_(
                    floor.c.tenant_id == seg.c.tenant_id,
                    floor.c.session_id == seg.c.session_id,
                    floor.c.segment == seg.c.segment,
                    floor.c.depth == seg.c.parent_depth + 1,
                ),
            )
            .where(
                self.where(seg, session_id=session_id),
                seg.c.parent_depth.between(first - 1, last - 1),
                seg.c.parent_depth <= chain.c.high,
                wanted,
            )
        )
        found = await self.all(_select_all(continuing, hanging))
        unique = {row["floor_id"]: row for row in found}
        return [
            (row["parent_floor_id"], _sibling(row))
            for row in unique.values()
            if row["parent_floor_id"] is not None
        ]

    async def children(self, session_id: str, parent: Place, after: int, limit: int) -> list[Floor]:
        query = select(*rows.FLOOR_COLUMNS).where(
            self._is_child(session_id, parent), t.floor.c.ordinal > after
        )
        query = query.order_by(t.floor.c.ordinal).limit(limit)
        return [rows.floor(row) for row in await self.all(query)]

    async def child_outlines(self, session_id: str, parent: Place) -> list[tuple[Sibling, Place, int]]:
        columns = [t.floor.c[name] for name in (*_SIBLING, "segment", "depth")]
        query = select(*columns, *_SIZES).where(self._is_child(session_id, parent))
        return [
            (_sibling(row), Place(row["segment"], row["depth"]), row["input_size"] + row["output_size"])
            for row in await self.all(query.order_by(t.floor.c.ordinal))
        ]

    def _is_child(self, session_id: str, parent: Place) -> ColumnElement[bool]:
        hanging = select(t.segment.c.segment).where(
            self.where(
                t.segment, session_id=session_id, parent_segment=parent.segment, parent_depth=parent.depth
            )
        )
        return and_(
            self.where(t.floor, session_id=session_id, depth=parent.depth + 1, state=_COMMITTED),
            or_(t.floor.c.segment == parent.segment, t.floor.c.segment.in_(hanging)),
        )

    async def tree(
        self, session_id: str, after: Place | None, limit: int, *, bodies: bool = False
    ) -> list[Floor]:
        columns = rows.FLOOR_COLUMNS if bodies else rows.FLOOR_COLUMNS_WITHOUT_BODIES
        query = select(*columns).where(self.where(t.floor, session_id=session_id))
        if after is not None:
            query = query.where(
                tuple_(t.floor.c.segment, t.floor.c.depth) > tuple_(after.segment, after.depth)
            )
        query = query.order_by(t.floor.c.segment, t.floor.c.depth).limit(limit)
        return [rows.floor(row, check=False) for row in await self.all(query)]

    async def segments(self, session_id: str) -> list[Segment]:
        query = select(t.segment).where(self.where(t.segment, session_id=session_id))
        return [
            Segment(row["segment"], row["parent_segment"], row["parent_depth"])
            for row in await self.all(query.order_by(t.segment.c.segment))
        ]

    async def version_tokens(self, session_id: str) -> dict[str, int]:
        query = select(t.page.c.page_id, t.page.c.tokens).where(self.where(t.page, session_id=session_id))
        return {row["page_id"]: row["tokens"] for row in await self.all(query)}

    async def leaf_left(self, session_id: str, branch: str, below: Place) -> Floor | None:
        left = t.left_leaf
        query = (
            select(left.c.leaf_floor_id)
            .where(
                self.where(left, session_id=session_id, branch=branch, segment=below.segment),
                left.c.exit_depth >= below.depth,
            )
            .order_by(left.c.version.desc())
            .limit(1)
        )
        leaf = await self.value(query)
        return None if leaf is None else await self.floor(leaf)

    async def last_leaf(self, session_id: str, below: Place) -> Floor:
        """One query a fork: the first fork at or below the place, then its last child's segment."""
        place = below
        while (child := await self._last_child_at_first_fork(session_id, place)) is not None:
            place = child
        query = (
            select(*rows.FLOOR_COLUMNS)
            .where(
                self.where(t.floor, session_id=session_id, segment=place.segment, state=_COMMITTED),
                t.floor.c.depth >= place.depth,
            )
            .order_by(t.floor.c.depth.desc())
            .limit(1)
        )
        (row,) = await self.all(query)
        return rows.floor(row)

    async def _last_child_at_first_fork(self, session_id: str, place: Place) -> Place | None:
        seg, first = t.segment, aliased(t.floor, name="first")
        query = (
            select(first.c.segment, first.c.depth)
            .select_from(seg)
            .join(
                first,
                and_(
                    first.c.tenant_id == seg.c.tenant_id,
                    first.c.session_id == seg.c.session_id,
                    first.c.segment == seg.c.segment,
                    first.c.depth == seg.c.parent_depth + 1,
                    first.c.state == _COMMITTED,
                ),
            )
            .where(
                self.where(seg, session_id=session_id, parent_segment=place.segment),
                seg.c.parent_depth >= place.depth,
            )
            .order_by(seg.c.parent_depth, first.c.ordinal.desc())
            .limit(1)
        )
        row = await self.one(query)
        return row and Place(row["segment"], row["depth"])


def _sibling(row: rows.Row) -> Sibling:
    return Sibling(row["floor_id"], row["ordinal"], row["input_page_id"], row["output_page_id"] is not None)


def _select_all(*queries: Select[Any]) -> Select[Any]:
    union = union_all(*queries).subquery()
    return select(union)
