"""Projects, their members, versions of configuration, and whole sessions: writing."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from kernel.prompt.config import Config
from kernel.prompt.config_text import config_text
from kernel.storage import projects, rows
from kernel.storage import tables as t
from kernel.storage.writes import Writes
from kernel.tree.model import Floor, Page
from kernel.verbs.records import ConfigVersion, Member, Project, Session, SessionState


class ProjectWrites(Writes):
    async def lock_project(self, project_id: str, *, shared: bool = False) -> Project | None:
        query = select(t.project).where(self.where(t.project, project_id=project_id))
        row = await self.one(query.with_for_update(read=shared))
        return row and projects.project(row)

    async def insert_project(self, project_id: str, title: str) -> None:
        now = self._clock()
        made = Project(project_id, title, SessionState.ACTIVE, Config(), 1, now, now)
        statement = self.upsert(t.project).values(tenant_id=self._tenant, **project_values(made))
        statement = statement.on_conflict_do_nothing().returning(t.project.c.project_id)
        if (await self._run(statement)).scalar() is not None:
            await self.insert_config_version(_first_version(made, ""))

    async def create_project(self, project: Project, principal: str) -> None:
        await self._run(self._insert(t.project, project_values(project)))
        await self.insert_config_version(_first_version(project, principal))

    async def update_project(self, project: Project) -> None:
        where = self.where(t.project, project_id=project.project_id)
        await self._run(update(t.project).where(where).values(**project_values(project)))

    async def update_session(self, session: Session) -> None:
        values = {
            "title": session.title,
            "state": session.state.value,
            "config": config_text(session.config),
            "version": session.version,
            "update_time": session.update_time,
        }
        where = self.where(t.session, session_id=session.session_id)
        await self._run(update(t.session).where(where).values(**values))

    async def archive_sessions(self, project_id: str, archived: bool) -> None:
        where = self.where(t.session, project_id=project_id)
        # In the order of the keys, as everybody locks sessions: an UPDATE alone has none.
        locked = select(t.session.c.session_id).where(where).order_by(t.session.c.session_id)
        await self.value(select(func.count()).select_from(locked.with_for_update().subquery()))
        await self._run(update(t.session).where(where).values(project_archived=archived))

    async def set_member(self, member: Member) -> Member:
        known = await self.member(member.project_id, member.principal)
        if known is None:
            await self._run(self._insert(t.member, {**asdict(member), "role": member.role.value}))
            return member
        where = self.where(t.member, project_id=member.project_id, principal=member.principal)
        values = {"role": member.role.value, "update_time": member.update_time}
        await self._run(update(t.member).where(where).values(**values))
        return replace(member, create_time=known.create_time)

    async def remove_member(self, project_id: str, principal: str) -> None:
        where = self.where(t.member, project_id=project_id, principal=principal)
        await self._run(delete(t.member).where(where))

    async def insert_tree(self, floors: Sequence[Floor]) -> None:
        opened = [
            {
                "tenant_id": self._tenant,
                "session_id": floor.session_id,
                "segment": floor.place.segment,
                "parent_segment": floor.parent_segment,
                "parent_depth": floor.place.depth - 1,
            }
            for floor in floors
            if floor.place.segment != floor.parent_segment
        ]
        if opened:
            await self._run(insert(t.segment), opened)
        await self.insert_floors(floors)

    async def insert_pages(self, session_id: str, pages: Sequence[tuple[str, int, Page]]) -> None:
        values = [
            {
                "tenant_id": self._tenant,
                "session_id": session_id,
                "number": number,
                **rows.version_values(floor_id, page),
            }
            for floor_id, number, page in pages
        ]
        await self._run(insert(t.page), values)

    async def insert_floors(self, floors: Sequence[Floor]) -> None:
        values = [{"tenant_id": self._tenant, **rows.floor_values(floor)} for floor in floors]
        await self._run(insert(t.floor), values)


def project_values(project: Project) -> dict[str, Any]:
    return {
        "project_id": project.project_id,
        "title": project.title,
        "state": project.state.value,
        "config": config_text(project.config),
        "version": project.version,
        "create_time": project.create_time,
        "update_time": project.update_time,
    }


def _first_version(project: Project, principal: str) -> ConfigVersion:
    return ConfigVersion(
        project.project_id, project.version, project.title, project.config, principal, project.create_time
    )
