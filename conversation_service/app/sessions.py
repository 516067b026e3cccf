"""Sessions: opening, reading, listing."""

from dataclasses import dataclass, replace
from datetime import datetime

from conversation_service.app.changes import checked_size
from conversation_service.app.projects import (
    DEFAULT_PROJECT,
    lock_known,
    project_id_of,
    writable_project,
)
from kernel.errors import invalid
from kernel.prompt.config import Config, effective
from kernel.tree.model import Branch, Floor, Role, Slot
from kernel.tree.places import first_child
from kernel.verbs.answers import Answered
from kernel.verbs.env import MAIN, Caller, Env, Write, WriteTx, known_session
from kernel.verbs.moves import COMMIT, move_head
from kernel.verbs.pages import new_floor, new_page, new_root, own_tokens, sealed
from kernel.verbs.records import Answer, Event, Session, SessionState
from kernel.verbs.store import SessionFilter

__all__ = ["DEFAULT_PROJECT", "NewSession", "create_session", "get_session", "list_sessions", "project_id_of"]


@dataclass(frozen=True, slots=True)
class NewSession:
    """`project_id` as the caller wrote it; `config` checked; `greeting_index` into what is effective."""

    project_id: str
    title: str
    config: Config
    greeting_index: int | None = None


async def create_session(env: Env, write: Write, new: NewSession) -> tuple[Session, Branch]:
    """A session with its root and the branch `main` there, or at a first floor with the greeting.

    NOT_FOUND for an unknown project; ARCHIVED; INVALID for a greeting that there is not.
    """
    tenant_id = write.caller.tenant_id
    project_id = project_id_of(tenant_id, new.project_id)
    session_id, root_id, event_id = env.new_id(), env.new_id(), env.new_id()

    async def attempt(tx: WriteTx) -> tuple[Session, Branch]:
        answer = await tx.answer(write.request)
        if answer is not None:
            return await as_answered(tx, answer)
        project = writable_project(await lock_known(tx, tenant_id, project_id, shared=True))
        checked_size(new.config)
        session = new_session(env, session_id, project_id, root_id, new.title, new.config)
        root = new_root(env, session_id, root_id, write.caller.principal)
        now = session.create_time
        branch = Branch(MAIN, root_id, None, None, 0, 1, now, now)
        await tx.insert_session(session, root, branch)
        tx.emit(project_id, Event(event_id, "session.created", session_id, root_id, {"title": new.title}))
        if new.greeting_index is not None:
            greetings = effective(project.config, new.config).greetings
            text = _greeting(greetings, new.greeting_index)
            branch = await _greet(tx, env, session, root, branch, text)
        await tx.record(write.request, Answer(session_id, branch=branch, session=session))
        return session, branch

    return await env.store.write(tenant_id, attempt)


def new_session(
    env: Env, session_id: str, project_id: str, root_id: str, title: str, config: Config
) -> Session:
    now = env.clock()
    return Session(
        session_id=session_id,
        project_id=project_id,
        title=title,
        state=SessionState.ACTIVE,
        config=config,
        version=1,
        root_floor_id=root_id,
        stored_tokens=0,
        create_time=now,
        update_time=now,
        last_activity_time=now,
    )


def _greeting(greetings: tuple[str, ...], index: int) -> str:
    if not 0 <= index < len(greetings):
        raise invalid("greeting_index", f"there are {len(greetings)} greetings, counted from 0")
    return greetings[index]


async def _greet(tx: WriteTx, env: Env, session: Session, root: Floor, branch: Branch, text: str) -> Branch:
    """The greeting as the first floor's output, committed."""
    floor = new_floor(env, root, first_child(root.place), root.principal, branch.name)
    content = env.codec.text(Role.ASSISTANT, text)
    floor = replace(floor, output=new_page(env, floor.floor_id, Slot.OUTPUT, content))
    floor = sealed(env, floor, root)
    await tx.insert_floor(floor, False)
    await tx.touch_session(session.session_id, own_tokens(floor))
    return await move_head(tx, env, session, branch, floor, COMMIT, root.principal)


async def as_answered(tx: WriteTx, answer: Answer) -> tuple[Session, Branch]:
    """What a request that opened a session was answered; NOT_FOUND once that is erased."""
    session = await known_session(tx, answer.session_id)
    assert answer.branch is not None
    # Requests of an older schema kept the branch only; their sessions could not change.
    return answer.session or replace(session, last_activity_time=session.create_time), answer.branch


def session_of(done: Answered) -> Session:
    assert done.session is not None
    return done.session


async def get_session(env: Env, caller: Caller, session_id: str) -> Session:
    async with env.store.reading(caller.tenant_id) as tx:
        return await known_session(tx, session_id)


async def list_sessions(
    env: Env, caller: Caller, where: SessionFilter, after: tuple[str, str] | None, limit: int
) -> list[Session]:
    """In the filter's order, after the (time as ISO text, id) of the last one seen."""
    start = (datetime.fromisoformat(after[0]), after[1]) if after else None
    async with env.store.reading(caller.tenant_id) as tx:
        return await tx.sessions(replace(where, member=caller.member), start, limit)
