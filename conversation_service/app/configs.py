"""Versions of the configuration of projects and sessions, and what is effective."""

from dataclasses import dataclass, replace

from conversation_service.app.changes import expect_version, version_of
from conversation_service.app.projects import get_project, in_project
from kernel.errors import NotFound
from kernel.verbs import configs
from kernel.verbs.answers import in_session
from kernel.verbs.configs import Effective
from kernel.verbs.env import Caller, Env, ReadTx, Write, WriteTx, known_session
from kernel.verbs.records import Answer, ConfigVersion, Event, Project, Session


@dataclass(frozen=True, slots=True)
class Target:
    """A project, as its caller names it, or a session; the other is empty."""

    project: str
    session_id: str


async def effective_config(env: Env, caller: Caller, target: Target) -> Effective:
    if not target.session_id:
        return configs.of_project(await get_project(env, caller, target.project))
    async with env.store.reading(caller.tenant_id) as tx:
        return await configs.of_session(tx, await known_session(tx, target.session_id))


async def list_versions(
    env: Env, caller: Caller, target: Target, before: int | None, limit: int
) -> list[ConfigVersion]:
    """Newest first, from below `before`."""
    target_id = await _target_id(env, caller, target)
    async with env.store.reading(caller.tenant_id) as tx:
        return await tx.config_versions(target_id, before, limit)


async def get_version(env: Env, caller: Caller, target: Target, version: int) -> ConfigVersion:
    target_id = await _target_id(env, caller, target)
    async with env.store.reading(caller.tenant_id) as tx:
        return await _known(tx, target_id, version)


async def restore_version(
    env: Env, write: Write, target: Target, version: int, expected: int
) -> tuple[ConfigVersion, Project | None, Session | None]:
    """The configuration of an earlier version as a new one; -> it, and what it belongs to."""
    if target.session_id:
        return await _restore_session(env, write, target.session_id, version, expected)

    async def work(tx: WriteTx, project: Project) -> Answer:
        expect_version(project, expected)
        earlier = await _known(tx, project.project_id, version)
        new = replace(project, config=earlier.config, version=project.version + 1, update_time=env.clock())
        await tx.update_project(new)
        made = version_of(env, new.project_id, new, write.caller.principal, version)
        await tx.insert_config_version(made)
        tx.emit(new.project_id, _event(env, made, ""))
        return Answer(project=new, config_version=made)

    answer = await in_project(env, write, target.project, work)
    assert answer.config_version is not None
    return answer.config_version, answer.project, None


async def _restore_session(
    env: Env, write: Write, session_id: str, version: int, expected: int
) -> tuple[ConfigVersion, Project | None, Session | None]:
    async def work(tx: WriteTx, session: Session) -> Answer:
        expect_version(session, expected)
        earlier = await _known(tx, session_id, version)
        new = replace(session, config=earlier.config, version=session.version + 1, update_time=env.clock())
        await tx.update_session(new)
        made = version_of(env, session_id, new, write.caller.principal, version)
        await tx.insert_config_version(made)
        tx.emit(new.project_id, _event(env, made, session_id))
        return Answer(session_id, session=new, config_version=made)

    done = await in_session(env, write, session_id, work)
    assert done.config_version is not None
    return done.config_version, None, done.session


def _event(env: Env, made: ConfigVersion, session_id: str) -> Event:
    payload: dict[str, str | int] = {"version": made.version, "restored_from": made.restored_from}
    return Event(env.new_id(), "config.changed", session_id, payload=payload)


async def _known(tx: ReadTx, target_id: str, version: int) -> ConfigVersion:
    found = await tx.config_version(target_id, version)
    if found is None:
        raise NotFound("version")
    return found


async def _target_id(env: Env, caller: Caller, target: Target) -> str:
    if not target.session_id:
        return (await get_project(env, caller, target.project)).project_id
    async with env.store.reading(caller.tenant_id) as tx:
        return (await known_session(tx, target.session_id)).session_id
