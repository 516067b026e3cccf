"""`Store.append` on PostgreSQL: a whole batch in one statement over arrays.

The rows that decide are locked first, in key order; what is judged after that is current, except for
requests, which are seen as of the statement's start: a twin that has just won shows as stale, and the
caller looks its request up again. Everything that is written hangs on the outcome `committed`.

Segments are numbered, and filled, without gaps, so a place is taken when it is not beyond the last. Asked
for the last, PostgreSQL takes the one index that has it at its end; asked whether the place exists, it may,
before its first ANALYZE, take another one and read the session's every floor.
"""

from collections.abc import Sequence
from typing import Any

import asyncpg
from sqlalchemy.dialects import postgresql

from kernel.storage import answer_rows, hot
from kernel.storage.pg_arrays import encoder
from kernel.verbs.records import (
    Absent,
    AppendRecord,
    Blocked,
    Committed,
    Outcome,
    PlaceTaken,
    Replayed,
    Reused,
    Stale,
)

_DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]
# A page or effects may have some MiB.
_LARGE = {"input_blob", "output_blob", "effects"}
_ENCODERS = [encoder(hot.TYPES[name], large=name in _LARGE) for name in hot.NAMES]


def _array(number: int, name: str) -> str:
    as_text = "" if name in _LARGE else "::text"
    return f"${number}{as_text}::{hot.TYPES[name].compile(dialect=_DIALECT)}[]"


_ARRAYS = ", ".join(_array(number, name) for number, name in enumerate(hot.NAMES, 1))
_FLOOR = ", ".join(hot.FLOOR_NAMES)
_UTC = 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'


def _iso(column: str) -> str:
    return f"to_char({column} AT TIME ZONE 'UTC', '{_UTC}')"


# What `answer_rows.answer` reads; the branch as it is after the commit.
_ANSWER = f"""json_build_object(
    'session_id', w.session_id, 'floor_id', w.floor_id, 'floor_state', w.state,
    'input_page_id', coalesce(w.input_page_id::text, ''),
    'output_page_id', coalesce(w.output_page_id::text, ''),
    'branch', json_build_object(
        'name', w.branch, 'head_floor_id', w.floor_id, 'pending_floor_id', NULL, 'failed_floor_id', NULL,
        'depth', w.depth, 'version', w.version + 1,
        'create_time', {_iso("w.branch_time")}, 'update_time', {_iso("w.commit_time")}))::text"""

APPEND = f"""
WITH item AS MATERIALIZED (
    SELECT * FROM unnest({_ARRAYS}) WITH ORDINALITY AS i({", ".join(hot.NAMES)}, n)
), held AS MATERIALIZED (
    SELECT i.*, s.project_id, CASE WHEN NOT s.project_archived THEN s.state END AS session_state,
        b.head_floor_id, b.pending_floor_id, b.version, b.create_time AS branch_time
    FROM item i
    JOIN session s ON s.tenant_id = i.tenant_id AND s.session_id = i.session_id
    JOIN branch b ON b.tenant_id = i.tenant_id AND b.session_id = i.session_id AND b.name = i.branch
    ORDER BY s.tenant_id, s.session_id
    FOR UPDATE OF s, b
), judged AS MATERIALIZED (
    SELECT h.*, q.answer,
        CASE
            -- Told under the lock, and why.
            WHEN EXISTS (SELECT 1 FROM grave g WHERE g.tenant_id = h.tenant_id AND g.digest = h.grave)
                THEN 'absent'
            WHEN q.fingerprint = h.fingerprint THEN 'replayed'
            WHEN q.fingerprint IS NOT NULL THEN 'reused'
            WHEN h.session_state IS DISTINCT FROM 'active' THEN 'absent'
            WHEN h.pending_floor_id IS NOT NULL THEN 'blocked'
            WHEN h.head_floor_id <> h.expected_head THEN 'stale'
            WHEN h.opens_segment AND h.segment <= (
                SELECT max(x.segment) FROM segment x WHERE x.tenant_id = h.tenant_id
                AND x.session_id = h.session_id) THEN 'taken'
            WHEN h.depth <= (
                SELECT max(x.depth) FROM floor x WHERE x.tenant_id = h.tenant_id
                AND x.session_id = h.session_id AND x.segment = h.segment) THEN 'taken'
            ELSE 'committed'
        END AS outcome
    FROM held h
    LEFT JOIN request q ON q.tenant_id = h.tenant_id AND q.principal = h.request_principal
        AND q.method = h.method AND q.request_id = h.request_id
), w AS NOT MATERIALIZED (
    SELECT * FROM judged WHERE outcome = 'committed'
), new_segment AS (
    INSERT INTO segment (tenant_id, session_id, segment, parent_segment, parent_depth)
    SELECT tenant_id, session_id, segment, parent_segment, parent_depth FROM w WHERE opens_segment
), new_floor AS (
    INSERT INTO floor (tenant_id, {_FLOOR}) SELECT tenant_id, {_FLOOR} FROM w
), active AS (
    UPDATE session s SET last_activity_time = w.commit_time, stored_tokens = s.stored_tokens + w.new_tokens,
        forks = s.forks + w.opens_segment::int
    FROM w WHERE s.tenant_id = w.tenant_id AND s.session_id = w.session_id
), moved AS (
    UPDATE branch b SET head_floor_id = w.floor_id, failed_floor_id = NULL, depth = w.depth,
        version = b.version + 1, update_time = w.commit_time
    FROM w WHERE b.tenant_id = w.tenant_id AND b.session_id = w.session_id AND b.name = w.branch
        AND b.head_floor_id = w.expected_head AND b.pending_floor_id IS NULL
), new_move AS (
    INSERT INTO head_move (tenant_id, session_id, branch, number, from_floor_id, to_floor_id, kind,
        principal, move_time)
    SELECT tenant_id, session_id, branch, 1 + coalesce((
            SELECT max(m.number) FROM head_move m WHERE m.tenant_id = w.tenant_id
            AND m.session_id = w.session_id AND m.branch = w.branch), 0),
        expected_head, floor_id, 'commit', principal, commit_time
    FROM w
), new_request AS (
    INSERT INTO request (tenant_id, principal, method, request_id, fingerprint, answer, create_time,
        words_of)
    SELECT tenant_id, request_principal, method, request_id, fingerprint, {_ANSWER}, commit_time,
        CASE WHEN branch <> 'main' THEN session_id END FROM w
), counted AS MATERIALIZED (
    SELECT tenant_id, project_id, count(*) AS facts FROM w GROUP BY 1, 2 ORDER BY 1, 2
), advanced AS (
    INSERT INTO feed (tenant_id, project_id, last) SELECT tenant_id, project_id, facts FROM counted
    ON CONFLICT (tenant_id, project_id) DO UPDATE SET last = feed.last + excluded.last
    RETURNING tenant_id, project_id, last
), new_event AS (
    INSERT INTO event (tenant_id, project_id, position, event_id, type, session_id, floor_id, payload,
        commit_time)
    SELECT w.tenant_id, w.project_id,
        a.last - c.facts + row_number() OVER (PARTITION BY w.tenant_id, w.project_id ORDER BY w.n),
        w.event_id, 'floor.committed', w.session_id, w.floor_id, w.payload, w.commit_time
    FROM w JOIN advanced a USING (tenant_id, project_id) JOIN counted c USING (tenant_id, project_id)
)
SELECT n, outcome, version, branch_time, head_floor_id, pending_floor_id, answer FROM judged
"""


async def append_batch(connection: asyncpg.Connection, records: Sequence[AppendRecord]) -> list[Outcome]:
    """One statement, one implicit transaction. Raises what the driver raises, with nothing written."""
    columns = zip(*map(hot.values, records), strict=True)
    arrays = [encode(column) for encode, column in zip(_ENCODERS, columns, strict=True)]
    found = {row["n"]: row for row in await connection.fetch(APPEND, *arrays)}
    return [_outcome(record, found.get(number)) for number, record in enumerate(records, 1)]


def _outcome(record: AppendRecord, row: Any) -> Outcome:
    """`row` is None where there is no such session or branch."""
    if row is None:
        return Absent()
    match row["outcome"]:
        case "committed":
            return Committed(hot.moved(record, row["version"], row["branch_time"]))
        case "replayed":
            return Replayed(answer_rows.answer(row["answer"]))
        case "reused":
            return Reused()
        case "blocked":
            return Blocked(str(row["pending_floor_id"]))
        case "stale":
            return Stale(str(row["head_floor_id"]))
        case "taken":
            return PlaceTaken()
        case _:
            return Absent()
