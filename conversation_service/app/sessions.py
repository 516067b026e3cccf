"""Sessions: opening, reading, listing."""

from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID, uuid5

from kernel.errors import NotFound
from kernel.prompt.config import Config
from kernel.tree.model import Branch
from kernel.verbs.env import MAIN, Caller, Env, Write, WriteTx, known_session
from kernel.verbs.pages import new_root
from kernel.verbs.records import Answer, Event, Session, SessionState
from kernel.verbs.store import SessionFilter

DEFAULT_PROJECT = "default"
_PROJECTS = UUID("5a8c1b6e-6d0e-4d37-9f0c-7d3f5f0b7a11")


def project_id_of(tenant_id: str, name: str) -> str:
    """A project's id: `default`, like no name at all, is the tenant's own default project."""
    return str(uuid5(_PROJECTS, tenant_id)) if name in ("", DEFAULT_PROJECT) else name


@dataclass(frozen=True, slots=True)
class NewSession:
    """`project_id` as the caller wrote it; `config` checked."""

    project_id: str
    title: str
    config: Config


async def create_session(env: Env, write: Write, new: NewSession) -> tuple[Session, Branch]:
    """A session with its root and the branch `main` there. NOT_FOUND for an unknown project."""
    tenant_id = write.caller.tenant_id
    project_id = project_id_of(tenant_id, new.project_id)
    session_id, root_id, event_id = env.new_id(), env.new_id(), env.new_id()

    async def attempt(tx: WriteTx) -> tuple[Session, Branch]:
        answer = await tx.answer(write.request)
        if answer is not None:
            return await _as_created(tx, answer)
        if project_id == project_id_of(tenant_id, DEFAULT_PROJECT):
            # It always exists, like `main`: made with its first session, and no event of its own.
            await tx.insert_project(project_id, DEFAULT_PROJECT)
        elif not await tx.project_exists(project_id):
            raise NotFound("project")
        session = _new_session(env, session_id, project_id, root_id, new)
        now = session.create_time
        main = Branch(MAIN, root_id, None, None, 0, 1, now, now)
        await tx.insert_session(session, new_root(env, session_id, root_id, write.caller.principal), main)
        await tx.record(write.request, Answer(session_id, branch=main))
        tx.emit(project_id, Event(event_id, "session.created", session_id, root_id, {"title": new.title}))
        return session, main

    return await env.store.write(tenant_id, attempt)


def _new_session(env: Env, session_id: str, project_id: str, root_id: str, new: NewSession) -> Session:
    now = env.clock()
    return Session(
        session_id=session_id,
        project_id=project_id,
        title=new.title,
        state=SessionState.ACTIVE,
        config=new.config,
        version=1,
        root_floor_id=root_id,
        stored_tokens=0,
        create_time=now,
        update_time=now,
        last_activity_time=now,
    )


async def _as_created(tx: WriteTx, answer: Answer) -> tuple[Session, Branch]:
    """As the session stood when it was answered: only its activity has changed since."""
    session = await known_session(tx, answer.session_id)
    assert answer.branch is not None
    return replace(session, last_activity_time=session.create_time), answer.branch


async def get_session(env: Env, caller: Caller, session_id: str) -> Session:
    async with env.store.reading(caller.tenant_id) as tx:
        return await known_session(tx, session_id)


async def list_sessions(
    env: Env, caller: Caller, where: SessionFilter, after: tuple[str, str] | None, limit: int
) -> list[Session]:
    """In the filter's order, after the (time as ISO text, id) of the last one seen."""
    start = (datetime.fromisoformat(after[0]), after[1]) if after else None
    async with env.store.reading(caller.tenant_id) as tx:
        return await tx.sessions(where, start, limit)
