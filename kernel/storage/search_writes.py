"""Writing the index of words. Promises: `kernel.verbs.search_store`."""

from collections.abc import Sequence, Set
from typing import Any

from sqlalchemy import Text, bindparam, delete, func, insert, select
from sqlalchemy.dialects.postgresql import ARRAY

from kernel.storage import tables as t
from kernel.storage.search import FLOOR, PROJECT, SESSION, marked
from kernel.storage.writes import Writes
from kernel.tree.digest import ERASED
from kernel.verbs.search_store import Indexed, IndexEntry


class SearchWrites(Writes):
    async def lock_index(self, project_id: str) -> bool:
        if self._connection.dialect.name == "sqlite":
            return True
        return bool(await self.value(select(func.pg_try_advisory_xact_lock(*self._lock(project_id)))))

    async def insert_entries(self, project_id: str, entries: Sequence[IndexEntry]) -> None:
        wanted = sorted({entry.session_id for entry in entries})
        query = select(t.session.c.session_id).where(self.where(t.session, project_id=project_id))
        alive = {row["session_id"] for row in await self.all(query.where(t.session.c.session_id.in_(wanted)))}
        blank = await self._blank_pages_of({entry.floor_id for entry in entries})
        values = [
            self._values(project_id, entry)
            for entry in entries
            if entry.session_id in alive and entry.page_id not in blank
        ]
        if not values:
            return
        statement = insert(t.search_message)
        if self._connection.dialect.name == "postgresql":
            several = [column for column in t.search_message.c if column.name != "words"]
            words = func.array_to_tsvector(func.string_to_array(_bound("words"), " ", type_=ARRAY(Text)))
            statement = statement.values(
                {**{c.name: _bound(c.name, c.type) for c in several}, "words": words}
            )
        await self._run(statement, values)

    async def _blank_pages_of(self, floor_ids: Set[str]) -> set[str]:
        """Pages of floors whose words were erased since they were read."""
        floor, found = t.floor.c, set()
        for side in ("input", "output"):
            query = select(floor[f"{side}_page_id"].label("page_id")).where(self.where(t.floor))
            query = query.where(floor.floor_id.in_(sorted(floor_ids)), floor[f"{side}_source"] == ERASED)
            found |= {row["page_id"] for row in await self.all(query)}
        return found

    def _values(self, project_id: str, entry: IndexEntry) -> dict[str, Any]:
        marks = marked(PROJECT, project_id), marked(SESSION, entry.session_id)
        words = " ".join((*marks, marked(FLOOR, entry.floor_id), *entry.words))
        return {
            "tenant_id": self._tenant,
            "project_id": project_id,
            "session_id": entry.session_id,
            "floor_id": entry.floor_id,
            "number": entry.key.number,
            "page_id": entry.page_id,
            "message": entry.message,
            "segment": entry.key.place.segment,
            "depth": entry.key.place.depth,
            "position": entry.key.position,
            "words": words,
        }

    async def remove_entries(self, floor_ids: Sequence[str], page_ids: Sequence[str] | None = None) -> int:
        some = self.has(*(marked(FLOOR, floor_id) for floor_id in floor_ids), every=False)
        gone = delete(t.search_message).where(self.where(t.search_message), some)
        if page_ids is not None:
            gone = gone.where(t.search_message.c.page_id.in_(page_ids))
        done = await self._run(gone)
        return int(done.rowcount)

    async def set_indexed(self, project_id: str, indexed: Indexed) -> None:
        values = {
            "position": indexed.position,
            "segment": indexed.place and indexed.place.segment,
            "depth": indexed.place and indexed.place.depth,
        }
        statement = self.upsert(t.search_cursor).values(
            tenant_id=self._tenant, project_id=project_id, **values
        )
        key = ["tenant_id", "project_id"]
        await self._run(statement.on_conflict_do_update(index_elements=key, set_=values))

    async def lock_entries(self, project_id: str) -> None:
        """Waits until nobody indexes the project."""
        if self._connection.dialect.name == "postgresql":
            await self.value(select(func.pg_advisory_xact_lock(*self._lock(project_id))))

    async def erase_entries(self, project_id: str, session_id: str) -> int:
        """Waits until nobody indexes the project; -> how many entries of the session there were."""
        await self.lock_entries(project_id)
        where = self.where(t.search_message, session_id=session_id)
        done = await self._run(delete(t.search_message).where(where, self.has(marked(SESSION, session_id))))
        return int(done.rowcount)

    def _lock(self, project_id: str) -> tuple[Any, Any]:
        """Two numbers: one that says what for, and one of the project. If two projects have the same,
        one waits for the other."""
        return func.hashtext("search_message"), func.hashtext(f"{self._tenant}/{project_id}")


def _bound(name: str, kind: Any = None) -> Any:
    return bindparam(name, type_=kind or Text())
