"""Paths as they are shown, in fixed statements: the same text for the driver and inside a transaction.

Here columns cost more than rows, even those that are NULL: so what few floors have comes in one (`more`).
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from operator import attrgetter, itemgetter
from struct import Struct
from typing import Any

from kernel.storage import rows, tips
from kernel.storage.types import id_text, id_value
from kernel.tree.model import Floor, FloorState, Place, Usage
from kernel.tree.places import Chain, Link
from kernel.tree.positions import Sibling
from kernel.verbs.path_store import Few, PathRow, PathRows
from kernel.verbs.records import Tip

_COMMITTED = FloorState.COMMITTED.value
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Seconds from 1970 to 2000, when PostgreSQL's time begins, and its four times of a floor as it sends them.
_2000, _SENT = 946_684_800, Struct(">4q")

_SIDE = ("page_id", "facts", "blob", "digest", "tokens", "source")
# The order of a row, as `kernel.verbs.path_store` has it.
_NAMES = (
    *("segment", "depth", "floor_id", "ordinal", "digest", "path_tokens", "principal"),
    *(f"{side}_{name}" for side in ("input", "output") for name in _SIDE),
)
_TIMES = ("create_time", "input_time", "output_time", "commit_time")
# What a plain floor has nothing special in. As JSON, in which ids and bytes are hexadecimal.
_MORE_IDS = ("parent_floor_id", "input_origin_id", "output_origin_id", "run_id")
_MORE_BYTES = ("effects", "effects_digest")
_MORE = (
    *_MORE_IDS,
    *_MORE_BYTES,
    *("state", "parent_segment", "input_partial", "output_partial", "usage_in", "usage_out"),
    *("usage_estimated", "failure_reason", "branch", "effects_facts", "has_ended"),
)
# Of these one that is plain has none; one that has nothing else special comes with them alone.
_FEW = ("input_origin_id", "output_origin_id", "run_id", "usage_in", "usage_out", "usage_estimated")
_COMMON = " AND ".join(
    [
        f"f.state = '{_COMMITTED}' AND f.failure_reason = '' AND f.commit_time IS NOT NULL",
        "f.effects_digest IS NULL AND f.parent_floor_id IS NOT NULL AND f.digest IS NOT NULL",
        "f.input_partial IS NOT TRUE AND f.output_partial IS NOT TRUE",
    ]
)
_PLAIN = " AND ".join(f"f.{name} IS NULL" for name in _FEW)
_NO_MARK = {"effects_above_id": None, "state_debt": 0, "state_size": 0}
_HERE = "{0}.tenant_id = $1 AND {0}.session_id = $2"
_RANGE = f"{_HERE.format('f')} AND f.segment = c.segment AND f.depth BETWEEN c.low AND c.high"
_HANGS = f"{_HERE.format('s')} AND s.parent_segment = c.segment AND s.parent_depth BETWEEN c.low AND c.high"
_CHILD = f"{_HERE.format('f')} AND f.parent_segment = c.segment AND f.parent_depth = c.depth"
_CHILD += f" AND f.state = '{_COMMITTED}'"
_CHILD_COLUMNS = "f.parent_floor_id, f.floor_id, f.ordinal, f.input_page_id, f.output_page_id IS NOT NULL"
# After the tenant and the session: three arrays on PostgreSQL, JSON text on SQLite, whose paths into it
# begin with a dollar sign.
_POSTGRES_LINKS = "unnest($3::int[], $4::int[], $5::int[]) AS c(segment, low, high)"
_SQLITE_LINKS = """(SELECT json_extract(value, '#[0]') AS segment, json_extract(value, '#[1]') AS low,
    json_extract(value, '#[2]') AS high FROM json_each($3)) c"""


@lru_cache
def _floors_text(dialect: str, columns: str) -> str:
    """`columns` of the floors `f` at some links; `MOST` in them is how many bytes a body may have."""
    columns = columns.replace("MOST", "$6" if dialect == "postgresql" else "$4")
    return _numbered(dialect, _looked_up(dialect, _links_of(dialect), columns, "floor f", _RANGE))


@lru_cache
def _chain_text(dialect: str) -> str:
    up = "s.segment, s.parent_depth + 1 AS low, c.low - 1 AS high, s.parent_segment"
    above = f"{_HERE.format('s')} AND s.segment = c.parent_segment"
    return _numbered(
        dialect,
        f"""WITH RECURSIVE chain(segment, low, high, parent_segment) AS (
            SELECT s.segment, s.parent_depth + 1, CAST($4 AS integer), s.parent_segment
            FROM segment s WHERE {_HERE.format("s")} AND s.segment = $3
            UNION ALL
            {_looked_up(dialect, "chain c", up, "segment s", above)}
        )
        SELECT segment, low, high FROM chain""",
    )


@lru_cache
def _siblings_text(dialect: str) -> str:
    places = "s.parent_segment AS segment, s.parent_depth AS depth"
    hanging = _looked_up(dialect, _links_of(dialect), places, "segment s", _HANGS)
    forks = f"(SELECT DISTINCT segment, depth FROM ({hanging}) h) c"
    return _numbered(dialect, _looked_up(dialect, forks, _CHILD_COLUMNS, "floor f", _CHILD))


def _links_of(dialect: str) -> str:
    return _POSTGRES_LINKS if dialect == "postgresql" else _SQLITE_LINKS


def _looked_up(dialect: str, outer: str, columns: str, table: str, where: str) -> str:
    """As `lookups.looked_up`, for each row of `outer`, which calls itself `c`."""
    if dialect == "postgresql":
        select = f"SELECT {columns} FROM {table} WHERE {where} OFFSET 0"
        return f"SELECT t.* FROM {outer} CROSS JOIN LATERAL ({select}) t"
    return f"SELECT {columns} FROM {outer} CROSS JOIN {table} WHERE {where}"


def _numbered(dialect: str, text: str) -> str:
    """SQLite numbers its parameters with a question mark."""
    return text if dialect == "postgresql" else text.replace("$", "?").replace("#", "$")


@lru_cache
def _columns(dialect: str) -> str:
    postgres = dialect == "postgresql"
    columns = [body(name) if name.endswith("_blob") else f"f.{name}" for name in _NAMES]
    few, more = (
        _json(postgres, ", ".join(_as_json(postgres, name) for name in names)) for names in (_FEW, _MORE)
    )
    more = f"CASE WHEN {_COMMON} THEN CASE WHEN {_PLAIN} THEN NULL ELSE {few} END ELSE {more} END"
    times = [f"coalesce(f.{name}, f.create_time)" for name in _TIMES]
    joined = " || ".join(f"timestamptz_send({time})" for time in times) if postgres else ", ".join(times)
    return f"{', '.join(columns)}, {more}, {joined}"


def _json(postgres: bool, values: str) -> str:
    """An array, as text."""
    return f"CAST(json_build_array({values}) AS text)" if postgres else f"json_array({values})"


def body(name: str) -> str:
    """A body that is not too large."""
    return f"CASE WHEN length(f.{name}) <= MOST THEN f.{name} END"


def _as_json(postgres: bool, name: str) -> str:
    column = "f.commit_time IS NOT NULL" if name == "has_ended" else f"f.{name}"
    if postgres and name in _MORE_BYTES:
        return f"encode({column}, 'hex')"
    if not postgres and name in _MORE_BYTES + _MORE_IDS:
        # Of NULL, SQLite's hex is empty.
        return f"CASE WHEN {column} IS NOT NULL THEN lower(hex({column})) END"
    return column


class PathRowReads(ABC):
    """The reads, for whoever can run a statement."""

    _dialect: str
    _tenant: str

    @abstractmethod
    async def _fetch(self, text: str, arguments: tuple[Any, ...]) -> Sequence[PathRow]:
        """The rows of a statement in the driver's own words."""

    async def tip(self, session_id: str, branch: str, floor_id: str) -> Tip | None:
        text, arguments = tips.statement(self._dialect, self._tenant, session_id, branch, floor_id)
        for row in await self._fetch(text, arguments):
            return tips.tip(row)
        return None

    async def chain(self, session_id: str, place: Place) -> list[Link]:
        text = _chain_text(self._dialect)
        found = await self._fetch(text, (*self._session(session_id), place.segment, place.depth))
        return sorted((Link(segment, low or 0, high) for segment, low, high in found), key=attrgetter("last"))

    async def path_rows(self, session_id: str, links: Chain, most: int) -> PathRows:
        found = await self._path_floors(_columns(self._dialect), session_id, links, most)
        found.sort(key=itemgetter(1))
        if self._dialect == "postgresql":
            return PathRows(found, str, _sent, _2000, _few, partial(_floor, session_id, _sent, _2000))
        return PathRows(found, id_text, tuple, 0, _few, partial(_floor, session_id, tuple, 0))

    async def siblings_at_forks(self, session_id: str, links: Chain) -> list[tuple[str, Sibling]]:
        if not links:
            return []
        arguments = (*self._session(session_id), *_links(self._dialect, links))
        found = await self._fetch(_siblings_text(self._dialect), arguments)
        return [
            (id_text(parent), Sibling(id_text(floor), ordinal, page and id_text(page), bool(output)))
            for parent, floor, ordinal, page, output in found
        ]

    async def _path_floors(self, columns: str, session_id: str, links: Chain, most: int) -> list[PathRow]:
        """`columns`, of floors `f`; for `body`, `most` is what a body may have."""
        if not links:
            return []
        arguments = (*self._session(session_id), *_links(self._dialect, links), most)
        return list(await self._fetch(_floors_text(self._dialect, columns), arguments))

    def _session(self, session_id: str) -> tuple[Any, ...]:
        return self._tenant, id_value(session_id, self._dialect)


def _links(dialect: str, links: Chain) -> tuple[Any, ...]:
    if dialect == "postgresql":
        return tuple(map(list, zip(*((one.segment, one.first, one.last) for one in links), strict=True)))
    return (json.dumps([[link.segment, link.first, link.last] for link in links]),)


def _sent(times: Sequence[bytes]) -> tuple[int, ...]:
    return _SENT.unpack(times[0])


def _few(text: str) -> Few | None:
    values = json.loads(text)
    if len(values) != len(_FEW):
        return None
    asked, said, run, tokens_in, tokens_out, estimated = values
    usage = None if tokens_in is None else Usage(tokens_in, tokens_out, bool(estimated))
    return Few(_dashed(asked), _dashed(said), _dashed(run), usage)


def _dashed(digits: str | None) -> str | None:
    return digits and id_text(bytes.fromhex(digits.replace("-", "")))


def _floor(session_id: str, times: Callable[[Any], tuple[int, ...]], epoch: int, row: PathRow) -> Floor:
    """The value of a row that is neither plain nor `_few`; its mark is not read."""
    *values, text = row[: len(_NAMES) + 1]
    found = dict(zip(_NAMES, values, strict=True))
    more = dict(zip(_MORE, json.loads(text), strict=True))
    for name in ("floor_id", "input_page_id", "output_page_id"):
        found[name] = found[name] and id_text(found[name])
    for name in _MORE_IDS:
        more[name] = _dashed(more[name])
    for name in _MORE_BYTES:
        more[name] = None if more[name] is None else bytes.fromhex(more[name])
    for name, time in zip(_TIMES, times(row[len(_NAMES) + 1 :]), strict=True):
        found[name] = _EPOCH + timedelta(seconds=epoch, microseconds=time)
    if not more["has_ended"]:
        found["commit_time"] = None
    return rows.floor(found | more | _NO_MARK | {"session_id": session_id})
