"""State along a path, and live values: reading."""

from typing import Any

from sqlalchemy import CTE, FromClause, Select, func, select

from kernel.errors import DataLoss
from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.lookups import looked_up
from kernel.storage.reads import Scoped
from kernel.tree.model import Floor
from kernel.verbs.state_store import LiveLayer, LiveRow, Written

# Five bytes of facts a message: see `rows.py`.
_FACT_BYTES = 5
_WRITTEN = ("floor_id", "output_page_id", "input_page_id", "effects", "effects_digest", "effects_facts")
_MESSAGES = (
    (func.coalesce(func.length(t.floor.c.output_facts), 0) // _FACT_BYTES).label("output_messages"),
    (func.coalesce(func.length(t.floor.c.input_facts), 0) // _FACT_BYTES).label("input_messages"),
)


class StateReads(Scoped):
    async def since_copy(self, floor: Floor) -> tuple[str, list[Written]]:
        last = floor.floor_id if floor.effects else floor.mark.above_id
        if last is None:
            return "", []
        up = self._up(last)
        columns = [up.c.debt, *(t.floor.c[name] for name in _WRITTEN), *_MESSAGES]
        query = self._at(up, t.floor, columns, t.floor.c.floor_id == up.c.floor_id)
        found = await self.all(query.order_by(query.selected_columns.debt))
        if found and found[0]["debt"] == 0:
            where = self.where(t.state_copy, session_id=floor.session_id, floor_id=found[0]["floor_id"])
            text: str | None = await self.value(select(t.state_copy.c.state).where(where))
            if text is None:
                raise DataLoss(
                    "DIGEST_MISMATCH", "A copy of the state is gone: run `stemma verify --repair`."
                )
            return text, [_written(row) for row in found[1:]]
        return "", [_written(row) for row in found]

    def _up(self, last: str) -> CTE:
        """(floor id, debt): from a floor with effects up to the one that keeps a copy, or the first."""
        floor = t.floor
        start = select(
            floor.c.floor_id, floor.c.effects_above_id.label("above_id"), floor.c.state_debt.label("debt")
        ).where(self.where(floor, floor_id=last))
        up = start.cte("up", recursive=True)
        columns = [
            floor.c.floor_id,
            floor.c.effects_above_id.label("above_id"),
            floor.c.state_debt.label("debt"),
        ]
        above = self._at(up, floor, columns, floor.c.floor_id == up.c.above_id, up.c.debt > 0)
        return up.union_all(above)

    def _at(self, outer: FromClause, table: Any, columns: list[Any], *more: Any) -> Select[Any]:
        return looked_up(self._connection.dialect.name, outer, table, columns, self.where(table), *more)

    async def state_copies(self, session_id: str) -> dict[str, str]:
        query = select(t.state_copy).where(self.where(t.state_copy, session_id=session_id))
        return {row["floor_id"]: row["state"] for row in await self.all(query)}

    async def live_layers(self, *owner_ids: str) -> dict[str, LiveLayer]:
        # One statement: a version and its values are of one moment, also in a transaction that writes.
        layer, value = t.live_layer, t.live_value
        same = (value.c.tenant_id == layer.c.tenant_id) & (value.c.owner_id == layer.c.owner_id)
        columns = value.c.key, value.c.value, value.c.version, value.c.principal
        query = select(layer.c.owner_id, layer.c.version.label("layer_version"), *columns)
        query = query.outerjoin_from(layer, value, same).where(
            self.where(layer), layer.c.owner_id.in_(owner_ids)
        )
        found: dict[str, list[LiveRow]] = {owner_id: [] for owner_id in owner_ids}
        numbers: dict[str, int] = {}
        for row in await self.all(query):
            numbers[row["owner_id"]] = row["layer_version"]
            if row["key"] is not None:
                live = LiveRow(row["key"], row["value"], row["version"], row["principal"])
                found[row["owner_id"]].append(live)
        return {
            owner_id: LiveLayer(
                numbers.get(owner_id, 1), tuple(sorted(found[owner_id], key=lambda one: one.key))
            )
            for owner_id in owner_ids
        }

    async def live_size(self, owner_id: str) -> tuple[int, int]:
        value = t.live_value
        length = func.coalesce(func.sum(func.length(value.c.key) + func.length(value.c.value)), 0)
        query = select(func.count().label("count"), length.label("length"))
        row = await self.one(query.where(self.where(value, owner_id=owner_id)))
        return (int(row["count"]), int(row["length"])) if row else (0, 0)


def _written(row: rows.Row) -> Written:
    effects = rows.effects(row)
    assert effects is not None, "the chain of effects holds floors that have some"
    page, count = row["output_page_id"], row["output_messages"]
    if page is None:
        page, count = row["input_page_id"], row["input_messages"]
    return Written(row["floor_id"], f"{page}.{count - 1}" if page and count else "", effects)
