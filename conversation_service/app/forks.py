"""A session of its own that begins as another's path."""

from dataclasses import dataclass, replace

from conversation_service.app.projects import known_project, writable_project
from conversation_service.app.sessions import as_answered, new_session
from kernel.errors import NotFound
from kernel.tree.model import Branch, Floor
from kernel.verbs.copies import copy_path
from kernel.verbs.env import MAIN, Env, Write, WriteTx, known_session, writable
from kernel.verbs.heads import committed
from kernel.verbs.pages import new_root
from kernel.verbs.records import Answer, Event, Session
from kernel.verbs.state_store import NO_LAYER


@dataclass(frozen=True, slots=True)
class Fork:
    """`floor_id` is where the path ends; an empty title is the source's."""

    session_id: str
    floor_id: str
    title: str


async def fork_session(env: Env, write: Write, fork: Fork) -> tuple[Session, Branch]:
    """The committed path as one segment, with new ids and equal digests, and with the state at its end; the
    configuration as the first version; the session's live values. Siblings, other branches and the
    source's pending floors stay behind.

    NOT_FOUND, ARCHIVED; FAILED_PRECONDITION for a floor that is not committed; DATA_LOSS for a page that
    fails its digest.
    """

    async def attempt(tx: WriteTx) -> tuple[Session, Branch]:
        answer = await tx.answer(write.request)
        if answer is not None:
            return await as_answered(tx, answer)
        source, end = await _source(tx, fork)
        session_id, root_id = env.new_id(), env.new_id()
        title = fork.title or source.title
        session = new_session(env, session_id, source.project_id, root_id, title, source.config)
        session = replace(session, stored_tokens=end.path_tokens)
        root = new_root(env, session_id, root_id, write.caller.principal)
        now = session.create_time
        at_root = Branch(MAIN, root_id, None, None, 0, 1, now, now)
        await tx.insert_session(session, root, at_root)
        head = await copy_path(tx, env, end, root)
        main = replace(at_root, head_floor_id=head.floor_id, depth=head.place.depth)
        await tx.update_branch(session_id, at_root, main)
        layer = (await tx.live_layers(source.session_id))[source.session_id]
        if layer != NO_LAYER:
            await tx.copy_live(session_id, layer)
        await tx.record(write.request, Answer(session_id, branch=main, session=session))
        payload: dict[str, str | int] = {
            "title": title,
            "source_session_id": source.session_id,
            "source_floor_id": end.floor_id,
        }
        tx.emit(
            session.project_id,
            Event(env.new_id(), "session.forked", session_id, head.floor_id, payload),
        )
        return session, main

    return await env.store.write(write.caller.tenant_id, attempt, fork.session_id)


async def _source(tx: WriteTx, fork: Fork) -> tuple[Session, Floor]:
    """The session and the floor to fork at. Its project is locked before it, as everywhere."""
    project_id = (await known_session(tx, fork.session_id)).project_id
    await tx.lock_project(project_id, shared=True)
    session = writable(await tx.lock_session(fork.session_id))
    writable_project(await known_project(tx, project_id))
    floor = await committed(tx, session, fork.floor_id)
    if floor.session_id != session.session_id:
        raise NotFound("floor")
    return session, floor
