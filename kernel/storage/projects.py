"""Projects, their members, and versions of configuration: reading."""

from datetime import datetime

from sqlalchemy import literal, select, tuple_

from kernel.prompt.config_text import config_from_text
from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.reads import Scoped
from kernel.storage.types import Id, Time
from kernel.tree.model import Branch
from kernel.verbs.records import ConfigVersion, Member, MemberRole, Project, SessionState


def project(row: rows.Row) -> Project:
    return Project(
        row["project_id"],
        row["title"],
        SessionState(row["state"]),
        config_from_text(row["config"]),
        row["version"],
        row["create_time"],
        row["update_time"],
    )


def _member(row: rows.Row) -> Member:
    return Member(
        row["project_id"],
        row["principal"],
        MemberRole(row["role"]),
        row["create_time"],
        row["update_time"],
    )


def _config_version(row: rows.Row) -> ConfigVersion:
    return ConfigVersion(
        row["target_id"],
        row["version"],
        row["title"],
        config_from_text(row["config"]),
        row["principal"],
        row["create_time"],
        row["restored_from"],
    )


class ProjectReads(Scoped):
    async def project(self, project_id: str) -> Project | None:
        row = await self.one(select(t.project).where(self.where(t.project, project_id=project_id)))
        return row and project(row)

    async def projects(
        self,
        state: SessionState | None,
        after: tuple[datetime, str] | None,
        limit: int,
        member: str | None = None,
    ) -> list[Project]:
        columns = t.project.c.create_time, t.project.c.project_id
        query = select(t.project).where(self.where(t.project))
        if member is not None:
            query = query.where(self.joined_by(t.project, member))
        if state is not None:
            query = query.where(t.project.c.state == state.value)
        if after is not None:
            last = tuple_(literal(after[0], Time), literal(after[1], Id))
            query = query.where(tuple_(*columns) < last)
        query = query.order_by(*(column.desc() for column in columns)).limit(limit)
        return [project(row) for row in await self.all(query)]

    async def member(self, project_id: str, principal: str) -> Member | None:
        where = self.where(t.member, project_id=project_id, principal=principal)
        row = await self.one(select(t.member).where(where))
        return row and _member(row)

    async def members(self, project_id: str, after: str, limit: int) -> list[Member]:
        query = (
            select(t.member)
            .where(self.where(t.member, project_id=project_id), t.member.c.principal > after)
            .order_by(t.member.c.principal)
            .limit(limit)
        )
        return [_member(row) for row in await self.all(query)]

    async def config_version(self, target_id: str, version: int) -> ConfigVersion | None:
        where = self.where(t.config_version, target_id=target_id, version=version)
        row = await self.one(select(t.config_version).where(where))
        return row and _config_version(row)

    async def config_versions(self, target_id: str, before: int | None, limit: int) -> list[ConfigVersion]:
        query = select(t.config_version).where(self.where(t.config_version, target_id=target_id))
        if before is not None:
            query = query.where(t.config_version.c.version < before)
        query = query.order_by(t.config_version.c.version.desc()).limit(limit)
        return [_config_version(row) for row in await self.all(query)]

    async def pending_branches(self, session_id: str) -> list[Branch]:
        query = (
            select(t.branch)
            .where(self.where(t.branch, session_id=session_id), t.branch.c.pending_floor_id.is_not(None))
            .order_by(t.branch.c.name)
        )
        return [rows.branch(row) for row in await self.all(query)]

    async def pending_sessions(self, project_id: str) -> list[str]:
        query = (
            select(t.branch.c.session_id)
            .distinct()
            .join(
                t.session,
                (t.session.c.tenant_id == t.branch.c.tenant_id)
                & (t.session.c.session_id == t.branch.c.session_id),
            )
            .where(self.where(t.session, project_id=project_id), t.branch.c.pending_floor_id.is_not(None))
            .order_by(t.branch.c.session_id)
        )
        return [row["session_id"] for row in await self.all(query)]
