"""One record of `Store.append` as the values that the hot statements bind.

Both engines' statements name these and nothing else. Everything that can be computed from the record
is, so that the statements only check and write. `tests/unit/test_hot.py` holds the values to what the other
writes store of the same floor.
"""

import json
from datetime import datetime
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from sqlalchemy import Column
from sqlalchemy.types import TypeEngine

from kernel.storage import rows
from kernel.storage import tables as t
from kernel.tree.model import Branch, Floor, Page, StoredEffects, Usage
from kernel.verbs.graves import grave_of
from kernel.verbs.moves import COMMIT
from kernel.verbs.pages import own_tokens
from kernel.verbs.records import AppendRecord

FLOOR_NAMES = tuple(column.name for column in t.floor.c if column.name != "tenant_id")

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
    "grave": t.grave.c.digest,
}
TYPES: dict[str, TypeEngine[Any]] = {name: t.floor.c[name].type for name in FLOOR_NAMES} | {
    name: column.type for name, column in _OTHERS.items()
}
NAMES = tuple(TYPES)

_NO_PAGE = (None,) * 9
_NO_EFFECTS = (None, None, None)
_NO_USAGE = (None, None, None)


def values(record: AppendRecord) -> tuple[Any, ...]:
    """In the order of NAMES, in Python's types. Written out: it is made for every turn."""
    floor, request = record.floor, record.request
    floor_id, place, mark = floor.floor_id, floor.place, floor.mark
    return (
        floor.session_id,
        place.segment,
        place.depth,
        floor_id,
        floor.parent_floor_id,
        floor.parent_segment,
        place.depth - 1,
        floor.ordinal,
        floor.state.value,
        *_page(floor.input, floor_id),
        *_page(floor.output, floor_id),
        floor.digest,
        floor.path_tokens,
        *_usage(floor.usage),
        floor.run_id,
        floor.failure_reason,
        floor.principal,
        # The branch that the record names, as the floor's own.
        record.branch,
        floor.create_time,
        floor.commit_time,
        *_effects(floor.effects),
        mark.above_id,
        mark.debt,
        mark.size,
        record.tenant_id,
        record.expected_head,
        record.opens_segment,
        own_tokens(floor),
        request.principal,
        request.method,
        request.request_id,
        request.fingerprint,
        record.event_id,
        payload(record),
        grave_of(record.tenant_id, request.principal),
    )


def _page(page: Page | None, floor_id: str) -> tuple[Any, ...]:
    if page is None:
        return _NO_PAGE
    return (
        page.page_id,
        None if page.floor_id == floor_id else page.floor_id,
        page.content.blob,
        rows.pack_facts(page.content.facts),
        page.digest,
        page.tokens,
        page.partial,
        page.source,
        page.create_time,
    )


def _usage(usage: Usage | None) -> tuple[Any, ...]:
    return _NO_USAGE if usage is None else (usage.tokens_in, usage.tokens_out, usage.estimated)


def _effects(effects: StoredEffects | None) -> tuple[Any, ...]:
    if effects is None:
        return _NO_EFFECTS
    facts: dict[str, Any] = {"source": effects.source, "counts": effects.counts}
    if effects.covers:
        facts["covers"] = effects.covers
    return effects.blob, effects.digest, json.dumps(facts)


def payload(record: AppendRecord) -> str:
    """The payload of `moves.move_event` as JSON text."""
    floor: Floor = record.floor
    assert floor.digest is not None
    ids = f'"from_floor_id": "{record.expected_head}", "to_floor_id": "{floor.floor_id}", "kind": "{COMMIT}"'
    text = (
        f'{{"branch": {quoted(record.branch)}, {ids}, "principal": {quoted(floor.principal)},'
        f' "parent_floor_id": "{floor.parent_floor_id}", "depth": {floor.place.depth},'
        f' "digest": "{floor.digest.hex()}"'
    )
    if floor.effects is None:
        return text + "}"
    variables, memory, slots = floor.effects.counts
    return f'{text}, "variable_writes": {variables}, "memory_writes": {memory}, "slot_writes": {slots}}}'


def moved(record: AppendRecord, version: int, create_time: datetime) -> Branch:
    """The record's branch once it has committed; `version` and `create_time` as it was found."""
    floor = record.floor
    assert floor.commit_time is not None
    depth = floor.place.depth
    return Branch(
        record.branch, floor.floor_id, None, None, depth, version + 1, create_time, floor.commit_time
    )


def answer(record: AppendRecord, branch: Branch) -> str:
    """What the request is answered, as `answer_rows.answer_text` writes it."""
    floor = record.floor
    pages = ""
    if floor.input is not None:
        pages = f'"input_page_id": "{floor.input.page_id}", '
    if floor.output is not None:
        pages += f'"output_page_id": "{floor.output.page_id}", '
    return (
        f'{{"session_id": "{floor.session_id}", "floor_id": "{floor.floor_id}",'
        f' "floor_state": "{floor.state.value}", {pages}'
        f'"branch": {{"name": {quoted(branch.name)}, "head_floor_id": "{branch.head_floor_id}",'
        f' "pending_floor_id": null, "failed_floor_id": null, "depth": {branch.depth},'
        f' "version": {branch.version}, "create_time": "{branch.create_time.isoformat()}",'
        f' "update_time": "{branch.update_time.isoformat()}"}}}}'
    )
