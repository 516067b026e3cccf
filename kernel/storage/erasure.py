"""Erasing a session: the one place where rows of a tree are removed (T2)."""

from sqlalchemy import delete, select, update

from kernel.storage import tables as t
from kernel.storage.answer_rows import answer_text
from kernel.storage.audit_writes import AuditWrites
from kernel.storage.prompt_writes import PromptWrites
from kernel.storage.run_writes import RunWrites
from kernel.storage.search_writes import SearchWrites
from kernel.storage.staged_writes import StagedWrites
from kernel.storage.state_writes import StateWrites
from kernel.verbs.records import Answer, Erased, RunState, Session
from kernel.verbs.sealer import seal_all

# What refers to floors before them, floors before segments, all before the session.
_OF_SESSION = (
    t.staged_write,
    t.left_leaf,
    t.branch,
    t.head_move,
    t.prompt,
    t.prompt_block,
    t.run_chunk,
    t.tool_call,
    t.run,
    t.page,
    t.state_copy,
    t.floor,
    t.segment,
    t.session,
)


class ErasingWrites(StateWrites, PromptWrites, SearchWrites, RunWrites, StagedWrites, AuditWrites):
    # Whether this transaction took words: they are to leave the files as well.
    erased = False

    async def running_runs(self, session_id: str) -> list[str]:
        query = select(t.run.c.run_id).join(
            t.floor, (t.floor.c.tenant_id == t.run.c.tenant_id) & (t.floor.c.floor_id == t.run.c.floor_id)
        )
        where = self.where(t.floor, session_id=session_id)
        active = [state.value for state in RunState if state.active]
        # Locked: what a process logs meanwhile would stand in the way of removing the run.
        query = query.where(where, t.run.c.state.in_(active)).with_for_update(of=t.run)
        return [row["run_id"] for row in await self.all(query)]

    async def erase_session(self, session: Session, principal: str) -> tuple[Erased, ...]:
        session_id, self.erased = session.session_id, True
        # While the answers that are blanked below still say what was done.
        await seal_all(self, self._tenant, words_of=session_id)
        taken = {"search_message": await self.erase_entries(session.project_id, session_id)}
        for table in _OF_SESSION:
            done = await self._run(delete(table).where(self.where(table, session_id=session_id)))
            taken[table.name] = done.rowcount
        for table in (t.live_value, t.live_layer):
            done = await self._run(delete(table).where(self.where(table, owner_id=session_id)))
            taken[table.name] = done.rowcount
        versions = self.where(t.config_version, target_id=session_id)
        taken["config_version"] = (await self._run(delete(t.config_version).where(versions))).rowcount
        said = self.where(t.event, project_id=session.project_id, session_id=session_id)
        taken["event"] = (await self._run(update(t.event).where(said).values(payload="{}"))).rowcount
        answered = self.where(t.request, words_of=session_id)
        # The rest of an answer is its session's id: a repeat finds out that it is gone.
        blank = {"answer": answer_text(Answer(session_id)), "words_of": None}
        taken["request"] = (await self._run(update(t.request).where(answered).values(**blank))).rowcount
        stone = {"session_id": session_id, "principal": principal, "delete_time": self._clock()}
        await self._run(self._insert(t.tombstone, stone))
        return tuple(Erased(store, rows) for store, rows in sorted(taken.items()) if rows)
