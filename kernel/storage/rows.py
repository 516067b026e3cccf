"""Rows to values and back."""

import json
import struct
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from kernel.errors import DataLoss
from kernel.prompt.config_text import config_from_text
from kernel.storage import tables as t
from kernel.tree.digest import effects_hold, fails_its_digest, page_holds
from kernel.tree.model import (
    Branch,
    Floor,
    FloorOutline,
    FloorState,
    HeadMove,
    MessageFacts,
    Page,
    PageContent,
    PageOutline,
    Place,
    Role,
    Slot,
    StateMark,
    StoredEffects,
    Usage,
)
from kernel.verbs.records import Event, PlacedEvent, Run, RunState, Session, SessionState

Row = Mapping[Any, Any]

_FACT = struct.Struct("<BI")
# Beside the role. Rows from before tools have no `plain`, whatever they hold: so they are looked at.
_HIDDEN, _PLAIN = 0x80, 0x40
_ROLE = ~(_HIDDEN | _PLAIN)

_BODIES = {"input_blob", "input_facts", "output_blob", "output_facts", "effects"}
FLOOR_COLUMNS = [c for c in t.floor.c if c.name not in ("tenant_id", "parent_depth")]
FLOOR_COLUMNS_WITHOUT_BODIES = [c for c in FLOOR_COLUMNS if c.name not in _BODIES]


def pack_facts(facts: tuple[MessageFacts, ...]) -> bytes:
    return b"".join(
        _FACT.pack(f.role | (_HIDDEN if f.hidden else 0) | (_PLAIN if f.plain else 0), f.tokens)
        for f in facts
    )


# Most pages hold one message, of a role and some hundred tokens: a path has the same ones many times.
@lru_cache(maxsize=4096)
def unpack_facts(packed: bytes) -> tuple[MessageFacts, ...]:
    return tuple(
        MessageFacts(Role(head & _ROLE), bool(head & _HIDDEN), tokens, bool(head & _PLAIN))
        for head, tokens in _FACT.iter_unpack(packed)
    )


def _page(row: Row, prefix: str, slot: Slot, floor_id: str, *, check: bool = True) -> Page | None:
    page_id = row[f"{prefix}page_id"]
    if page_id is None:
        return None
    blob = row.get(f"{prefix}blob")
    content = PageContent(b"", ()) if blob is None else PageContent(blob, unpack_facts(row[f"{prefix}facts"]))
    if (
        check
        and blob is not None
        and not page_holds(slot, row[f"{prefix}partial"], blob, row[f"{prefix}digest"])
    ):
        raise fails_its_digest(page_id)
    return Page(
        page_id,
        row[f"{prefix}origin_id"] or floor_id,
        slot,
        content,
        row[f"{prefix}digest"],
        row[f"{prefix}tokens"],
        row[f"{prefix}partial"],
        row[f"{prefix}source"],
        row[f"{prefix}time"],
    )


def _page_values(page: Page | None, prefix: str, floor_id: str) -> dict[str, Any]:
    if page is None:
        names = [c.name.removeprefix("input_") for c in t.floor.c if c.name.startswith("input_")]
        return {prefix + name: None for name in names}
    return {
        f"{prefix}page_id": page.page_id,
        f"{prefix}origin_id": None if page.floor_id == floor_id else page.floor_id,
        f"{prefix}blob": page.content.blob,
        f"{prefix}facts": pack_facts(page.content.facts),
        f"{prefix}digest": page.digest,
        f"{prefix}tokens": page.tokens,
        f"{prefix}partial": page.partial,
        f"{prefix}source": page.source,
        f"{prefix}time": page.create_time,
    }


def _usage(row: Row) -> Usage | None:
    if row["usage_in"] is None:
        return None
    return Usage(row["usage_in"], row["usage_out"], row["usage_estimated"])


def _usage_values(usage: Usage | None) -> dict[str, Any]:
    if usage is None:
        return {"usage_in": None, "usage_out": None, "usage_estimated": None}
    return {
        "usage_in": usage.tokens_in,
        "usage_out": usage.tokens_out,
        "usage_estimated": usage.estimated,
    }


def effects(row: Row, *, check: bool = True) -> StoredEffects | None:
    digest = row["effects_digest"]
    if digest is None:
        return None
    blob = row.get("effects")
    if check and blob is not None and not effects_hold(blob, digest):
        raise DataLoss("DIGEST_MISMATCH", "Stored effects fail their digest: run `stemma verify`.")
    facts = json.loads(row["effects_facts"])
    return StoredEffects(
        blob or b"", digest, facts["source"], tuple(facts["counts"]), tuple(facts.get("covers", ()))
    )


def _effects_values(effects: StoredEffects | None) -> dict[str, Any]:
    if effects is None:
        return {"effects": None, "effects_digest": None, "effects_facts": None}
    facts: dict[str, Any] = {"source": effects.source, "counts": effects.counts}
    if effects.covers:
        facts["covers"] = effects.covers
    return {
        "effects": effects.blob,
        "effects_digest": effects.digest,
        "effects_facts": json.dumps(facts),
    }


def floor(row: Row, *, check: bool = True) -> Floor:
    """Raises DATA_LOSS when a body that was read fails its digest, unless `check` is off."""
    floor_id = row["floor_id"]
    return Floor(
        floor_id,
        row["session_id"],
        row["parent_floor_id"],
        row["parent_segment"],
        Place(row["segment"], row["depth"]),
        row["ordinal"],
        FloorState(row["state"]),
        _page(row, "input_", Slot.INPUT, floor_id, check=check),
        _page(row, "output_", Slot.OUTPUT, floor_id, check=check),
        row["digest"],
        row["path_tokens"],
        _usage(row),
        row["run_id"],
        row["failure_reason"],
        row["principal"],
        row["create_time"],
        row["commit_time"],
        row["branch"],
        effects(row, check=check),
        StateMark(row["effects_above_id"], row["state_debt"], row["state_size"]),
    )


def outline(row: Row) -> FloorOutline:
    pages = [
        PageOutline(row[f"{side}_page_id"], unpack_facts(row[f"{side}_facts"]), row[f"{side}_size"])
        for side in ("input", "output")
        if row[f"{side}_page_id"] is not None
    ]
    return FloorOutline(row["floor_id"], row["depth"], tuple(pages), row["effects_size"])


def floor_end_values(floor: Floor) -> dict[str, Any]:
    """What changes while a floor is pending, and what its end fixes."""
    return {
        "state": floor.state.value,
        **_page_values(floor.input, "input_", floor.floor_id),
        **_page_values(floor.output, "output_", floor.floor_id),
        "digest": floor.digest,
        "path_tokens": floor.path_tokens,
        **_usage_values(floor.usage),
        "run_id": floor.run_id,
        "failure_reason": floor.failure_reason,
        "commit_time": floor.commit_time,
        **_effects_values(floor.effects),
        **mark_values(floor.mark),
    }


def mark_values(mark: StateMark) -> dict[str, Any]:
    return {"effects_above_id": mark.above_id, "state_debt": mark.debt, "state_size": mark.size}


def floor_values(floor: Floor) -> dict[str, Any]:
    return {
        "session_id": floor.session_id,
        "segment": floor.place.segment,
        "depth": floor.place.depth,
        "floor_id": floor.floor_id,
        "parent_floor_id": floor.parent_floor_id,
        "parent_segment": floor.parent_segment,
        "parent_depth": None if floor.is_root else floor.place.depth - 1,
        "ordinal": floor.ordinal,
        "principal": floor.principal,
        "create_time": floor.create_time,
        "branch": floor.branch,
        **floor_end_values(floor),
    }


def version_page(row: Row) -> Page:
    """A row of `page`."""
    page = _page(row, "", Slot(row["slot"]), row["floor_id"])
    assert page is not None
    return replace(page, effects=effects(row))


def version_values(floor_id: str, page: Page) -> dict[str, Any]:
    return {
        "floor_id": floor_id,
        "slot": int(page.slot),
        **_page_values(page, "", floor_id),
        **_effects_values(page.effects),
    }


def branch(row: Row) -> Branch:
    return Branch(
        row["name"],
        row["head_floor_id"],
        row["pending_floor_id"],
        row["failed_floor_id"],
        row["depth"],
        row["version"],
        row["create_time"],
        row["update_time"],
    )


def head_move(row: Row) -> HeadMove:
    return HeadMove(
        row["branch"],
        row["from_floor_id"],
        row["to_floor_id"],
        row["kind"],
        row["principal"],
        row["move_time"],
    )


def session(row: Row) -> Session:
    return Session(
        row["session_id"],
        row["project_id"],
        row["title"],
        SessionState(row["state"]),
        config_from_text(row["config"]),
        row["version"],
        row["root_floor_id"],
        row["stored_tokens"],
        row["create_time"],
        row["update_time"],
        row["last_activity_time"],
        row["project_archived"],
    )


def _branch_json(branch: Branch | None) -> dict[str, Any] | None:
    if branch is None:
        return None
    values = asdict(branch)
    return values | {k: values[k].isoformat() for k in ("create_time", "update_time")}


def _branch_from_json(values: dict[str, Any] | None) -> Branch | None:
    if values is None:
        return None
    times = {k: datetime.fromisoformat(values[k]) for k in ("create_time", "update_time")}
    return Branch(**(values | times))


def branch_text(branch: Branch | None) -> str:
    return "" if branch is None else json.dumps(_branch_json(branch))


def branch_from_text(text: str) -> Branch | None:
    return _branch_from_json(json.loads(text)) if text else None


def run(row: Row) -> Run:
    return Run(
        row["run_id"],
        row["session_id"],
        row["floor_id"],
        row["page_id"],
        RunState(row["state"]),
        row["failure_reason"],
        _usage(row),
        row["owner"],
        row["last_seq"],
        branch_from_text(row["branch"]),
        row["create_time"],
        row["end_time"],
        row["epoch"],
        row["plan"],
        row["asked"],
        row["wait_time"],
        row["logged"],
    )


def run_values(run: Run) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "session_id": run.session_id,
        "floor_id": run.floor_id,
        "page_id": run.page_id,
        "state": run.state.value,
        "failure_reason": run.failure_reason,
        **_usage_values(run.usage),
        "owner": run.owner,
        "last_seq": run.last_seq,
        "branch": branch_text(run.branch),
        "create_time": run.create_time,
        "end_time": run.end_time,
        "epoch": run.epoch,
        "plan": run.plan,
        "asked": run.asked,
        "wait_time": run.wait_time,
        "logged": run.logged,
    }


def placed_event(row: Row) -> PlacedEvent:
    event = Event(
        row["event_id"],
        row["type"],
        row["session_id"] or "",
        row["floor_id"] or "",
        json.loads(row["payload"]),
    )
    return PlacedEvent(row["position"], event, row["commit_time"])
