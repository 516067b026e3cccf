"""What a write transaction can do. The rules that use it are in `kernel.verbs`."""

import json
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Insert, func, insert, select, update
from sqlalchemy import delete as sql_delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from kernel.errors import NotFound
from kernel.prompt.config_text import config_text
from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.answer_rows import answer_text, words_of
from kernel.storage.paths import PathReads
from kernel.tree.model import Branch, Floor, FloorState, HeadMove, Page
from kernel.tree.places import Chain
from kernel.verbs.graves import buried, grave_of
from kernel.verbs.records import Answer, ConfigVersion, Event, Request, Session

_PENDING = (FloorState.OPEN.value, FloorState.GENERATING.value)


class Writes(PathReads):
    def __init__(self, connection: AsyncConnection, tenant_id: str, clock: Callable[[], datetime]) -> None:
        super().__init__(connection, tenant_id)
        self._clock = clock
        self._events: dict[str, list[Event]] = defaultdict(list)
        self.committed: list[Callable[[], None]] = []
        # Principals that had no grave in this transaction, and cannot get one before it is over.
        self._alive: set[str] = set()

    def upsert(self, table: Any) -> Any:
        """An INSERT that can say what to do on a conflict, in this engine's words."""
        dialect = postgresql if self._connection.dialect.name == "postgresql" else sqlite
        return dialect.insert(table)

    async def _run(self, statement: Any, values: Any = None) -> Any:
        return await self._connection.execute(statement, values)

    def _insert(self, table: Any, values: dict[str, Any]) -> Insert:
        return insert(table).values(tenant_id=self._tenant, **values)

    async def lock_session(self, session_id: str) -> Session | None:
        query = select(t.session).where(self.where(t.session, session_id=session_id)).with_for_update()
        row = await self.one(query)
        return row and rows.session(row)

    async def insert_config_version(self, version: ConfigVersion) -> None:
        values = {
            "target_id": version.target_id,
            "version": version.version,
            "title": version.title,
            "config": config_text(version.config),
            "principal": version.principal,
            "create_time": version.create_time,
            "restored_from": version.restored_from,
        }
        await self._run(self._insert(t.config_version, values))

    async def insert_session(self, session: Session, root: Floor, main: Branch) -> None:
        buried = select(t.tombstone.c.session_id)
        if await self.value(buried.where(self.where(t.tombstone, session_id=session.session_id))):
            raise NotFound("session")
        await self._run(
            self._insert(
                t.session,
                {
                    "session_id": session.session_id,
                    "project_id": session.project_id,
                    "title": session.title,
                    "state": session.state.value,
                    "config": config_text(session.config),
                    "version": session.version,
                    "root_floor_id": session.root_floor_id,
                    "stored_tokens": session.stored_tokens,
                    "create_time": session.create_time,
                    "update_time": session.update_time,
                    "last_activity_time": session.last_activity_time,
                },
            )
        )
        await self._run(self._insert(t.segment, {"session_id": session.session_id, "segment": 0}))
        await self._run(self._insert(t.floor, rows.floor_values(root)))
        await self.insert_branch(session.session_id, main)
        await self.insert_config_version(
            ConfigVersion(
                session.session_id,
                session.version,
                session.title,
                session.config,
                root.principal,
                session.create_time,
            )
        )

    async def touch_session(self, session_id: str, new_tokens: int) -> None:
        await self._run(
            update(t.session)
            .where(self.where(t.session, session_id=session_id))
            .values(
                last_activity_time=self._clock(),
                stored_tokens=t.session.c.stored_tokens + new_tokens,
            )
        )

    async def insert_floor(self, floor: Floor, opens_segment: bool) -> None:
        if opens_segment:
            await self._run(
                self._insert(
                    t.segment,
                    {
                        "session_id": floor.session_id,
                        "segment": floor.place.segment,
                        "parent_segment": floor.parent_segment,
                        "parent_depth": floor.place.depth - 1,
                    },
                )
            )
        await self._run(self._insert(t.floor, rows.floor_values(floor)))
        if opens_segment and floor.state is FloorState.COMMITTED:
            await self._count_fork(floor.session_id)

    async def _count_fork(self, session_id: str) -> None:
        forks = {"forks": t.session.c.forks + 1}
        await self._run(update(t.session).where(self.where(t.session, session_id=session_id)).values(forks))

    async def update_pending(self, floor: Floor) -> None:
        result = await self._run(
            update(t.floor)
            .where(
                self.where(
                    t.floor,
                    session_id=floor.session_id,
                    segment=floor.place.segment,
                    depth=floor.place.depth,
                ),
                t.floor.c.floor_id == floor.floor_id,
                t.floor.c.state.in_(_PENDING),
            )
            .values(**rows.floor_end_values(floor))
        )
        if result.rowcount != 1:
            raise AssertionError("only a pending floor can change")
        if floor.state is FloorState.COMMITTED:
            await self._count_fork(floor.session_id)

    async def insert_page(self, floor_id: str, session_id: str, page: Page) -> None:
        query = select(func.max(t.page.c.number)).where(self.where(t.page, floor_id=floor_id))
        last = await self.value(query)
        values = {"session_id": session_id, "number": 1 + (last or 0), **rows.version_values(floor_id, page)}
        await self._run(self._insert(t.page, values))

    async def insert_branch(self, session_id: str, branch: Branch) -> None:
        await self._run(self._insert(t.branch, {"session_id": session_id, **_branch_values(branch)}))

    async def update_branch(self, session_id: str, seen: Branch, new: Branch) -> bool:
        result = await self._run(
            update(t.branch)
            .where(
                self.where(t.branch, session_id=session_id, name=seen.name),
                t.branch.c.head_floor_id == seen.head_floor_id,
                t.branch.c.pending_floor_id.is_not_distinct_from(seen.pending_floor_id),
            )
            .values(**_branch_values(new))
        )
        return bool(result.rowcount == 1)

    async def delete_branch(self, session_id: str, name: str) -> None:
        await self._run(sql_delete(t.branch).where(self.where(t.branch, session_id=session_id, name=name)))

    async def leave(
        self, session_id: str, branch: str, leaf_floor_id: str, links: Chain, version: int
    ) -> None:
        if not links:
            return
        key = {"tenant_id": self._tenant, "session_id": session_id, "branch": branch}
        values = {"leaf_floor_id": leaf_floor_id, "version": version}
        statement = self.upsert(t.left_leaf)
        statement = statement.on_conflict_do_update(
            index_elements=[*key, "segment", "exit_depth"],
            set_={name: statement.excluded[name] for name in values},
        )
        await self._run(
            statement,
            [{**key, "segment": link.segment, "exit_depth": link.last, **values} for link in links],
        )

    async def insert_head_move(self, session_id: str, move: HeadMove) -> None:
        query = select(func.max(t.head_move.c.number)).where(
            self.where(t.head_move, session_id=session_id, branch=move.branch)
        )
        await self._run(
            self._insert(
                t.head_move,
                {
                    "session_id": session_id,
                    "number": 1 + (await self.value(query) or 0),
                    "branch": move.branch,
                    "from_floor_id": move.from_floor_id,
                    "to_floor_id": move.to_floor_id,
                    "kind": move.kind,
                    "principal": move.principal,
                    "move_time": move.move_time,
                },
            )
        )

    async def answer(self, request: Request) -> Answer | None:
        found = await super().answer(request)
        self._alive.add(request.principal)
        return found

    async def refuse_buried(self, principal: str) -> None:
        if principal in self._alive:
            return
        grave = self.where(t.grave, digest=grave_of(self._tenant, principal))
        if await self.value(select(t.grave.c.create_time).where(grave)):
            raise buried()
        self._alive.add(principal)

    async def record(self, request: Request, answer: Answer) -> None:
        await self.refuse_buried(request.principal)
        await self._run(
            self._insert(
                t.request,
                {
                    "principal": request.principal,
                    "method": request.method,
                    "request_id": request.request_id,
                    "fingerprint": request.fingerprint,
                    "answer": answer_text(answer),
                    "create_time": self._clock(),
                    "words_of": words_of(answer),
                },
            )
        )

    def emit(self, project_id: str, event: Event) -> None:
        self._events[project_id].append(event)

    @property
    def emitted(self) -> bool:
        """Whether this transaction has events."""
        return bool(self._events)

    def after_commit(self, action: Callable[[], None]) -> None:
        self.committed.append(action)

    async def flush_events(self) -> None:
        """Takes the positions: the last statements of the transaction, projects in order."""
        now = self._clock()
        for project_id, events in sorted(self._events.items()):
            last = await self._advance(project_id, len(events))
            await self._run(
                insert(t.event),
                [
                    {
                        "tenant_id": self._tenant,
                        "project_id": project_id,
                        "position": position,
                        "event_id": event.event_id,
                        "type": event.type,
                        "session_id": event.session_id or None,
                        "floor_id": event.floor_id or None,
                        "payload": json.dumps(event.payload),
                        "commit_time": now,
                    }
                    for position, event in enumerate(events, last - len(events) + 1)
                ],
            )

    async def _advance(self, project_id: str, count: int) -> int:
        statement = self.upsert(t.feed).values(tenant_id=self._tenant, project_id=project_id, last=count)
        statement = statement.on_conflict_do_update(
            index_elements=["tenant_id", "project_id"], set_={"last": t.feed.c.last + count}
        ).returning(t.feed.c.last)
        return int((await self._run(statement)).scalar_one())


def _branch_values(branch: Branch) -> dict[str, Any]:
    return {
        "name": branch.name,
        "head_floor_id": branch.head_floor_id,
        "pending_floor_id": branch.pending_floor_id,
        "failed_floor_id": branch.failed_floor_id,
        "depth": branch.depth,
        "version": branch.version,
        "create_time": branch.create_time,
        "update_time": branch.update_time,
    }
