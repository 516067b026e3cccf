"""What contexts are made of, in two fixed statements; see `path_rows.py`."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Boolean, Column

from kernel.storage import rows, tips
from kernel.storage import tables as t
from kernel.storage.path_rows import PathRowReads, body
from kernel.storage.projects import project
from kernel.storage.types import Id, Time, id_text, time_of
from kernel.tree.model import Place
from kernel.tree.places import Chain, clipped
from kernel.verbs.path_store import MAX_BODY, Basis, ContextRows, bodies

_SIDES = ", ".join(
    f"f.{side}_page_id, f.{side}_facts, length(f.{side}_blob), {body(f'{side}_blob')}, f.{side}_digest,"
    f" f.{side}_partial"
    for side in ("input", "output")
)
_COLUMNS = f"f.depth, f.floor_id, {_SIDES}"
# Behind the columns of the tip: of the session, the project, and the floor without its bodies.
_TABLES: tuple[tuple[str, Sequence[Column[Any]]], ...] = (
    ("s", tuple(t.session.c)),
    ("p", tuple(t.project.c)),
    ("f", rows.FLOOR_COLUMNS_WITHOUT_BODIES),
)


class ContextRowReads(PathRowReads):
    async def context_rows(self, session_id: str, links: Chain, most: int) -> ContextRows:
        found = await self._path_floors(_COLUMNS, session_id, links, most)
        found.sort(key=itemgetter(0))
        text = str if self._dialect == "postgresql" else id_text
        return ContextRows(found, text, rows.unpack_facts)

    async def path_bodies(self, session_id: str, place: Place, first: int, last: int) -> dict[str, bytes]:
        links = clipped(await self.chain(session_id, place), first, last)
        return bodies(await self.context_rows(session_id, links, MAX_BODY))

    async def basis(self, session_id: str, branch: str, floor_id: str) -> Basis | None:
        statement = tips.statement(
            self._dialect, self._tenant, session_id, branch, floor_id, _basis_columns()
        )
        for row in await self._fetch(*statement):
            at, values = tips.WIDTH, []
            for _, columns in _TABLES:
                values.append(_values(columns, row[at : at + len(columns)]))
                at += len(columns)
            of_session, of_project, of_floor = values
            tip = tips.tip(row[: tips.WIDTH])
            return Basis(tip, rows.session(of_session), project(of_project), rows.floor(of_floor))
        return None


@lru_cache
def _basis_columns() -> str:
    return "".join(f", {table}.{column.name}" for table, columns in _TABLES for column in columns)


def _values(columns: Sequence[Column[Any]], row: Sequence[Any]) -> Mapping[str, Any]:
    """A driver's values as Python's, by name."""
    return {column.name: _value(column, value) for column, value in zip(columns, row, strict=True)}


def _value(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, Id):
        return id_text(value)
    if isinstance(column.type, Time):
        return time_of(value)
    return bool(value) if isinstance(column.type, Boolean) else value
