"""Single rows and lists. Paths are in `paths.py`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, exists, func, literal, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from kernel.errors import request_id_reused
from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.answer_rows import answer
from kernel.storage.types import Id, Time
from kernel.tree.model import Branch, Floor, HeadMove, Page, Place
from kernel.verbs.graves import buried, grave_of
from kernel.verbs.records import Answer, PlacedEvent, Request, Session, SessionOrder
from kernel.verbs.store import SessionFilter

# Beside a floor's columns, some of which have the same names.
_BRANCH = [column.label(f"branch_{column.name}") for column in t.branch.c if column.name != "tenant_id"]


def _branch(row: Any) -> Branch:
    return rows.branch({c.name.removeprefix("branch_"): row[c.name] for c in _BRANCH})


class Scoped:
    """A connection bound to one tenant: every statement goes through `where`."""

    def __init__(self, connection: AsyncConnection, tenant_id: str) -> None:
        self._connection = connection
        self._dialect = connection.dialect.name
        self._tenant = tenant_id

    def where(self, table: Table, **equals: object) -> ColumnElement[bool]:
        return and_(table.c.tenant_id == self._tenant, *(table.c[k] == v for k, v in equals.items()))

    def joined_by(self, table: Table, principal: str) -> ColumnElement[bool]:
        """Whether a row's project has the principal as a member."""
        theirs = self.where(t.member, principal=principal)
        return exists().where(theirs, t.member.c.project_id == table.c.project_id)

    async def all(self, query: Select[Any]) -> Sequence[Any]:
        found: Sequence[Any] = (await self._connection.execute(query)).mappings().all()
        return found

    async def one(self, query: Select[Any]) -> Any | None:
        return (await self._connection.execute(query)).mappings().one_or_none()

    async def value(self, query: Select[Any]) -> Any:
        return (await self._connection.execute(query)).scalar()


class Reads(Scoped):
    async def answer(self, request: Request) -> Answer | None:
        key = {"principal": request.principal, "method": request.method, "request_id": request.request_id}
        # One row, whether or not there is such a request: no second statement for the grave.
        grave = self.where(t.grave, digest=grave_of(self._tenant, request.principal))
        one = select(exists().where(grave).label("is_buried")).subquery("one")
        asked = select(one.c.is_buried, t.request.c.fingerprint, t.request.c.answer)
        row = await self.one(asked.select_from(one.outerjoin(t.request, self.where(t.request, **key))))
        assert row is not None
        if row["is_buried"]:
            raise buried()
        if row["fingerprint"] is None:
            return None
        if row["fingerprint"] != request.fingerprint:
            raise request_id_reused()
        return answer(row["answer"])

    async def session(self, session_id: str) -> Session | None:
        row = await self.one(select(t.session).where(self.where(t.session, session_id=session_id)))
        return row and rows.session(row)

    async def sessions(
        self, where: SessionFilter, after: tuple[datetime, str] | None, limit: int
    ) -> list[Session]:
        by_activity = where.order is SessionOrder.LAST_ACTIVITY
        time = t.session.c.last_activity_time if by_activity else t.session.c.create_time
        query = select(t.session).where(self.where(t.session))
        if where.project_id is not None:
            query = query.where(t.session.c.project_id == where.project_id)
        if where.member is not None:
            query = query.where(self.joined_by(t.session, where.member))
        if where.state is not None:
            query = query.where(t.session.c.state == where.state.value)
        if after is not None:
            # Typed: left to itself, a bare value is bound as text, which no engine compares rightly.
            last = tuple_(literal(after[0], Time), literal(after[1], Id))
            query = query.where(tuple_(time, t.session.c.session_id) < last)
        query = query.order_by(time.desc(), t.session.c.session_id.desc()).limit(limit)
        return [rows.session(row) for row in await self.all(query)]

    async def project_exists(self, project_id: str) -> bool:
        query = select(t.project.c.project_id).where(self.where(t.project, project_id=project_id))
        return await self.one(query) is not None

    async def branch(self, session_id: str, name: str) -> Branch | None:
        row = await self.one(select(t.branch).where(self.where(t.branch, session_id=session_id, name=name)))
        return row and rows.branch(row)

    async def branch_head(self, session_id: str, name: str) -> tuple[Branch, Floor] | None:
        head = and_(
            t.floor.c.tenant_id == t.branch.c.tenant_id, t.floor.c.floor_id == t.branch.c.head_floor_id
        )
        query = (
            select(*_BRANCH, *rows.FLOOR_COLUMNS)
            .join(t.floor, head)
            .where(self.where(t.branch, session_id=session_id, name=name))
        )
        row = await self.one(query)
        return row and (_branch(row), rows.floor(row))

    async def branches(self, session_id: str, after: str, limit: int) -> list[Branch]:
        query = (
            select(t.branch)
            .where(self.where(t.branch, session_id=session_id), t.branch.c.name > after)
            .order_by(t.branch.c.name)
            .limit(limit)
        )
        return [rows.branch(row) for row in await self.all(query)]

    async def floor(self, floor_id: str) -> Floor | None:
        query = select(*rows.FLOOR_COLUMNS).where(self.where(t.floor, floor_id=floor_id))
        row = await self.one(query)
        return row and rows.floor(row)

    async def pages(self, floor_id: str) -> list[tuple[int, Page]]:
        query = select(t.page).where(self.where(t.page, floor_id=floor_id)).order_by(t.page.c.number)
        return [(row["number"], rows.version_page(row)) for row in await self.all(query)]

    async def page_versions(self, page_id: str) -> list[tuple[str, Page]]:
        query = select(t.page).where(self.where(t.page, page_id=page_id))
        return [(row["floor_id"], rows.version_page(row)) for row in await self.all(query)]

    async def head_moves(
        self, session_id: str, branch: str, before: int | None, limit: int
    ) -> list[tuple[int, HeadMove]]:
        query = select(t.head_move).where(self.where(t.head_move, session_id=session_id, branch=branch))
        if before is not None:
            query = query.where(t.head_move.c.number < before)
        query = query.order_by(t.head_move.c.number.desc()).limit(limit)
        return [(row["number"], rows.head_move(row)) for row in await self.all(query)]

    async def events(self, project_id: str, after: int, limit: int) -> list[PlacedEvent]:
        query = (
            select(t.event)
            .where(self.where(t.event, project_id=project_id), t.event.c.position > after)
            .order_by(t.event.c.position)
            .limit(limit)
        )
        return [rows.placed_event(row) for row in await self.all(query)]

    async def child_count(self, session_id: str, parent: Place) -> int:
        first = select(func.count()).where(
            self.where(t.floor, session_id=session_id, segment=parent.segment, depth=parent.depth + 1)
        )
        hanging = select(func.count()).where(
            self.where(
                t.segment,
                session_id=session_id,
                parent_segment=parent.segment,
                parent_depth=parent.depth,
            )
        )
        return int(await self.value(first)) + int(await self.value(hanging))

    async def next_segment(self, session_id: str) -> int:
        query = select(func.max(t.segment.c.segment)).where(self.where(t.segment, session_id=session_id))
        return int(await self.value(query)) + 1
