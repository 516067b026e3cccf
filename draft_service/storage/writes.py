"""Drafts and their frozen copies: writing."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import ColumnElement, delete, func, insert, select, true, update

from draft_service.app.store import StoredSnapshot
from draft_service.domain.draft import SYSTEM, Draft, DraftState, ended, expired
from draft_service.domain.exports import Export, ExportState, Proposal
from draft_service.storage import tables as t
from draft_service.storage.clock import database_now
from draft_service.storage.drafts import DraftReads, draft_of, draft_values
from draft_service.storage.exports import export_values, proposal_values
from kernel.storage import rows
from kernel.storage import tables as kernel
from kernel.storage.persons import PersonWrites
from kernel.storage.project_writes import project_values
from kernel.verbs.records import Answer, Erased, Event, Project, Request, Session
from kernel.verbs.sealer import seal_all


class DraftWrites(DraftReads, PersonWrites):
    async def lock_tree(self, draft_id: str) -> Session | None:
        return await super().lock_session(draft_id)

    async def lock_session(self, session_id: str) -> Session | None:
        found = await self.lock_tree(session_id)
        # A statement after the lock: it sees what the one before us did, and judges by the time after it.
        return None if found is None else await self.judged(found)

    async def record(self, request: Request, answer: Answer) -> None:
        await super().record(request, answer)
        # Everything that a draft was answered is blanked with it.
        where = self.where(
            kernel.request,
            principal=request.principal,
            method=request.method,
            request_id=request.request_id,
        )
        await self._run(update(kernel.request).where(where).values(words_of=answer.session_id or None))

    async def session_projects(self, session_ids: Iterable[str]) -> dict[str, str]:
        """The audit names the project that a draft was made in, not the one that it has for itself."""
        query = select(t.draft.c.draft_id, t.draft.c.project_id)
        query = query.where(self.where(t.draft), t.draft.c.draft_id.in_(sorted(session_ids)))
        return {row["draft_id"]: row["project_id"] for row in await self.all(query)}

    def emit(self, project_id: str, event: Event) -> None:
        """Drafts have no events."""

    async def insert_base(self, project: Project) -> None:
        await self._run(self._insert(kernel.project, project_values(project)))

    async def insert_draft(self, draft: Draft) -> None:
        await self._run(self._insert(t.draft, draft_values(draft)))

    async def hold_snapshot(self, snapshot: StoredSnapshot) -> None:
        key = {"source_id": snapshot.source_id, "digest": snapshot.digest}
        statement = self.upsert(t.snapshot).values(
            tenant_id=self._tenant,
            **key,
            refs=1,
            floor_count=len(snapshot.floors),
            state=snapshot.state,
            create_time=database_now(self._connection.dialect.name),
        )
        statement = statement.on_conflict_do_update(
            index_elements=["tenant_id", *key], set_={"refs": t.snapshot.c.refs + 1}
        )
        if (await self._run(statement.returning(t.snapshot.c.refs))).scalar_one() > 1 or not snapshot.floors:
            return
        copied: dict[str, Any] = {
            "tenant_id": self._tenant,
            "source_id": snapshot.source_id,
            "snapshot_digest": snapshot.digest,
        }
        values = []
        for floor in snapshot.floors:
            given = rows.floor_values(floor)
            values.append(
                {**copied, "depth": floor.place.depth, **{name: given[name] for name in t.FLOOR_COLUMNS}}
            )
        await self._run(insert(t.snapshot_floor), values)

    async def end_draft(self, draft_id: str, state: DraftState, principal: str, reason: str) -> Draft | None:
        row = await self.one(self._drafts().where(t.draft.c.draft_id == draft_id))
        if row is None:
            return None
        now, stored = row["now"], draft_of(row)
        by_time = state is DraftState.EXPIRED
        new = expired(stored) if by_time else ended(stored, state, principal, reason, now)
        clock = database_now(self._connection.dialect.name)
        in_time = t.draft.c.expire_time <= clock if by_time else t.draft.c.expire_time > clock
        done = await self._run(
            update(t.draft)
            .where(self.where(t.draft, draft_id=draft_id, state=DraftState.ACTIVE.value), in_time)
            .values(
                state=new.state.value,
                ended_by=new.ended_by,
                end_reason=new.end_reason,
                end_time=new.end_time,
                purge_time=new.purge_time,
            )
        )
        return new if done.rowcount == 1 else None

    async def purge_draft(self, draft_id: str) -> dict[str, int] | None:
        session = await self.lock_tree(draft_id)
        due = t.draft.c.purge_time <= database_now(self._connection.dialect.name)
        due &= ~self._owes()
        return None if session is None else await self._purge(session, due)

    async def erase_draft(self, session: Session) -> tuple[Erased, ...]:
        """As a purge, whether or not it is due. The tree is locked."""
        taken = await self._purge(session, true())
        return tuple(Erased(store, count) for store, count in sorted((taken or {}).items()) if count)

    async def _purge(self, session: Session, due: ColumnElement[bool]) -> dict[str, int] | None:
        draft_id = session.session_id
        row = await self.one(self._drafts().where(t.draft.c.draft_id == draft_id))
        if row is None:
            return None
        # While there is a draft that says in which project it was.
        await seal_all(self, self._tenant, words_of=draft_id)
        taken = {"draft": 0}
        for table in (t.proposal, t.export):
            where = self.where(table, draft_id=draft_id)
            owner = select(t.draft.c.draft_id).where(self.where(t.draft, draft_id=draft_id), due).exists()
            taken[table.name] = (await self._run(delete(table).where(where, owner))).rowcount
        gone = await self._run(delete(t.draft).where(self.where(t.draft, draft_id=draft_id), due))
        if gone.rowcount != 1:
            return None
        taken["draft"] = 1
        for erased in await self.erase_session(session, SYSTEM):
            taken[erased.store] = erased.rows
        for store, count in (
            *await self._erase_base(session.project_id),
            *await self._release(row["source_id"], row["snapshot_digest"]),
        ):
            taken[store] = taken.get(store, 0) + count
        return taken

    async def _erase_base(self, project_id: str) -> list[tuple[str, int]]:
        """-> rows by table"""
        taken = []
        for table in (kernel.live_value, kernel.live_layer):
            done = await self._run(delete(table).where(self.where(table, owner_id=project_id)))
            taken.append((table.name, done.rowcount))
        done = await self._run(
            delete(kernel.project).where(self.where(kernel.project, project_id=project_id))
        )
        return [*taken, ("project", done.rowcount)]

    async def _release(self, source_id: str, digest: bytes) -> list[tuple[str, int]]:
        """One draft less has the snapshot; without any, it goes. The row's lock decides between a release
        and a draft that is being made of it."""
        where = self.where(t.snapshot, source_id=source_id, digest=digest)
        left = update(t.snapshot).where(where).values(refs=t.snapshot.c.refs - 1)
        if (await self._run(left.returning(t.snapshot.c.refs))).scalar_one() > 0:
            return []
        floors = self.where(t.snapshot_floor, source_id=source_id, snapshot_digest=digest)
        copied = await self._run(delete(t.snapshot_floor).where(floors))
        await self._run(delete(t.snapshot).where(where))
        return [("snapshot", 1), ("snapshot_floor", copied.rowcount)]

    async def insert_proposal(self, proposal: Proposal) -> None:
        await self._run(self._insert(t.proposal, proposal_values(proposal)))

    async def insert_export(self, export: Export) -> None:
        await self._run(self._insert(t.export, export_values(export)))

    async def settle_export(
        self, draft_id: str, export_id: str, state: ExportState, staged_write_id: str, failure: str
    ) -> bool:
        where = self.where(t.export, draft_id=draft_id, export_id=export_id, state=ExportState.PENDING.value)
        done = await self._run(
            update(t.export)
            .where(where)
            .values(
                state=state.value,
                staged_write_id=staged_write_id or None,
                failure=failure,
                payload=b"",
                settle_time=database_now(self._connection.dialect.name),
            )
        )
        return bool(done.rowcount == 1)

    async def audit(
        self, draft_id: str, action: str, principal: str, details: Mapping[str, str | int]
    ) -> None:
        last = await self.value(
            select(func.max(t.draft_audit.c.number)).where(self.where(t.draft_audit, draft_id=draft_id))
        )
        values: dict[str, Any] = {
            "draft_id": draft_id,
            "number": 1 + (last or 0),
            "action": action,
            "principal": principal,
            "details": json.dumps(details),
            "time": database_now(self._connection.dialect.name),
        }
        await self._run(self._insert(t.draft_audit, values))
