"""`Store.append` on SQLite: a batch in one go on the writer's thread, checks first.

SQLite has no writable CTE. So each record of a batch is judged by one statement, and what may be written is:
each table's rows of the whole batch by another, inside one BEGIN IMMEDIATE. A batch has at most one record of
a session, and of a request: so no judgement depends on what the batch itself writes.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from sqlalchemy.dialects.sqlite import aiosqlite

from kernel.storage import answer_rows, hot
from kernel.storage.types import Id, Time
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
_BINDS = [hot.TYPES[name].bind_processor(_DIALECT) for name in hot.NAMES]
_ID, _TIME = Id(), Time()

Row = tuple[Any, ...]


def _columns(*names: str) -> "itemgetter[Any]":
    """The values of these names, in this order, of a record's row."""
    return itemgetter(*map(hot.NAMES.index, names))


_KEYS = ("tenant_id", "session_id")
_JUDGE = """
SELECT s.project_id, s.state, s.project_archived, b.head_floor_id, b.pending_floor_id, b.version,
    b.create_time, q.fingerprint, q.answer,
    CASE WHEN ?4 THEN EXISTS (SELECT 1 FROM segment x
        WHERE x.tenant_id = ?1 AND x.session_id = ?2 AND x.segment = ?5)
    ELSE EXISTS (SELECT 1 FROM floor x
        WHERE x.tenant_id = ?1 AND x.session_id = ?2 AND x.segment = ?5 AND x.depth = ?6) END,
    EXISTS (SELECT 1 FROM grave g WHERE g.tenant_id = ?1 AND g.digest = ?10)
FROM session s
JOIN branch b ON b.tenant_id = s.tenant_id AND b.session_id = s.session_id AND b.name = ?3
LEFT JOIN request q ON q.tenant_id = s.tenant_id AND q.principal = ?7 AND q.method = ?8 AND q.request_id = ?9
WHERE s.tenant_id = ?1 AND s.session_id = ?2"""
_judged = _columns(
    *_KEYS,
    "branch",
    "opens_segment",
    "segment",
    "depth",
    "request_principal",
    "method",
    "request_id",
    "grave",
)
_OPEN_SEGMENT = """
INSERT INTO segment (tenant_id, session_id, segment, parent_segment, parent_depth) VALUES (?, ?, ?, ?, ?)"""
_opened = _columns(*_KEYS, "segment", "parent_segment", "parent_depth")
_opens_segment = _columns("opens_segment")

_FLOOR_NAMES = ("tenant_id", *hot.FLOOR_NAMES)
# In this order; every one writes a row for each record.
_WRITES = [
    (
        f"INSERT INTO floor ({', '.join(_FLOOR_NAMES)}) VALUES ({', '.join('?' * len(_FLOOR_NAMES))})",
        _columns(*_FLOOR_NAMES),
    ),
    (
        "UPDATE session SET last_activity_time = ?, stored_tokens = stored_tokens + ?, forks = forks + ?"
        " WHERE tenant_id = ? AND session_id = ?",
        _columns("commit_time", "new_tokens", "opens_segment", *_KEYS),
    ),
    (
        "UPDATE branch SET head_floor_id = ?, failed_floor_id = NULL, depth = ?, version = version + 1,"
        " update_time = ? WHERE tenant_id = ? AND session_id = ? AND name = ? AND head_floor_id = ?"
        " AND pending_floor_id IS NULL",
        _columns("floor_id", "depth", "commit_time", *_KEYS, "branch", "expected_head"),
    ),
    (
        "INSERT INTO head_move (tenant_id, session_id, branch, number, from_floor_id, to_floor_id, kind,"
        " principal, move_time) SELECT ?1, ?2, ?3, coalesce(max(number), 0) + 1, ?4, ?5, 'commit', ?6, ?7"
        " FROM head_move WHERE tenant_id = ?1 AND session_id = ?2 AND branch = ?3",
        _columns(*_KEYS, "branch", "expected_head", "floor_id", "principal", "commit_time"),
    ),
]
_REQUEST = """
INSERT INTO request (tenant_id, principal, method, request_id, fingerprint, create_time, words_of, answer)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN ?8 <> 'main' THEN ?7 END, ?9)"""
_requested = _columns(
    "tenant_id",
    "request_principal",
    "method",
    "request_id",
    "fingerprint",
    "commit_time",
    "session_id",
    "branch",
)
_FEED = """
INSERT INTO feed (tenant_id, project_id, last) VALUES (?, ?, ?)
ON CONFLICT (tenant_id, project_id) DO UPDATE SET last = feed.last + excluded.last RETURNING last"""
_EVENT = """
INSERT INTO event (tenant_id, event_id, type, session_id, floor_id, payload, commit_time, project_id,
position) VALUES (?, ?, 'floor.committed', ?, ?, ?, ?, ?, ?)"""
_emitted = _columns("tenant_id", "event_id", "session_id", "floor_id", "payload", "commit_time")


def append_batch(connection: sqlite3.Connection, records: Sequence[AppendRecord]) -> list[Outcome]:
    """Runs on the connection's own thread. Raises what the driver raises, with nothing written."""
    cursor = connection.cursor()
    # Before the transaction begins: nobody need wait for this.
    made = [_bound(record) for record in records]
    cursor.execute("BEGIN IMMEDIATE")
    try:
        taken: list[Row] = []
        requests: list[Row] = []
        feeds: dict[tuple[str, bytes], list[Row]] = defaultdict(list)
        outcomes: list[Outcome] = []
        for record, row in zip(records, made, strict=True):
            found = cursor.execute(_JUDGE, _judged(row)).fetchone()
            outcome = _outcome(record, found)
            outcomes.append(outcome)
            if isinstance(outcome, Committed):
                taken.append(row)
                requests.append((*_requested(row), hot.answer(record, outcome.branch)))
                feeds[record.tenant_id, found[0]].append(row)
        _write(cursor, taken, requests, feeds)
        cursor.execute("COMMIT")
    except BaseException:
        cursor.execute("ROLLBACK")
        raise
    finally:
        cursor.close()
    return outcomes


def _outcome(record: AppendRecord, found: Row | None) -> Outcome:
    """`found` is None where there is no such session or branch."""
    if found is None:
        return Absent()
    _, state, archived, head, pending, version, create_time, fingerprint, answer, is_taken, is_buried = found
    if is_buried:
        # Told under the lock, and why.
        return Absent()
    if fingerprint is not None:
        same = fingerprint == record.request.fingerprint
        return Replayed(answer_rows.answer(answer)) if same else Reused()
    if archived or state != SessionState.ACTIVE.value:
        return Absent()
    if pending is not None:
        return Blocked(_id(pending))
    if (now_there := _id(head)) != record.expected_head:
        return Stale(now_there)
    if is_taken:
        return PlaceTaken()
    return Committed(hot.moved(record, version, _time(create_time)))


def _write(
    cursor: sqlite3.Cursor,
    taken: list[Row],
    requests: list[Row],
    feeds: dict[tuple[str, bytes], list[Row]],
) -> None:
    if not taken:
        return
    if opening := [_opened(row) for row in taken if _opens_segment(row)]:
        cursor.executemany(_OPEN_SEGMENT, opening)
    for statement, columns in _WRITES:
        cursor.executemany(statement, map(columns, taken))
        if cursor.rowcount != len(taken):
            raise AssertionError("the writer's transaction keeps the branches still")
    cursor.executemany(_REQUEST, requests)
    for (tenant_id, project_id), items in sorted(feeds.items()):
        (last,) = cursor.execute(_FEED, (tenant_id, project_id, len(items))).fetchone()
        first = last - len(items) + 1
        placed = [(*_emitted(row), project_id, position) for position, row in enumerate(items, first)]
        cursor.executemany(_EVENT, placed)


def _bound(record: AppendRecord) -> Row:
    return tuple(
        value if bind is None or value is None else bind(value)
        for bind, value in zip(_BINDS, hot.values(record), strict=True)
    )


def _id(value: bytes) -> str:
    return _ID.process_result_value(value, _DIALECT) or ""


def _time(value: int) -> datetime:
    time = _TIME.process_result_value(value, _DIALECT)
    assert time is not None
    return time
