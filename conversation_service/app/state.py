"""State: reading it at a place, writing live values."""

from collections.abc import Mapping
from dataclasses import dataclass

from conversation_service.app.projects import get_project, in_project, known_project
from kernel.errors import Aborted
from kernel.state.model import VisibleState
from kernel.tree.model import Floor
from kernel.verbs.answers import in_session
from kernel.verbs.effects import write_live
from kernel.verbs.env import Caller, Env, Write, WriteTx, known_session
from kernel.verbs.queries import path_end
from kernel.verbs.records import Answer, Event, Project, Session
from kernel.verbs.state import project_state, visible_state


@dataclass(frozen=True, slots=True)
class LiveWrite:
    """Values by key, None to delete; `expected_version` 0 for whatever the layer's is. `project` as the
    caller wrote it; it or `session_id`."""

    project: str
    session_id: str
    values: Mapping[str, str | None]
    expected_version: int = 0


async def get_state(
    env: Env, caller: Caller, session_id: str, branch: str, floor_id: str
) -> tuple[Floor, VisibleState]:
    """At the floor, or the branch's head, and which floor that is."""
    async with env.store.reading(caller.tenant_id) as tx:
        end = await path_end(tx, session_id, branch, floor_id)
        return end, await visible_state(tx, await known_session(tx, session_id), end)


async def get_project_state(env: Env, caller: Caller, project: str) -> VisibleState:
    found = await get_project(env, caller, project)
    async with env.store.reading(caller.tenant_id) as tx:
        return await project_state(tx, await known_project(tx, found.project_id))


async def write_state(env: Env, write: Write, ask: LiveWrite) -> int:
    """The layer's next version, which all values are written as; VERSION_MOVED, ARCHIVED, LIMIT."""
    if ask.session_id:

        async def in_own(tx: WriteTx, session: Session) -> Answer:
            version = await _written(tx, env, write, ask, session.session_id, session.project_id)
            await tx.touch_session(session.session_id, 0)
            return Answer(session.session_id, version=version)

        done = await in_session(env, write, ask.session_id, in_own)
        return done.version

    async def in_shared(tx: WriteTx, project: Project) -> Answer:
        version = await _written(tx, env, write, ask, project.project_id, project.project_id)
        return Answer(version=version, project_id=project.project_id)

    return (await in_project(env, write, ask.project, in_shared)).version


async def _written(
    tx: WriteTx, env: Env, write: Write, ask: LiveWrite, owner_id: str, project_id: str
) -> int:
    await expect_live(tx, owner_id, ask.expected_version)
    owner = LiveOwner(owner_id, project_id, ask.session_id)
    return await write_layer(tx, env, owner, ask.values, write.caller.principal)


async def expect_live(tx: WriteTx, owner_id: str, expected: int) -> int:
    """The layer's version, which stays until the end; VERSION_MOVED when it is not the expected one."""
    current = await tx.lock_live(owner_id)
    if expected not in (0, current):
        raise Aborted(
            "VERSION_MOVED",
            "The live values have another version. Read them, decide, and retry.",
            {"current_version": str(current)},
        )
    return current


@dataclass(frozen=True, slots=True)
class LiveOwner:
    """A layer of live values: the session's, or the project's, whose `session_id` is empty."""

    owner_id: str
    project_id: str
    session_id: str = ""


async def write_layer(
    tx: WriteTx, env: Env, owner: LiveOwner, values: Mapping[str, str | None], principal: str
) -> int:
    """The values as the layer's next version, with their event. -> that version"""
    version = await write_live(tx, owner.owner_id, dict(values), principal)
    payload: dict[str, str | int] = {
        "scope": "session" if owner.session_id else "project",
        "version": version,
        "variable_writes": len(values),
    }
    tx.emit(owner.project_id, Event(env.new_id(), "state.changed", owner.session_id, payload=payload))
    return version
