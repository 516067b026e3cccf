"""Sessions: changing, archiving, restoring, erasing."""

from dataclasses import replace
from functools import partial

from conversation_service.app.changes import Change, applied, expect_version, version_of
from conversation_service.app.projects import fail_pending
from conversation_service.app.sessions import session_of
from kernel.errors import NotFound
from kernel.verbs.answers import in_session
from kernel.verbs.env import Env, Write, WriteTx, restorable
from kernel.verbs.records import Answer, Erased, Event, Session, SessionState


async def update_session(env: Env, write: Write, session_id: str, change: Change) -> Session:
    """The change as a new version; VERSION_MOVED when it was made for another. What changes nothing
    leaves no trace."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        expect_version(session, change.expected_version)
        title, config = applied(session, change)
        if (title, config) == (session.title, session.config):
            return Answer(session_id, session=session)
        new = replace(
            session, title=title, config=config, version=session.version + 1, update_time=env.clock()
        )
        await tx.update_session(new)
        await tx.insert_config_version(version_of(env, session_id, new, write.caller.principal))
        payload: dict[str, str | int] = {"version": new.version}
        if title != session.title:
            _emit(tx, env, new, "session.updated", payload)
        if config != session.config:
            _emit(tx, env, new, "config.changed", payload)
        return Answer(session_id, session=new)

    return session_of(await in_session(env, write, session_id, work))


async def archive_session(env: Env, write: Write, session_id: str) -> Session:
    """Refuses every write from here on; pending floors fail, and their runs are cancelled."""

    async def work(tx: WriteTx, session: Session) -> Answer:
        await fail_pending(tx, env, session_id)
        new = replace(session, state=SessionState.ARCHIVED, update_time=env.clock())
        await tx.update_session(new)
        _emit(tx, env, new, "session.archived", {})
        return Answer(session_id, session=new)

    return session_of(await in_session(env, write, session_id, work))


async def restore_session(env: Env, write: Write, session_id: str) -> Session:
    async def work(tx: WriteTx, session: Session) -> Answer:
        if session.state is SessionState.ACTIVE:
            return Answer(session_id, session=session)
        new = replace(session, state=SessionState.ACTIVE, update_time=env.clock())
        await tx.update_session(new)
        _emit(tx, env, new, "session.restored", {})
        return Answer(session_id, session=new)

    return session_of(await in_session(env, write, session_id, work, check=restorable))


async def delete_session(env: Env, write: Write, session_id: str) -> tuple[Erased, ...]:
    """Erases it, whatever its state, and cancels its runs; only a repeat of this is answered again."""

    async def attempt(tx: WriteTx) -> tuple[Erased, ...]:
        session = await tx.lock_session(session_id)
        answer = await tx.answer(write.request)
        if answer is not None:
            return answer.receipt
        if session is None:
            raise NotFound("session")
        for run_id in await tx.running_runs(session_id):
            tx.after_commit(partial(env.runs.ended, run_id))
        receipt = await tx.erase_session(session, write.caller.principal)
        await tx.record(write.request, Answer(session_id, receipt=receipt, project_id=session.project_id))
        _emit(tx, env, session, "session.deleted", {})
        return receipt

    return await env.store.write(write.caller.tenant_id, attempt, session_id)


def _emit(tx: WriteTx, env: Env, session: Session, kind: str, payload: dict[str, str | int]) -> None:
    tx.emit(session.project_id, Event(env.new_id(), kind, session.session_id, payload=payload))
