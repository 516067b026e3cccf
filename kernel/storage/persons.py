"""Erasing a principal. Promises: `kernel.verbs.erasure_store`."""

import json
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, exists, func, or_, select, union, update

from kernel.state.erased import without_words
from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.erasure import ErasingWrites
from kernel.storage.graves import GraveWrites
from kernel.tree.digest import ERASED, ERASED_PAGES
from kernel.tree.model import Floor, FloorState, MessageFacts, Role, Slot
from kernel.verbs.graves import ERASED_NAME
from kernel.verbs.records import ERASURE, Erased, Session

_PENDING = (FloorState.OPEN.value, FloorState.GENERATING.value)
_BLANK = {Slot.INPUT: Role.USER, Slot.OUTPUT: Role.ASSISTANT}
_FLOOR_KEY = ("session_id", "segment", "depth")
_PAGE_KEY = ("session_id", "floor_id", "number")
_SIDES = (("input_", Slot.INPUT), ("output_", Slot.OUTPUT))


class PersonWrites(ErasingWrites, GraveWrites):
    async def erase_entries_of(self, principal: str) -> tuple[Erased, ...]:
        mine = self.where(t.staged_write, staged_by=principal)
        return (await self._gone(t.staged_write, mine),)

    async def sessions_of(self, principal: str, limit: int) -> list[str]:
        found = [
            select(table.c.session_id).where(self.where(table, principal=principal))
            for table in (t.floor, t.head_move)
        ]
        versions = select(t.session.c.session_id).join(
            t.config_version,
            (t.config_version.c.tenant_id == t.session.c.tenant_id)
            & (t.config_version.c.target_id == t.session.c.session_id),
        )
        found.append(versions.where(self.where(t.session), t.config_version.c.principal == principal))
        every = union(*found).subquery("every")
        query = select(every.c.session_id).order_by(every.c.session_id).limit(limit)
        return [row["session_id"] for row in await self.all(query)]

    async def lock_whole(self, session_id: str) -> Session | None:
        return await self.lock_session(session_id)

    async def is_alone(self, session: Session, principal: str) -> bool:
        theirs = self.where(t.floor, session_id=session.session_id)
        others = t.floor.c.principal.not_in([principal, ERASED_NAME])
        return not await self.value(select(exists().where(theirs, others)))

    async def pending_of(self, session_id: str, principal: str) -> list[Floor]:
        mine = self.where(t.floor, session_id=session_id, principal=principal)
        query = select(*rows.FLOOR_COLUMNS).where(mine, t.floor.c.state.in_(_PENDING))
        return [rows.floor(row, check=False) for row in await self.all(query)]

    async def erase_whole(self, session: Session) -> tuple[Erased, ...]:
        return await self.erase_session(session, ERASED_NAME)

    async def blank_in(self, session: Session, principal: str) -> tuple[Erased, ...]:
        session_id = session.session_id
        mine = self._floors_of(session_id, principal)
        pages = await self._blank_floors(session_id, mine)
        taken = [Erased("floor", len(pages)), Erased("search_message", await self._unlisted(session, pages))]
        taken.append(Erased("page", await self._blank_pages(session_id, mine)))
        runs = select(t.run.c.run_id).where(
            self.where(t.run, session_id=session_id), t.run.c.floor_id.in_(mine)
        )
        for table in (t.run_chunk, t.tool_call):
            of_runs = self.where(table, session_id=session_id)
            taken.append(await self._gone(table, of_runs & table.c.run_id.in_(runs)))
        of_run = self.where(t.run, session_id=session_id) & t.run.c.floor_id.in_(mine)
        taken.append(await self._changed(t.run, of_run, plan="", failure_reason="", branch=""))
        for table in (t.prompt, t.prompt_block):
            taken.append(await self._gone(table, self.where(table, session_id=session_id)))
        taken.append(await self._blank_events(principal, session))
        taken += await self._unnamed(session_id, principal)
        self.erased = True
        erased = {"forks": t.session.c.forks + ERASURE}
        await self._run(update(t.session).where(self.where(t.session, session_id=session_id)).values(erased))
        return tuple(one for one in taken if one.rows)

    async def erase_rest(self, principal: str) -> tuple[Erased, ...]:
        taken = [await self._gone(t.member, self.where(t.member, principal=principal))]
        taken.append(await self._live(principal))
        versions = self.where(t.config_version, principal=principal)
        taken.append(await self._changed(t.config_version, versions, principal=ERASED_NAME))
        for column in (t.staged_write.c.decided_by, t.tool_call.c.decided_by, t.tombstone.c.principal):
            named = self.where(column.table) & (column == principal)
            taken.append(await self._changed(column.table, named, **{column.name: ERASED_NAME}))
        taken.append(await self._blank_events(principal))
        taken.append(await self._renamed_answers(principal))
        self.erased = True
        taken.append(await self._gone(t.request, self.where(t.request, principal=principal)))
        return tuple(taken)

    def _floors_of(self, session_id: str, principal: str) -> Select[Any]:
        mine = self.where(t.floor, session_id=session_id, principal=principal)
        return select(t.floor.c.floor_id).where(mine)

    async def _unlisted(self, session: Session, pages: dict[str, list[str]]) -> int:
        if not pages:
            return 0
        await self.lock_entries(session.project_id)
        return await self.remove_entries(list(pages), [one for ids in pages.values() for one in ids])

    async def _blank_floors(self, session_id: str, mine: Select[Any]) -> dict[str, list[str]]:
        """-> by floor the pages that lost their words"""
        floor = t.floor.c
        written = [func.coalesce(floor[f"{side}origin_id"], floor.floor_id).in_(mine) for side, _ in _SIDES]
        query = select(t.floor).where(self.where(t.floor, session_id=session_id), or_(*written))
        here = {row["floor_id"] for row in await self.all(mine)}
        found: dict[str, list[str]] = {}
        for row in await self.all(query):
            pages = found[row["floor_id"]] = []
            values: dict[str, Any] = {}
            for side, slot in _SIDES:
                if (row[f"{side}origin_id"] or row["floor_id"]) in here and row[f"{side}page_id"]:
                    values |= blank_page(row, side, slot)
                    pages.append(row[f"{side}page_id"])
            if row["floor_id"] in here:
                values["failure_reason"] = "" if row["failure_reason"] == "" else ERASED
            if row["floor_id"] in here or (row["output_origin_id"] in here):
                values |= blank_effects(row)
            where = self.where(t.floor, **{name: row[name] for name in _FLOOR_KEY})
            if values:
                await self._run(update(t.floor).where(where).values(**values))
        return found

    async def _blank_pages(self, session_id: str, mine: Select[Any]) -> int:
        origin = func.coalesce(t.page.c.origin_id, t.page.c.floor_id)
        query = select(t.page).where(self.where(t.page, session_id=session_id), origin.in_(mine))
        found = await self.all(query)
        for row in found:
            where = self.where(t.page, **{name: row[name] for name in _PAGE_KEY})
            values = blank_page(row, "", Slot(row["slot"])) | blank_effects(row)
            await self._run(update(t.page).where(where).values(**values))
        return len(found)

    async def _unnamed(self, session_id: str, principal: str) -> list[Erased]:
        """Their counts are those of whole rows: a floor was counted when it lost its words."""
        mine = self.where(t.floor, session_id=session_id, principal=principal)
        await self._run(update(t.floor).where(mine).values(principal=ERASED_NAME))
        moves = self.where(t.head_move, session_id=session_id, principal=principal)
        versions = self.where(t.config_version, target_id=session_id, principal=principal)
        return [
            await self._changed(t.head_move, moves, principal=ERASED_NAME),
            await self._changed(t.config_version, versions, principal=ERASED_NAME),
        ]

    async def _renamed_answers(self, principal: str) -> Erased:
        """What others were answered of it, such as a membership: a repeat says the same of nobody."""
        quoted, nobody = (f": {json.dumps(name)}" for name in (principal, ERASED_NAME))
        answer = t.request.c.answer
        said = self.where(t.request) & (t.request.c.principal != principal)
        said &= answer.contains(quoted, autoescape=True)
        return await self._changed(t.request, said, answer=func.replace(answer, quoted, nobody))

    async def _live(self, principal: str) -> Erased:
        """Of sessions and of projects: each layer gets a new version, so that nothing that was made of the
        values is shown again."""
        query = select(t.live_value.c.owner_id, t.live_value.c.key)
        owners: dict[str, dict[str, None]] = {}
        for row in await self.all(query.where(self.where(t.live_value, principal=principal))):
            owners.setdefault(row["owner_id"], {})[row["key"]] = None
        for owner_id, keys in sorted(owners.items()):
            await self.write_live(owner_id, keys, ERASED_NAME)
        return Erased("live_value", sum(map(len, owners.values())))

    async def _blank_events(self, principal: str, session: Session | None = None) -> Erased:
        """Those that name the principal, in whatever member."""
        quoted = f": {json.dumps(principal)}"
        said = self.where(t.event) & t.event.c.payload.contains(quoted, autoescape=True)
        if session is not None:
            said &= (t.event.c.project_id == session.project_id) & (
                t.event.c.session_id == session.session_id
            )
        return await self._changed(t.event, said, payload="{}")

    async def _gone(self, table: Any, where: ColumnElement[bool]) -> Erased:
        return Erased(table.name, (await self._run(delete(table).where(where))).rowcount)

    async def _changed(self, table: Any, where: ColumnElement[bool], **values: Any) -> Erased:
        return Erased(table.name, (await self._run(update(table).where(where).values(**values))).rowcount)


def blank_page(row: Any, side: str, slot: Slot) -> dict[str, Any]:
    """A page of one hidden message without a part, that costs what the page did: so no count changes."""
    if row[f"{side}page_id"] is None:
        return {}
    role = _BLANK[slot]
    return {
        f"{side}blob": ERASED_PAGES[role],
        f"{side}facts": rows.pack_facts((MessageFacts(role, True, row[f"{side}tokens"], True),)),
        f"{side}source": ERASED,
    }


def blank_effects(row: Any) -> dict[str, Any]:
    if row["effects"] is None:
        return {}
    facts = json.loads(row["effects_facts"]) | {"source": ERASED}
    return {"effects": without_words(row["effects"]), "effects_facts": json.dumps(facts)}
