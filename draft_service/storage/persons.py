"""Erasing a principal: what drafts keep beside the kernel's tables."""

from sqlalchemy import delete, select, update

from draft_service.storage import tables as t
from draft_service.storage.writes import DraftWrites
from kernel.state.model import State
from kernel.state.text import state_from, state_text
from kernel.storage.persons import blank_effects, blank_page
from kernel.tree.model import Slot
from kernel.verbs.graves import ERASED_NAME
from kernel.verbs.records import Erased, Session

_COPY_KEY = ("source_id", "snapshot_digest", "depth")


class DraftPersonWrites(DraftWrites):
    """Who made a draft is whose it is: it goes whole, whoever else wrote in it."""

    async def lock_whole(self, session_id: str) -> Session | None:
        return await self.lock_tree(session_id)

    async def sessions_of(self, principal: str, limit: int) -> list[str]:
        made = select(t.draft.c.draft_id).where(self.where(t.draft, created_by=principal))
        own = [row["draft_id"] for row in await self.all(made.order_by(t.draft.c.draft_id).limit(limit))]
        return own or await super().sessions_of(principal, limit)

    async def is_alone(self, session: Session, principal: str) -> bool:
        made = select(t.draft.c.created_by).where(self.where(t.draft, draft_id=session.session_id))
        return bool(await self.value(made) == principal)

    async def erase_whole(self, session: Session) -> tuple[Erased, ...]:
        return await self.erase_draft(session)

    async def erase_rest(self, principal: str) -> tuple[Erased, ...]:
        taken = [*await super().erase_rest(principal), await self._copies(principal)]
        exports = await self._run(delete(t.export).where(self.where(t.export, principal=principal)))
        taken.append(Erased("export", exports.rowcount))
        ended = self.where(t.draft, ended_by=principal)
        await self._run(update(t.draft).where(ended).values(ended_by=ERASED_NAME))
        lines = self.where(t.draft_audit, principal=principal)
        named = await self._run(update(t.draft_audit).where(lines).values(principal=ERASED_NAME))
        return (*taken, Erased("draft_audit", named.rowcount))

    async def _copies(self, principal: str) -> Erased:
        """Its words in the frozen copies that drafts of others began with."""
        copied = select(t.snapshot_floor).where(self.where(t.snapshot_floor, principal=principal))
        found = await self.all(copied)
        erased: dict[tuple[str, bytes], set[str]] = {}
        for row in found:
            where = self.where(t.snapshot_floor, **{name: row[name] for name in _COPY_KEY})
            pages = blank_page(row, "input_", Slot.INPUT) | blank_page(row, "output_", Slot.OUTPUT)
            values = {"principal": ERASED_NAME, **pages, **blank_effects(row)}
            await self._run(update(t.snapshot_floor).where(where).values(**values))
            erased.setdefault((row["source_id"], row["snapshot_digest"]), set()).add(row["floor_id"])
        for (source_id, digest), floor_ids in erased.items():
            await self._forget(source_id, digest, floor_ids)
        return Erased("snapshot_floor", len(found))

    async def _forget(self, source_id: str, digest: bytes, floor_ids: set[str]) -> None:
        where = self.where(t.snapshot, source_id=source_id, digest=digest)
        text = await self.value(select(t.snapshot.c.state).where(where))
        if text:
            left = state_text(_without(state_from(text), floor_ids))
            await self._run(update(t.snapshot).where(where).values(state=left))


def _without(state: State, floor_ids: set[str]) -> State:
    """The state without what those floors wrote."""
    return State(
        {key: one for key, one in state.variables.items() if one.floor_id not in floor_ids},
        state.deleted,
        {key: one for key, one in state.memory.items() if one.floor_id not in floor_ids},
        {key: one for key, one in state.slots.items() if one.floor_id not in floor_ids},
    )
