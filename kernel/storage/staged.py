"""The ledger: reading. What the methods promise is written at `kernel.verbs.staged_store`."""

import json
from datetime import datetime
from typing import Any

from sqlalchemy import Select, literal, select, tuple_

from kernel.state.model import Effects
from kernel.state.text import effects_from, effects_text
from kernel.storage import rows
from kernel.storage import tables as t
from kernel.storage.engine import Engines
from kernel.storage.reads import Scoped
from kernel.storage.types import Id, Time
from kernel.tree.model import PageContent
from kernel.verbs.staged_store import (
    Decision,
    Placement,
    StagedConfig,
    StagedEffects,
    StagedFilter,
    StagedOrigin,
    StagedPage,
    StagedPart,
    StagedState,
    StagedTarget,
    StagedWrite,
)

_BODIES = {
    "input_blob",
    "input_facts",
    "output_blob",
    "output_facts",
    "operations",
    "effects",
    "covers",
}
COLUMNS = [c for c in t.staged_write.c if c.name != "tenant_id"]
COLUMNS_WITHOUT_BODIES = [c for c in COLUMNS if c.name not in _BODIES]
_PAGE, _CONFIG, _EFFECTS = "page", "config", "effects"


def entry(row: rows.Row) -> StagedWrite:
    return StagedWrite(
        row["staged_write_id"],
        StagedTarget(
            row["project_id"],
            row["session_id"] or "",
            row["branch"],
            row["floor_id"] or "",
            Placement(row["placement"]),
        ),
        tuple(_part(kind, row) for kind in row["kinds"].split()),
        StagedOrigin(
            row["draft_id"] or "",
            row["page_id"] or "",
            row["snapshot_digest"],
            row["base_floor_id"] or "",
            row["base_version"],
        ),
        row["reason"],
        row["staged_by"],
        row["create_time"],
        row["expire_time"],
        Decision(
            StagedState(row["state"]),
            row["decided_by"],
            row["decision_reason"],
            row["result_floor_id"] or "",
            row["stale"],
            row["decide_time"],
        ),
    )


def _part(kind: str, row: rows.Row) -> StagedPart:
    if kind == _CONFIG:
        return StagedConfig(row.get("operations") or "")
    if kind == _EFFECTS:
        text = row.get("effects")
        if text is None:
            return StagedEffects(Effects(), ())
        return StagedEffects(effects_from(text), tuple(json.loads(row["covers"])))
    return StagedPage(_content(row, "input"), _content(row, "output") or PageContent(b"", ()))


def _content(row: rows.Row, side: str) -> PageContent | None:
    blob = row.get(f"{side}_blob")
    return None if blob is None else PageContent(blob, rows.unpack_facts(row[f"{side}_facts"]))


def entry_values(entry: StagedWrite) -> dict[str, Any]:
    target, origin = entry.target, entry.origin
    values: dict[str, Any] = {
        "staged_write_id": entry.staged_write_id,
        "project_id": target.project_id,
        "session_id": target.session_id or None,
        "branch": target.branch,
        "floor_id": target.floor_id or None,
        "placement": int(target.placement),
        "draft_id": origin.draft_id or None,
        "page_id": origin.page_id or None,
        "snapshot_digest": origin.snapshot_digest,
        "base_floor_id": origin.base_floor_id or None,
        "base_version": origin.base_version,
        "reason": entry.reason,
        "staged_by": entry.staged_by,
        "create_time": entry.create_time,
        "expire_time": entry.expire_time,
        **decision_values(entry.decision),
    }
    kinds = []
    for part in entry.parts:
        kind, held = _part_values(part)
        kinds.append(kind)
        values |= held
    return {**values, "kinds": " ".join(kinds)}


def _part_values(part: StagedPart) -> tuple[str, dict[str, Any]]:
    match part:
        case StagedConfig(operations_json):
            return _CONFIG, {"operations": operations_json}
        case StagedEffects(effects, covers):
            return _EFFECTS, {"effects": effects_text(effects), "covers": json.dumps(covers)}
        case StagedPage(given, output):
            return _PAGE, {**_content_values("input", given), **_content_values("output", output)}


def _content_values(side: str, content: PageContent | None) -> dict[str, Any]:
    if content is None:
        return {}
    return {f"{side}_blob": content.blob, f"{side}_facts": rows.pack_facts(content.facts)}


def decision_values(decision: Decision) -> dict[str, Any]:
    return {
        "state": decision.outcome.value,
        "decided_by": decision.decided_by,
        "decision_reason": decision.reason,
        "result_floor_id": decision.result_floor_id or None,
        "stale": decision.stale,
        "decide_time": decision.decide_time,
    }


class StagedReads(Scoped):
    async def staged_write(self, staged_write_id: str) -> StagedWrite | None:
        row = await self.one(self._staged(staged_write_id))
        return row and entry(row)

    def _staged(self, staged_write_id: str) -> Select[Any]:
        return select(*COLUMNS).where(self.where(t.staged_write, staged_write_id=staged_write_id))

    async def staged_writes(
        self, where: StagedFilter, after: tuple[datetime, str] | None, limit: int
    ) -> list[StagedWrite]:
        columns = t.staged_write.c
        equals = {
            "project_id": where.project_id,
            "session_id": where.session_id,
            "state": where.state.value if where.state else "",
            "draft_id": where.draft_id,
            "staged_by": where.staged_by,
        }
        wanted = {name: value for name, value in equals.items() if value}
        query = select(*COLUMNS_WITHOUT_BODIES).where(self.where(t.staged_write, **wanted))
        if where.member is not None:
            query = query.where(self.joined_by(t.staged_write, where.member))
        order = columns.create_time, columns.staged_write_id
        if after is not None:
            last = tuple_(literal(after[0], Time), literal(after[1], Id))
            query = query.where(tuple_(*order) < last)
        query = query.order_by(*(column.desc() for column in order)).limit(limit)
        return [entry(row) for row in await self.all(query)]


class Ledgers:
    """The ledgers of all tenants at once, for the process itself: no caller of an RPC sees it."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def expired(self, now: datetime, limit: int) -> list[tuple[str, str]]:
        """(tenant, id) of entries that are not decided and whose time is up, the oldest first."""
        columns = t.staged_write.c
        query = select(columns.tenant_id, columns.staged_write_id)
        query = query.where(columns.state == StagedState.STAGED.value, columns.expire_time <= now)
        query = query.order_by(columns.expire_time).limit(limit)
        async with self._engines.reading() as connection:
            return [(row.tenant_id, row.staged_write_id) for row in await connection.execute(query)]
