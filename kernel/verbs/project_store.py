"""The contract of the store for projects, configuration and whole sessions; see `store.py`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from kernel.tree.model import Branch, Floor, Page
from kernel.verbs.records import ConfigVersion, Erased, Member, Project, Session, SessionState


class ProjectReads(Protocol):
    async def project(self, project_id: str) -> Project | None: ...

    async def projects(
        self,
        state: SessionState | None,
        after: tuple[datetime, str] | None,
        limit: int,
        member: str | None = None,
    ) -> list[Project]:
        """Newest first, from below the (time, id) of the last one seen; only those of a `member`, if one is
        given."""

    async def member(self, project_id: str, principal: str) -> Member | None: ...

    async def members(self, project_id: str, after: str, limit: int) -> list[Member]:
        """By principal, those after `after`."""

    async def config_version(self, target_id: str, version: int) -> ConfigVersion | None: ...

    async def config_versions(self, target_id: str, before: int | None, limit: int) -> list[ConfigVersion]:
        """A project's or a session's, newest first, from below `before`."""

    async def pending_branches(self, session_id: str) -> list[Branch]:
        """Those with a pending floor, by name."""

    async def pending_sessions(self, project_id: str) -> list[str]:
        """The project's sessions that have one."""


class ProjectWrites(Protocol):
    async def lock_project(self, project_id: str, *, shared: bool = False) -> Project | None:
        """The project, locked until the end: alone, or with others who only need it to stay as it is.

        Whoever locks a session too locks the project first.
        """

    async def insert_project(self, project_id: str, title: str) -> None:
        """Unless it exists; by nobody."""

    async def create_project(self, project: Project, principal: str) -> None:
        """With its configuration as the first version, made by the principal."""

    async def update_project(self, project: Project) -> None:
        """Title, state, configuration, version and time of a locked project."""

    async def update_session(self, session: Session) -> None:
        """Title, state, configuration, version and time of a locked session."""

    async def insert_config_version(self, version: ConfigVersion) -> None: ...

    async def archive_sessions(self, project_id: str, archived: bool) -> None:
        """Says in each of a locked project's sessions whether the project is archived; waits for their
        writers."""

    async def set_member(self, member: Member) -> Member:
        """Adds the member, or changes the role; -> as it is then."""

    async def remove_member(self, project_id: str, principal: str) -> None: ...

    async def insert_floors(self, floors: Sequence[Floor]) -> None:
        """Committed floors of the root's segment, each below the one before, in one go."""

    async def insert_tree(self, floors: Sequence[Floor]) -> None:
        """Floors with the segments that they open, each after its parent, in any state, in one go."""

    async def insert_pages(self, session_id: str, pages: Sequence[tuple[str, int, Page]]) -> None:
        """Versions of opened floors: (floor id, number, page)."""

    async def running_runs(self, session_id: str) -> list[str]:
        """Ids of the active runs; locked, as by `lock_run`."""

    async def erase_session(self, session: Session, principal: str) -> tuple[Erased, ...]:
        """Removes a locked session with everything in it, blanks what its events and requests say, and
        leaves a tombstone. -> how much from each store that held anything, by name."""
