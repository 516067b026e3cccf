"""The cases of `cases.py` for projects, configuration and whole sessions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kernel.prompt.config import Config
from kernel.tree.model import Place, Slot
from kernel.tree.places import ChildPlace
from kernel.verbs.records import ConfigVersion, Member, MemberRole, Project, SessionState
from kernel.verbs.store import WriteTx
from tests.conformance.world import World, next_place

if TYPE_CHECKING:
    from tests.conformance.cases import Furnished, Read, Write

MEMBER = "a member"


def member(world: World, principal: str = MEMBER, role: MemberRole = MemberRole.OBSERVER) -> Member:
    now = world.now()
    return Member(world.session.project_id, principal, role, now, now)


PROJECT_READS: dict[str, Read] = {
    "project": lambda tx, on: tx.project(on.project_id),
    "projects": lambda tx, on: tx.projects(None, None, 100),
    "member": lambda tx, on: tx.member(on.project_id, MEMBER),
    "members": lambda tx, on: tx.members(on.project_id, "", 100),
    "config_version": lambda tx, on: tx.config_version(on.session_id, 1),
    "config_versions": lambda tx, on: tx.config_versions(on.session_id, None, 100),
    "pending_branches": lambda tx, on: tx.pending_branches(on.session_id),
    "pending_sessions": lambda tx, on: tx.pending_sessions(on.project_id),
    "role_at": lambda tx, on: tx.role_at("session", on.session_id, MEMBER),
    "projects_of": lambda tx, on: tx.projects_of(MEMBER, 100),
    "versions": lambda tx, on: tx.versions(on.session_id),
}


def _project(on: Furnished, project_id: str) -> Project:
    now = on.world.now()
    return Project(project_id, f"new {on.world.mark}", SessionState.ACTIVE, Config(), 2, now, now)


def _version(on: Furnished) -> ConfigVersion:
    return ConfigVersion(on.session_id, 2, on.world.mark, Config(), "somebody", on.world.now())


async def _insert_floors(tx: WriteTx, on: Furnished) -> None:
    await tx.insert_floors([on.world.floor(on.second, ChildPlace(Place(0, 4), 0, False))])


async def _insert_tree(tx: WriteTx, on: Furnished) -> None:
    await tx.insert_tree([on.world.floor(on.world.root, await next_place(tx, on.world.root))])


async def _insert_pages(tx: WriteTx, on: Furnished) -> None:
    page = on.world.page(on.pending.floor_id, Slot.OUTPUT)
    await tx.insert_pages(on.session_id, [(on.pending.floor_id, 7, page)])


PROJECT_WRITES: dict[str, Write] = {
    "lock_project": lambda tx, on: tx.lock_project(on.project_id),
    "create_project": lambda tx, on: tx.create_project(_project(on, on.world.new_id()), "somebody"),
    "update_project": lambda tx, on: tx.update_project(_project(on, on.project_id)),
    "update_session": lambda tx, on: tx.update_session(replace(on.world.session, title="new", version=2)),
    "insert_config_version": lambda tx, on: tx.insert_config_version(_version(on)),
    "archive_sessions": lambda tx, on: tx.archive_sessions(on.project_id, True),
    "set_member": lambda tx, on: tx.set_member(member(on.world, role=MemberRole.OWNER)),
    "remove_member": lambda tx, on: tx.remove_member(on.project_id, MEMBER),
    "insert_floors": _insert_floors,
    "insert_tree": _insert_tree,
    "insert_pages": _insert_pages,
    "running_runs": lambda tx, on: tx.running_runs(on.session_id),
    "erase_session": lambda tx, on: tx.erase_session(on.world.session, "somebody"),
}
