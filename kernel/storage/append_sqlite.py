"""`Store.append` on SQLite: a batch in one go on the writer's thread, checks first.

SQLite has no writable CTE, so these are the fixed statements of one record, run for each inside one
BEGIN IMMEDIATE. An item that may not be written writes nothing.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy.dialects.sqlite import aiosqlite

from kernel.storage import answer_rows, hot, rows
from kernel.storage import tables as t
from kernel.tree.model import Branch
from kernel.verbs.answers import answer_of
from kernel.verbs.moves import advanced_to
from kernel.verbs.records import (
    Absent,
    AppendRecord,
    Blocked,
    Committed,
    Outcome,
    PlaceTaken,
    Replayed,
    Reused,
    SessionState,
    Stale,
)

_DIALECT = aiosqlite.dialect()
_BINDS = {name: kind.bind_processor(_DIALECT) for name, kind in hot.TYPES.items()}

_SESSION = "tenant_id = :tenant_id AND session_id = :session_id"
_BRANCH = f"{_SESSION} AND name = :branch"
_PROJECT = f"SELECT project_id, state, project_archived FROM session WHERE {_SESSION}"
_REQUEST = """
SELECT fingerprint, answer FROM request WHERE tenant_id = :tenant_id
AND principal = :request_principal AND method = :method AND request_id = :request_id"""
_READ_BRANCH = f"SELECT * FROM branch WHERE {_BRANCH}"
_PLACE = f"SELECT 1 FROM floor WHERE {_SESSION} AND segment = :segment AND depth = :depth"
_SEGMENT = f"SELECT 1 FROM segment WHERE {_SESSION} AND segment = :segment"
_WRITES = [
    f"INSERT INTO floor (tenant_id, {', '.join(hot.FLOOR_NAMES)})"
    f" VALUES (:tenant_id, {', '.join(':' + name for name in hot.FLOOR_NAMES)})",
    f"UPDATE session SET last_activity_time = :commit_time, stored_tokens = stored_tokens + :new_tokens,"
    f" forks = forks + :opens_segment"
    f" WHERE {_SESSION}",
    f"UPDATE branch SET head_floor_id = :floor_id, failed_floor_id = NULL, depth = :depth,"
    f" version = version + 1, update_time = :commit_time"
    f" WHERE {_BRANCH} AND head_floor_id = :expected_head AND pending_floor_id IS NULL",
    f"INSERT INTO head_move (tenant_id, session_id, branch, number, from_floor_id, to_floor_id, kind,"
    f" principal, move_time) SELECT :tenant_id, :session_id, :branch, coalesce(max(number), 0) + 1,"
    f" :expected_head, :floor_id, 'commit', :principal, :commit_time"
    f" FROM head_move WHERE {_SESSION} AND branch = :branch",
    "INSERT INTO request (tenant_id, principal, method, request_id, fingerprint, answer, create_time,"
    " words_of) VALUES (:tenant_id, :request_principal, :method, :request_id, :fingerprint, :answer,"
    " :commit_time, CASE WHEN :branch <> 'main' THEN :session_id END)",
]
_OPEN_SEGMENT = """
INSERT INTO segment (tenant_id, session_id, segment, parent_segment, parent_depth)
VALUES (:tenant_id, :session_id, :segment, :parent_segment, :parent_depth)"""
_FEED = """
INSERT INTO feed (tenant_id, project_id, last) VALUES (?, ?, ?)
ON CONFLICT (tenant_id, project_id) DO UPDATE SET last = feed.last + excluded.last RETURNING last"""
_EVENT = """
INSERT INTO event (tenant_id, project_id, position, event_id, type, session_id, floor_id, payload,
commit_time) VALUES (:tenant_id, :project_id, :position, :event_id, 'floor.committed', :session_id,
:floor_id, :payload, :commit_time)"""

Params = dict[str, Any]


def append_batch(connection: sqlite3.Connection, records: Sequence[AppendRecord]) -> list[Outcome]:
    """Runs on the connection's own thread. Raises what the driver raises, with nothing written."""
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    cursor.execute("BEGIN IMMEDIATE")
    try:
        events: dict[tuple[str, bytes], list[Params]] = defaultdict(list)
        outcomes = [_one(cursor, record, events) for record in records]
        _place_events(cursor, events)
        cursor.execute("COMMIT")
    except BaseException:
        cursor.execute("ROLLBACK")
        raise
    finally:
        cursor.close()
    return outcomes


def _one(
    cursor: sqlite3.Cursor, record: AppendRecord, events: dict[tuple[str, bytes], list[Params]]
) -> Outcome:
    params = _bound(hot.values(record))
    request = cursor.execute(_REQUEST, params).fetchone()
    if request is not None:
        same = request["fingerprint"] == record.request.fingerprint
        return Replayed(answer_rows.answer(request["answer"])) if same else Reused()
    session = cursor.execute(_PROJECT, params).fetchone()
    branch = _branch(cursor.execute(_READ_BRANCH, params).fetchone())
    if session is None or branch is None or session["project_archived"]:
        return Absent()
    if session["state"] != SessionState.ACTIVE.value:
        return Absent()
    if branch.pending_floor_id is not None:
        return Blocked(branch.pending_floor_id)
    if branch.head_floor_id != record.expected_head:
        return Stale(branch.head_floor_id)
    if cursor.execute(_SEGMENT if record.opens_segment else _PLACE, params).fetchone() is not None:
        return PlaceTaken()
    moved = advanced_to(branch, record.floor)
    params["answer"] = answer_rows.answer_text(answer_of(record.floor, moved))
    if record.opens_segment:
        cursor.execute(_OPEN_SEGMENT, params)
    for statement in _WRITES:
        if cursor.execute(statement, params).rowcount != 1:
            raise AssertionError("the writer's transaction keeps the branch still")
    events[record.tenant_id, session["project_id"]].append(params)
    return Committed(moved)


def _place_events(cursor: sqlite3.Cursor, events: dict[tuple[str, bytes], list[Params]]) -> None:
    for (tenant_id, project_id), items in sorted(events.items()):
        (last,) = cursor.execute(_FEED, (tenant_id, project_id, len(items))).fetchone()
        cursor.executemany(
            _EVENT,
            [
                {**params, "project_id": project_id, "position": position}
                for position, params in enumerate(items, last - len(items) + 1)
            ],
        )


def _bound(values: Params) -> Params:
    return {
        name: value if (bind := _BINDS[name]) is None or value is None else bind(value)
        for name, value in values.items()
    }


def _results() -> dict[str, Callable[[Any], Any] | None]:
    return {c.name: c.type.result_processor(_DIALECT, None) for c in t.branch.c}


_RESULTS = _results()


def _branch(row: sqlite3.Row | None) -> Branch | None:
    if row is None:
        return None
    return rows.branch(
        {
            name: value if (read := _RESULTS[name]) is None else read(value)
            for name, value in zip(row.keys(), row, strict=True)
        }
    )
