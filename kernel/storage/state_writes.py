"""State along a path, and live values: writing."""

from collections.abc import Mapping

from sqlalchemy import delete, insert, select, update

from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.project_writes import ProjectWrites
from kernel.tree.model import Floor
from kernel.verbs.state_store import LiveLayer


class StateWrites(ProjectWrites):
    async def insert_state_copies(self, session_id: str, copies: Mapping[str, str]) -> None:
        key = {"tenant_id": self._tenant, "session_id": session_id}
        values = [{**key, "floor_id": floor_id, "state": text} for floor_id, text in copies.items()]
        if values:
            await self._run(insert(t.state_copy), values)

    async def delete_state_copies(self, session_id: str) -> None:
        await self._run(delete(t.state_copy).where(self.where(t.state_copy, session_id=session_id)))

    async def lock_live(self, owner_id: str) -> int:
        layer = t.live_layer
        new = self.upsert(layer).values(tenant_id=self._tenant, owner_id=owner_id, version=1)
        await self._run(new.on_conflict_do_nothing())
        query = select(layer.c.version).where(self.where(layer, owner_id=owner_id)).with_for_update()
        return int(await self.value(query))

    async def write_live(self, owner_id: str, values: Mapping[str, str | None], principal: str) -> int:
        version = await self.lock_live(owner_id) + 1
        layer, value = t.live_layer, t.live_value
        await self._run(update(layer).where(self.where(layer, owner_id=owner_id)).values(version=version))
        gone = [key for key, text in values.items() if text is None]
        if gone:
            await self._run(delete(value).where(self.where(value, owner_id=owner_id), value.c.key.in_(gone)))
        said = {"version": version, "principal": principal, "update_time": self._clock()}
        key = {"tenant_id": self._tenant, "owner_id": owner_id}
        new = [
            {**key, "key": name, "value": text, **said} for name, text in values.items() if text is not None
        ]
        if new:
            statement = self.upsert(value)
            statement = statement.on_conflict_do_update(
                index_elements=[*key, "key"],
                set_={name: statement.excluded[name] for name in ("value", *said)},
            )
            await self._run(statement, new)
        return version

    async def copy_live(self, owner_id: str, layer: LiveLayer) -> None:
        key = {"tenant_id": self._tenant, "owner_id": owner_id}
        await self._run(insert(t.live_layer).values(**key, version=layer.version))
        now = self._clock()
        values = [
            {
                **key,
                "key": row.key,
                "value": row.value_json,
                "version": row.version,
                "principal": row.principal,
                "update_time": now,
            }
            for row in layer.values
        ]
        if values:
            await self._run(insert(t.live_value), values)

    async def update_derived(self, floor: Floor) -> None:
        place = {"segment": floor.place.segment, "depth": floor.place.depth}
        where = self.where(t.floor, session_id=floor.session_id, **place)
        await self._run(
            update(t.floor).where(where).values(path_tokens=floor.path_tokens, **rows.mark_values(floor.mark))
        )

    async def update_stored_tokens(self, session_id: str, tokens: int) -> None:
        where = self.where(t.session, session_id=session_id)
        await self._run(update(t.session).where(where).values(stored_tokens=tokens))
