"""Drafts and their frozen copies: reading."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, and_, func, literal, or_, select, true, tuple_

from draft_service.app.store import DraftFilter
from draft_service.domain.draft import Draft, DraftState, Retention, Source, Visibility, as_of
from draft_service.domain.exports import Export, Proposal
from draft_service.storage import tables as t
from draft_service.storage.clock import database_now
from draft_service.storage.exports import export_of, proposal_of
from kernel.state.model import EMPTY, State
from kernel.state.text import state_from
from kernel.storage import rows
from kernel.storage import tables as kernel
from kernel.storage.paths import PathReads
from kernel.storage.types import Id, Time
from kernel.tree.model import Floor, FloorOutline, FloorState
from kernel.verbs.env import MAIN
from kernel.verbs.records import Session

_FLOORS = t.snapshot_floor.c
_MICROSECOND = timedelta(microseconds=1)
_OUTLINE = (
    *(_FLOORS[name] for name in ("floor_id", "depth")),
    *(_FLOORS[name] for name in ("input_page_id", "input_facts", "output_page_id", "output_facts")),
    func.coalesce(func.length(_FLOORS.input_blob), 0).label("input_size"),
    func.coalesce(func.length(_FLOORS.output_blob), 0).label("output_size"),
    func.coalesce(func.length(_FLOORS.effects), 0).label("effects_size"),
)
# A floor's columns that a copy has no use for.
_REST: dict[str, Any] = {
    "parent_segment": 0,
    "segment": 0,
    "ordinal": 0,
    "state": FloorState.COMMITTED.value,
    "usage_in": None,
    "run_id": None,
    "failure_reason": "",
    "branch": MAIN,
    "effects_above_id": None,
    "state_debt": 0,
    "state_size": 0,
}


class DraftReads(PathReads):
    async def now(self) -> datetime:
        found: datetime = await self.value(select(database_now(self._connection.dialect.name)))
        return found

    async def draft(self, draft_id: str) -> Draft | None:
        row = await self.one(self._drafts().where(t.draft.c.draft_id == draft_id))
        return row and as_of(draft_of(row), row["now"], row["owes"])

    async def drafts(self, where: DraftFilter, after: tuple[datetime, str] | None, limit: int) -> list[Draft]:
        draft = t.draft.c
        now = database_now(self._connection.dialect.name)
        own = draft.created_by == where.principal
        of_others = draft.visibility != Visibility.INTERNAL if not where.internal else true()
        if where.projects is not None:
            of_others = and_(of_others, draft.project_id.in_(where.projects))
        seen = or_(own, of_others)
        there = or_(draft.purge_time.is_(None), draft.purge_time > now, self._owes())
        query = self._drafts().where(seen, there)
        if where.project_id is not None:
            query = query.where(draft.project_id == where.project_id)
        if where.session_id is not None:
            query = query.where(draft.source_session_id == where.session_id)
        if where.state is DraftState.ACTIVE:
            query = query.where(draft.state == "active", draft.expire_time > now)
        elif where.state is DraftState.EXPIRED:
            over = (draft.state == "active") & (draft.expire_time <= now)
            query = query.where(or_(draft.state == "expired", over))
        elif where.state is not None:
            query = query.where(draft.state == where.state.value)
        if after is not None:
            last = tuple_(literal(after[0], Time), literal(after[1], Id))
            query = query.where(tuple_(draft.create_time, draft.draft_id) < last)
        query = query.order_by(draft.create_time.desc(), draft.draft_id.desc()).limit(limit)
        found = [as_of(draft_of(row), row["now"], row["owes"]) for row in await self.all(query)]
        return [one for one in found if one is not None]

    def _drafts(self) -> Select[Any]:
        session = kernel.session
        same = (session.c.tenant_id == t.draft.c.tenant_id) & (session.c.session_id == t.draft.c.draft_id)
        now = database_now(self._connection.dialect.name).label("now")
        columns = *t.draft.c, session.c.last_activity_time, now, self._owes().label("owes")
        return select(*columns).join(session, same).where(self.where(t.draft))

    def _owes(self) -> Any:
        """Whether an export is not settled."""
        export = t.export
        same = (export.c.tenant_id == t.draft.c.tenant_id) & (export.c.draft_id == t.draft.c.draft_id)
        return select(literal(1)).select_from(export).where(same, export.c.state == "pending").exists()

    async def session(self, session_id: str) -> Session | None:
        found = await super().session(session_id)
        return None if found is None else await self.judged(found)

    async def judged(self, session: Session) -> Session | None:
        """The session of a draft as the draft allows; None when the draft is as good as gone."""
        draft = await self.draft(session.session_id)
        if draft is None:
            return None
        return replace(session, ended="" if draft.active else draft.state.value)

    async def snapshot_floors(self, draft_id: str, first: int, last: int) -> list[Floor]:
        columns = _FLOORS.depth, *(_FLOORS[name] for name in t.FLOOR_COLUMNS)
        query = self._floors(columns, draft_id).where(_FLOORS.depth.between(first, last))
        return [rows.floor({**row, **_REST, "session_id": draft_id}) for row in await self.all(query)]

    async def counts(self, draft_id: str) -> dict[str, int]:
        committed = self.where(kernel.floor, session_id=draft_id, state=FloorState.COMMITTED.value)
        floors = select(func.count()).select_from(kernel.floor).where(committed, kernel.floor.c.depth > 0)
        exports = select(func.count()).select_from(t.export).where(self.where(t.export, draft_id=draft_id))
        return {"floors": int(await self.value(floors)), "exports": int(await self.value(exports))}

    async def has_page(self, draft_id: str, page_id: str) -> bool:
        of_floor = or_(kernel.floor.c.input_page_id == page_id, kernel.floor.c.output_page_id == page_id)
        on_floor = select(literal(1)).where(self.where(kernel.floor, session_id=draft_id), of_floor)
        version = select(literal(1)).where(self.where(kernel.page, session_id=draft_id, page_id=page_id))
        return bool(await self.value(select(or_(on_floor.exists(), version.exists()))))

    async def export(self, draft_id: str, export_id: str) -> Export | None:
        where = self.where(t.export, draft_id=draft_id, export_id=export_id)
        row = await self.one(select(t.export).where(where))
        return None if row is None else export_of(row)

    async def proposals(self, draft_id: str, after: int, limit: int) -> list[Proposal]:
        query = select(t.proposal).where(self.where(t.proposal, draft_id=draft_id))
        query = query.where(t.proposal.c.number > after).order_by(t.proposal.c.number).limit(limit)
        return [proposal_of(row) for row in await self.all(query)]

    async def proposal(self, draft_id: str, proposal_id: str) -> Proposal | None:
        where = self.where(t.proposal, draft_id=draft_id, proposal_id=proposal_id)
        row = await self.one(select(t.proposal).where(where))
        return None if row is None else proposal_of(row)

    async def last_proposal(self, draft_id: str) -> int:
        numbers = select(func.max(t.proposal.c.number)).where(self.where(t.proposal, draft_id=draft_id))
        return int(await self.value(numbers) or 0)

    async def prefix_outline(self, session_id: str) -> list[FloorOutline]:
        return [rows.outline(row) for row in await self.all(self._floors(_OUTLINE, session_id))]

    async def prefix_bodies(self, session_id: str, first: int, last: int) -> Mapping[str, bytes]:
        floors = await self.snapshot_floors(session_id, first, last)
        return {page.page_id: page.content.blob for floor in floors for page in floor.pages}

    async def prefix_depth(self, session_id: str) -> int:
        return int(await self.value(self._snapshot(t.snapshot.c.floor_count, session_id)) or 0)

    async def prefix_state(self, session_id: str) -> State:
        text = await self.value(self._snapshot(t.snapshot.c.state, session_id))
        return state_from(text) if text else EMPTY

    def _floors(self, columns: Any, draft_id: str) -> Select[Any]:
        draft, floor = t.draft, t.snapshot_floor
        same = (
            (floor.c.tenant_id == draft.c.tenant_id)
            & (floor.c.source_id == draft.c.source_id)
            & (floor.c.snapshot_digest == draft.c.snapshot_digest)
        )
        query = select(*columns).select_from(draft).join(floor, same)
        return query.where(self.where(draft, draft_id=draft_id)).order_by(floor.c.depth)

    def _snapshot(self, column: Any, draft_id: str) -> Select[Any]:
        draft, snapshot = t.draft, t.snapshot
        same = (
            (snapshot.c.tenant_id == draft.c.tenant_id)
            & (snapshot.c.source_id == draft.c.source_id)
            & (snapshot.c.digest == draft.c.snapshot_digest)
        )
        query = select(column).select_from(draft).join(snapshot, same)
        return query.where(self.where(draft, draft_id=draft_id))


def draft_of(row: rows.Row) -> Draft:
    """As it is stored."""
    source = Source(
        row["project_id"],
        row["source_session_id"] or "",
        row["source_floor_id"] or "",
        row["base_floor_id"] or "",
        row["project_version"],
        row["session_version"],
        row["project_live_version"],
        row["session_live_version"],
    )
    return Draft(
        draft_id=row["draft_id"],
        own_project_id=row["own_project_id"],
        source=source,
        snapshot_digest=row["snapshot_digest"].hex(),
        config_digest=row["config_digest"].hex(),
        title=row["title"],
        purpose=row["purpose"],
        state=DraftState(row["state"]),
        retention=Retention(row["retention"]),
        visibility=Visibility(row["visibility"]),
        created_by=row["created_by"],
        create_time=row["create_time"],
        update_time=row["end_time"] or row["create_time"],
        last_activity_time=row["last_activity_time"],
        expire_time=row["expire_time"],
        keep=row["keep"] * _MICROSECOND,
        metadata=json.loads(row["metadata"]),
        origin_run_id=row["origin_run_id"],
        origin_draft_id=row["origin_draft_id"],
        ended_by=row["ended_by"],
        end_reason=row["end_reason"],
        end_time=row["end_time"],
        purge_time=row["purge_time"],
    )


def draft_values(draft: Draft) -> dict[str, Any]:
    return {
        "draft_id": draft.draft_id,
        "own_project_id": draft.own_project_id,
        "project_id": draft.source.project_id,
        "source_session_id": draft.source.session_id or None,
        "source_floor_id": draft.source.floor_id or None,
        "base_floor_id": draft.source.base_floor_id or None,
        "project_version": draft.source.project_version,
        "session_version": draft.source.session_version,
        "project_live_version": draft.source.project_live_version,
        "session_live_version": draft.source.session_live_version,
        "source_id": draft.source.source_id,
        "snapshot_digest": bytes.fromhex(draft.snapshot_digest),
        "config_digest": bytes.fromhex(draft.config_digest),
        "title": draft.title,
        "purpose": draft.purpose,
        "state": draft.state.value,
        "retention": int(draft.retention),
        "visibility": int(draft.visibility),
        "metadata": json.dumps(draft.metadata, ensure_ascii=False),
        "origin_run_id": draft.origin_run_id,
        "origin_draft_id": draft.origin_draft_id,
        "created_by": draft.created_by,
        "create_time": draft.create_time,
        "expire_time": draft.expire_time,
        "keep": draft.keep // _MICROSECOND,
    }
