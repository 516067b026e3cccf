"""`Store.tip` and `ReadTx.tip`: one statement, the same text for the driver and inside a transaction."""

from typing import Any

from kernel.storage.types import Id
from kernel.tree.model import FloorState, Place
from kernel.verbs.records import Tip

_COLUMNS = """
SELECT f.floor_id, f.segment, f.depth, {pending}, s.forks, s.version, p.version, s.stored_tokens,
    COALESCE(sl.version, 0), COALESCE(pl.version, 0)
FROM session s
JOIN project p ON p.tenant_id = s.tenant_id AND p.project_id = s.project_id
LEFT JOIN live_layer sl ON sl.tenant_id = s.tenant_id AND sl.owner_id = s.session_id
LEFT JOIN live_layer pl ON pl.tenant_id = s.tenant_id AND pl.owner_id = s.project_id
"""
_OF_BRANCH = (
    _COLUMNS.format(pending="b.pending_floor_id")
    + f"""
JOIN branch b ON b.tenant_id = s.tenant_id AND b.session_id = s.session_id AND b.name = $3
JOIN floor f ON f.tenant_id = b.tenant_id AND f.floor_id = b.head_floor_id
WHERE s.tenant_id = $1 AND s.session_id = $2 AND f.state = '{FloorState.COMMITTED.value}'"""
)
_OF_FLOOR = (
    _COLUMNS.format(pending="NULL")
    + f"""
JOIN floor f ON f.tenant_id = s.tenant_id AND f.session_id = s.session_id AND f.floor_id = $3
WHERE s.tenant_id = $1 AND s.session_id = $2 AND f.state = '{FloorState.COMMITTED.value}'"""
)
_ID = Id()


def statement(dialect: Any, tenant_id: str, session_id: str, branch: str, floor_id: str) -> tuple[str, Any]:
    """Text and arguments for the driver."""
    wanted = _ID.process_bind_param(floor_id, dialect) if floor_id else branch
    text = _OF_FLOOR if floor_id else _OF_BRANCH
    if dialect.name == "sqlite":
        # SQLite numbers its parameters with a question mark.
        text = text.replace("$", "?")
    return text, (tenant_id, _ID.process_bind_param(session_id, dialect), wanted)


def tip(dialect: Any, row: Any) -> Tip | None:
    if row is None:
        return None
    floor_id, segment, depth, pending, *numbers = row
    return Tip(
        _ID.process_result_value(floor_id, dialect) or "",
        Place(segment, depth),
        _ID.process_result_value(pending, dialect),
        *numbers,
    )
