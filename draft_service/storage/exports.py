"""Exports and proposals as rows."""

import json
from typing import Any

from draft_service.domain.exports import Export, ExportState, Proposal
from kernel.state.text import effects_from, effects_text
from kernel.storage import rows
from kernel.verbs.staged_store import StagedConfig, StagedEffects

CONFIG, STATE = "config", "state"


def export_of(row: rows.Row) -> Export:
    return Export(
        draft_id=row["draft_id"],
        export_id=row["export_id"],
        state=ExportState(row["state"]),
        principal=row["principal"],
        payload=row["payload"],
        source_page_id=row["source_page_id"] or "",
        finalize=row["finalize"],
        create_time=row["create_time"],
        staged_write_id=row["staged_write_id"] or "",
        failure=row["failure"],
    )


def export_values(export: Export) -> dict[str, Any]:
    return {
        "draft_id": export.draft_id,
        "export_id": export.export_id,
        "state": export.state.value,
        "principal": export.principal,
        "payload": export.payload,
        "source_page_id": export.source_page_id or None,
        "finalize": export.finalize,
        "create_time": export.create_time,
    }


def proposal_of(row: rows.Row) -> Proposal:
    part: StagedConfig | StagedEffects
    if row["kind"] == CONFIG:
        part = StagedConfig(bytes(row["content"]).decode())
    else:
        part = StagedEffects(effects_from(row["content"]), tuple(json.loads(row["covers"])))
    return Proposal(
        draft_id=row["draft_id"],
        proposal_id=row["proposal_id"],
        number=row["number"],
        floor_id=row["floor_id"],
        run_id=row["run_id"] or "",
        part=part,
        create_time=row["create_time"],
    )


def proposal_values(proposal: Proposal) -> dict[str, Any]:
    covers: tuple[str, ...] = ()
    match proposal.part:
        case StagedConfig(operations_json):
            kind, content = CONFIG, operations_json.encode()
        case StagedEffects(effects, covers):
            kind, content = STATE, effects_text(effects)
    return {
        "draft_id": proposal.draft_id,
        "proposal_id": proposal.proposal_id,
        "number": proposal.number,
        "floor_id": proposal.floor_id,
        "run_id": proposal.run_id or None,
        "kind": kind,
        "content": content,
        "covers": json.dumps(covers),
        "create_time": proposal.create_time,
    }
