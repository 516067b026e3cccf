"""One record of `Store.append` as the values that the hot statements bind.

Both engines' statements name these and nothing else. Everything that can be computed from the record
is, so that the statements only check and write.
"""

import json
from typing import Any

from sqlalchemy import Column
from sqlalchemy.types import TypeEngine

from kernel.storage import rows
from kernel.storage import tables as t
from kernel.tree.model import HeadMove
from kernel.verbs.moves import COMMIT, move_event
from kernel.verbs.pages import own_tokens
from kernel.verbs.records import AppendRecord

FLOOR_NAMES = [column.name for column in t.floor.c if column.name != "tenant_id"]

_OTHERS: dict[str, Column[Any]] = {
    "tenant_id": t.floor.c.tenant_id,
    "expected_head": t.branch.c.head_floor_id,
    "opens_segment": t.floor.c.input_partial,
    "new_tokens": t.session.c.stored_tokens,
    "request_principal": t.request.c.principal,
    "method": t.request.c.method,
    "request_id": t.request.c.request_id,
    "fingerprint": t.request.c.fingerprint,
    "event_id": t.event.c.event_id,
    "payload": t.event.c.payload,
}
TYPES: dict[str, TypeEngine[Any]] = {name: t.floor.c[name].type for name in FLOOR_NAMES} | {
    name: column.type for name, column in _OTHERS.items()
}


def values(record: AppendRecord) -> dict[str, Any]:
    """By the names of TYPES, in Python's types."""
    floor = record.floor
    assert floor.commit_time is not None
    move = HeadMove(
        record.branch, record.expected_head, floor.floor_id, COMMIT, floor.principal, floor.commit_time
    )
    event = move_event(record.event_id, move, floor)
    return {
        **rows.floor_values(floor),
        "tenant_id": record.tenant_id,
        # The branch that the record names, as the floor's own.
        "branch": record.branch,
        "expected_head": record.expected_head,
        "opens_segment": record.opens_segment,
        "new_tokens": own_tokens(floor),
        "request_principal": record.request.principal,
        "method": record.request.method,
        "request_id": record.request.request_id,
        "fingerprint": record.request.fingerprint,
        "event_id": event.event_id,
        "payload": json.dumps(event.payload),
    }
