"""The tip of a path: one statement, the same text for the driver and inside a transaction."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from kernel.storage.types import id_text, id_value
from kernel.tree.model import FloorState, Place
from kernel.verbs.records import Tip

_COLUMNS = """
SELECT f.floor_id, f.segment, f.depth, {pending}, s.forks, s.version, p.version, s.stored_tokens,
    COALESCE(sl.version, 0), COALESCE(pl.version, 0),
    EXISTS (SELECT 1 FROM segment g
        WHERE g.tenant_id = s.tenant_id AND g.session_id = s.session_id AND g.segment > 0){more}
FROM session s
JOIN project p ON p.tenant_id = s.tenant_id AND p.project_id = s.project_id
LEFT JOIN live_layer sl ON sl.tenant_id = s.tenant_id AND sl.owner_id = s.session_id
LEFT JOIN live_layer pl ON pl.tenant_id = s.tenant_id AND pl.owner_id = s.project_id
"""
_OF_BRANCH = (
    _COLUMNS.format(pending="b.pending_floor_id", more="{more}")
    + f"""
JOIN branch b ON b.tenant_id = s.tenant_id AND b.session_id = s.session_id AND b.name = $3
JOIN floor f ON f.tenant_id = b.tenant_id AND f.floor_id = b.head_floor_id
WHERE s.tenant_id = $1 AND s.session_id = $2 AND f.state = '{FloorState.COMMITTED.value}'"""
)
_OF_FLOOR = (
    _COLUMNS.format(pending="NULL", more="{more}")
    + f"""
JOIN floor f ON f.tenant_id = s.tenant_id AND f.session_id = s.session_id AND f.floor_id = $3
WHERE s.tenant_id = $1 AND s.session_id = $2 AND f.state = '{FloorState.COMMITTED.value}'"""
)


# The columns of a tip.
WIDTH = 11


def statement(
    dialect: str, tenant_id: str, session_id: str, branch: str, floor_id: str, more: str = ""
) -> tuple[str, tuple[Any, ...]]:
    """Text and arguments for the driver. `more`: further columns of the session `s`, its project `p` and the
    floor `f`, each with a comma before it."""
    wanted = id_value(floor_id, dialect) if floor_id else branch
    return _text(dialect, bool(floor_id), more), (tenant_id, id_value(session_id, dialect), wanted)


@lru_cache
def _text(dialect: str, named: bool, more: str) -> str:
    text = (_OF_FLOOR if named else _OF_BRANCH).format(more=more)
    # SQLite numbers its parameters with a question mark.
    return text.replace("$", "?") if dialect == "sqlite" else text


def tip(row: Sequence[Any]) -> Tip:
    """Of the first columns."""
    floor_id, segment, depth, pending, forks, session, project, tokens, own, shared, forked = row
    return Tip(
        id_text(floor_id),
        Place(segment, depth),
        pending and id_text(pending),
        forks,
        session,
        project,
        tokens,
        own,
        shared,
        bool(forked),
    )
