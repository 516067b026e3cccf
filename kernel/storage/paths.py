"""Paths, siblings and leaves, by segment and depth. Nothing here touches another branch's bodies."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    func,
    literal,
    select,
    tuple_,
)

from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.access import AccessReads
from kernel.storage.audit import AuditReads
from kernel.storage.context_rows import ContextRowReads
from kernel.storage.lookups import looked_up
from kernel.storage.prefixes import PrefixReads
from kernel.storage.projects import ProjectReads
from kernel.storage.prompts import PromptReads
from kernel.storage.reads import Reads
from kernel.storage.runs import RunReads
from kernel.storage.search import SearchReads
from kernel.storage.staged import StagedReads
from kernel.storage.states import StateReads
from kernel.tree.model import Floor, FloorOutline, FloorState, Page, Place
from kernel.tree.places import Segment
from kernel.tree.positions import Sibling

_COMMITTED = FloorState.COMMITTED.value
# Bytes of the bodies; neither engine reads a body to tell its length.
_SIZES = (
    func.coalesce(func.length(t.floor.c.input_blob), 0).label("input_size"),
    func.coalesce(func.length(t.floor.c.output_blob), 0).label("output_size"),
    func.coalesce(func.length(t.floor.c.effects), 0).label("effects_size"),
)
_OUTLINE = ("floor_id", "depth", "input_page_id", "input_facts", "output_page_id", "output_facts")
_SIBLING = ("floor_id", "ordinal", "input_page_id", "output_page_id")


class PathReads(
    ContextRowReads,
    Reads,
    ProjectReads,
    StateReads,
    PromptReads,
    PrefixReads,
    SearchReads,
    RunReads,
    StagedReads,
    AuditReads,
    AccessReads,
):
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
        up = self._looked_up(
            chain,
            seg,
            [seg.c.segment, low.label("low"), (chain.c.low - 1).label("high"), seg.c.parent_segment],
            self.where(seg, session_id=session_id),
            seg.c.segment == chain.c.parent_segment,
            chain.c.low > first,
        )
        return chain.union_all(up)

    async def _fetch(self, text: str, arguments: tuple[Any, ...]) -> Sequence[Any]:
        return (await self._connection.exec_driver_sql(text, arguments)).all()

    async def path(self, session_id: str, place: Place, first: int, last: int) -> list[Floor]:
        query = self._path(rows.FLOOR_COLUMNS, session_id, place, first, last)
        return [rows.floor(row) for row in await self.all(query)]

    async def path_page(
        self, session_id: str, place: Place, first: int, last: int, *, head_first: bool, max_bytes: int
    ) -> list[Floor]:
        columns = [*rows.FLOOR_COLUMNS, sum(_SIZES[1:], _SIZES[0]).label("size")]
        wanted = self._path(columns, session_id, place, first, last).subquery("wanted")
        depth = wanted.c.depth
        total = func.sum(wanted.c.size).over(order_by=depth.desc() if head_first else depth)
        summed = select(wanted, total.label("total")).subquery("summed")
        fits = (summed.c.total <= max_bytes) | (summed.c.depth == (last if head_first else first))
        return [
            rows.floor(row) for row in await self.all(select(summed).where(fits).order_by(summed.c.depth))
        ]

    async def path_outline(self, session_id: str, place: Place, first: int, last: int) -> list[FloorOutline]:
        columns = [*(t.floor.c[name] for name in _OUTLINE), *_SIZES]
        query = self._path(columns, session_id, place, first, last)
        return [rows.outline(row) for row in await self.all(query)]

    def _path(
        self, columns: Sequence[ColumnElement[Any]], session_id: str, place: Place, first: int, last: int
    ) -> Select[Any]:
        """The floors of the path between two depths: a range of each segment of its chain."""
        chain = self._chain(session_id, place, first)
        floor = t.floor
        query = self._looked_up(
            chain,
            floor,
            columns,
            self.where(floor, session_id=session_id),
            floor.c.segment == chain.c.segment,
            floor.c.depth.between(first, last),
            floor.c.depth <= chain.c.high,
        )
        return query.order_by(query.selected_columns.depth)

    def _looked_up(self, outer: FromClause, table: FromClause, *more: Any) -> Select[Any]:
        return looked_up(self._dialect, outer, table, *more)

    async def path_siblings(
        self, session_id: str, place: Place, first: int, last: int
    ) -> list[tuple[str, Sibling]]:
        chain = self._chain(session_id, place, first - 1)
        floor = t.floor
        query = self._looked_up(
            chain,
            floor,
            [floor.c[name] for name in ("parent_floor_id", *_SIBLING)],
            self.where(floor, session_id=session_id, state=_COMMITTED),
            floor.c.parent_segment == chain.c.segment,
            floor.c.parent_depth.between(first - 1, last - 1),
            floor.c.parent_depth <= chain.c.high,
        )
        return [(row["parent_floor_id"], _sibling(row)) for row in await self.all(query)]

    async def children(self, session_id: str, parent: Place, after: int, limit: int) -> list[Floor]:
        later = t.floor.c.ordinal > after
        query = self._children(rows.FLOOR_COLUMNS, session_id, parent, later).limit(limit)
        return [rows.floor(row) for row in await self.all(query)]

    async def child_outlines(self, session_id: str, parent: Place) -> list[tuple[Sibling, Place, int]]:
        columns = [*(t.floor.c[name] for name in (*_SIBLING, "segment", "depth")), *_SIZES]
        return [
            (_sibling(row), Place(row["segment"], row["depth"]), sum(row[size.name] for size in _SIZES))
            for row in await self.all(self._children(columns, session_id, parent))
        ]

    def _children(
        self,
        columns: Sequence[ColumnElement[Any]],
        session_id: str,
        parent: Place,
        *more: ColumnElement[bool],
    ) -> Select[Any]:
        """The committed children by ordinal."""
        at = {"session_id": session_id, "parent_segment": parent.segment, "parent_depth": parent.depth}
        query = select(*columns).where(self.where(t.floor, state=_COMMITTED, **at), *more)
        return query.order_by(t.floor.c.ordinal)

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

    async def versions(self, session_id: str) -> dict[str, list[Page]]:
        query = select(t.page).where(self.where(t.page, session_id=session_id))
        found: dict[str, list[Page]] = {}
        for row in await self.all(query.order_by(t.page.c.floor_id, t.page.c.number)):
            found.setdefault(row["floor_id"], []).append(rows.version_page(row))
        return found

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
        seg, floor = t.segment, t.floor
        hung = (
            select(seg.c.segment, seg.c.parent_depth)
            .where(
                self.where(seg, session_id=session_id, parent_segment=place.segment),
                seg.c.parent_depth >= place.depth,
            )
            .subquery("hung")
        )
        committed = self.where(floor, session_id=session_id, state=_COMMITTED)
        columns = [floor.c.segment, floor.c.depth, floor.c.ordinal]
        opens_it = floor.c.segment == hung.c.segment, floor.c.depth == hung.c.parent_depth + 1
        query = self._looked_up(hung, floor, columns, committed, *opens_it)
        query = query.order_by(hung.c.parent_depth, query.selected_columns.ordinal.desc()).limit(1)
        row = await self.one(query)
        return row and Place(row["segment"], row["depth"])


def _sibling(row: rows.Row) -> Sibling:
    return Sibling(row["floor_id"], row["ordinal"], row["input_page_id"], row["output_page_id"] is not None)
