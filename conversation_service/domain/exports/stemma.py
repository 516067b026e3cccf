"""Stemma's own format: JSON lines, from which the session can be made again without loss.

First the session: {"stemma": 1, "kind": "session", "title", "root_floor_id", "config_json",
"branches": [{"name", "head_floor_id", "pending_floor_id", "failed_floor_id"}], "live": [{"key",
"value_json", "version"}], "live_version"}. Then each page
once, {"kind": "page", "page_id", "slot", "partial", "source", "digest", "messages"}, before the first
floor that has it; each floor, {"kind": "floor", "floor_id", "parent_floor_id", "ordinal", "state",
"input", "output", "candidates" (ids of pages), "digest", "effects_json", "brought" (effects by the id of
the page that brought them), …}. Last {"kind": "end", "floors", "pages"}
with their counts, so that a file that was cut off is known. What is empty may be left out.
"""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from conversation_service.domain.exports.model import ExportBranch, ExportFloor, ExportPage, ExportTree
from conversation_service.domain.message_json import message_json
from kernel.strict_json import dumps
from kernel.tree.model import Slot

VERSION = 1
_SLOTS = {Slot.INPUT: "input", Slot.OUTPUT: "output"}


def write(tree: ExportTree) -> Iterator[bytes]:
    """One line a chunk."""
    yield _line(
        {
            "stemma": VERSION,
            "kind": "session",
            "title": tree.title,
            "root_floor_id": tree.root_floor_id,
            "config_json": tree.config_json,
            "branches": [_branch(branch) for branch in tree.branches],
            "live": [asdict(value) for value in tree.live] or None,
            "live_version": tree.live_version if tree.live_version > 1 else None,
        }
    )
    pages: set[str] = set()
    for floor in tree.floors:
        for page in floor.pages:
            if page.page_id not in pages:
                pages.add(page.page_id)
                yield _line(_page(page))
        yield _line(_floor(floor))
    yield _line({"kind": "end", "floors": len(tree.floors), "pages": len(pages)})


def _line(value: dict[str, Any]) -> bytes:
    return dumps({name: held for name, held in value.items() if held not in (None, "")}).encode() + b"\n"


def _branch(branch: ExportBranch) -> dict[str, Any]:
    named = {"name": branch.name, "head_floor_id": branch.head_floor_id}
    held = {"pending_floor_id": branch.pending_floor_id, "failed_floor_id": branch.failed_floor_id}
    return named | {name: value for name, value in held.items() if value}


def _page(page: ExportPage) -> dict[str, Any]:
    return {
        "kind": "page",
        "page_id": page.page_id,
        "slot": _SLOTS[page.slot],
        "partial": page.partial,
        "source": page.source,
        "digest": page.digest,
        "messages": [message_json(message) for message in page.messages],
    }


def _floor(floor: ExportFloor) -> dict[str, Any]:
    usage = floor.usage
    return {
        "kind": "floor",
        "floor_id": floor.floor_id,
        "parent_floor_id": floor.parent_floor_id,
        "ordinal": floor.ordinal,
        "state": floor.state.value,
        "input": floor.input.page_id if floor.input else None,
        "output": floor.output.page_id if floor.output else None,
        "candidates": [page.page_id for page in floor.candidates],
        "digest": floor.digest,
        "failure_reason": floor.failure_reason,
        "usage": usage
        and {"tokens_in": usage.tokens_in, "tokens_out": usage.tokens_out, "estimated": usage.estimated},
        "branch": floor.branch,
        "create_time": floor.create_time,
        "commit_time": floor.commit_time,
        "effects_json": floor.effects,
        "brought": dict(floor.brought) or None,
    }
