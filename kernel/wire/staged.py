"""Entries of the ledger between the contract's messages and the kernel's values."""

import re
from collections.abc import Sequence

from stemma.kernel.v1 import message_pb2
from stemma.kernel.v1 import staged_write_pb2 as pb

from kernel.errors import invalid
from kernel.rpc.checks import enum_field, uuid_field
from kernel.state.model import Scope
from kernel.state.text import effects_text
from kernel.tree.model import PageContent
from kernel.verbs.effects import stored
from kernel.verbs.pages import MAX_SHOWN
from kernel.verbs.staged_store import (
    Placement,
    StagedConfig,
    StagedEffects,
    StagedOrigin,
    StagedPage,
    StagedPart,
    StagedState,
    StagedWrite,
)
from kernel.wire.codec import parsed
from kernel.wire.config_patch import patch_of
from kernel.wire.effects import effects_pb, given
from kernel.wire.requests import content_of
from kernel.wire.trees import time_pb

_DIGEST = re.compile("[0-9a-f]{64}")
_STATES = {pb.StagedWriteState.Value(f"STAGED_WRITE_STATE_{state.name}"): state for state in StagedState}
# What an entry takes besides what its parts hold.
_FRAME = 4 * 1024


def parts_of(parts: Sequence[pb.StagedPart], field: str = "parts") -> tuple[StagedPart, ...]:
    """Checked parts, at most one of each kind, which fit into one answer."""
    if not parts:
        raise invalid(field, "is required: an output_page, a config_patch or a state_patch")
    kinds = [part.WhichOneof("part") for part in parts]
    for number, kind in enumerate(kinds):
        if kind is None:
            raise invalid(f"{field}[{number}]", "must be an output_page, a config_patch or a state_patch")
        if kind in kinds[:number]:
            raise invalid(f"{field}[{number}]", "is the second of its kind: stage it as another entry")
    found = tuple(part_of(part, f"{field}[{number}]") for number, part in enumerate(parts))
    if sum(map(_size, found)) > MAX_SHOWN - _FRAME:
        raise invalid(field, "hold at most 3.9 MiB together")
    return found


def part_of(part: pb.StagedPart, field: str) -> StagedPart:
    kind = part.WhichOneof("part")
    if kind == "config_patch":
        text = part.config_patch.operations_json
        patch_of(text, f"{field}.config_patch.operations_json")
        return StagedConfig(text)
    if kind == "state_patch":
        brought = given(part.state_patch.effects, f"{field}.state_patch.effects")
        if not brought.effects:
            raise invalid(f"{field}.state_patch.effects", "has at least one write")
        return StagedEffects(brought.effects, brought.covers)
    page, here = part.output_page, f"{field}.output_page"
    output = content_of(page.output, f"{here}.output", required=True)
    assert output is not None
    return StagedPage(content_of(page.input, f"{here}.input"), output)


def _size(part: StagedPart) -> int:
    match part:
        case StagedConfig(operations_json):
            return len(operations_json.encode())
        case StagedEffects(effects, _):
            return len(effects_text(effects))
        case StagedPage(given, output):
            return len(output.blob) + (len(given.blob) if given else 0)


def origin_of(origin: pb.StagedOrigin, field: str = "origin") -> StagedOrigin:
    if origin.snapshot_digest and not _DIGEST.fullmatch(origin.snapshot_digest):
        raise invalid(f"{field}.snapshot_digest", "is 64 hexadecimal digits in lower case")
    if origin.base_version < 0:
        raise invalid(f"{field}.base_version", "must not be negative")
    return StagedOrigin(
        uuid_field(origin.draft_id, f"{field}.draft_id", required=False),
        uuid_field(origin.page_id, f"{field}.page_id", required=False),
        origin.snapshot_digest,
        uuid_field(origin.base_floor_id, f"{field}.base_floor_id", required=False),
        origin.base_version,
    )


def placement_of(target: pb.StagedTarget, parts: Sequence[StagedPart]) -> Placement:
    """Of the output page; NONE without one, whatever is said."""
    pages = [part for part in parts if isinstance(part, StagedPage)]
    number = enum_field(target.placement, pb.Placement, "target.placement", None if pages else 0)
    if not pages:
        return Placement.NONE
    placement = Placement(number)
    if placement is Placement.OUTPUT_OF_FLOOR:
        if not target.floor_id:
            raise invalid("target.floor_id", "is required for OUTPUT_OF_FLOOR")
        if pages[0].input is not None:
            raise invalid("parts", "an output_page has an input for NEXT_FLOOR only")
    return placement


def only_of_project(parts: Sequence[StagedPart]) -> None:
    """INVALID for what a project has not: turns, and state of a path or a session."""
    for number, part in enumerate(parts):
        if isinstance(part, StagedPage):
            raise invalid(f"parts[{number}].output_page", "is for a session")
        if isinstance(part, StagedEffects):
            effects = part.effects
            of_project = all(write.scope is Scope.PROJECT for write in effects.variables)
            if effects.memory or effects.slots or not of_project:
                path = f"parts[{number}].state_patch.effects"
                raise invalid(path, "has variables of PROJECT scope only, for a project")


def state_of(number: int) -> StagedState | None:
    checked = enum_field(number, pb.StagedWriteState, "state", 0)
    return _STATES.get(checked)


def staged_pb(entry: StagedWrite, *, bodies: bool = True) -> pb.StagedWrite:
    """Without bodies, the parts are there and empty."""
    target, origin, decision = entry.target, entry.origin, entry.decision
    placement = "UNSPECIFIED" if target.placement is Placement.NONE else target.placement.name
    return pb.StagedWrite(
        staged_write_id=entry.staged_write_id,
        state=f"STAGED_WRITE_STATE_{decision.outcome.name}",
        target=pb.StagedTarget(
            project_id="" if target.session_id else target.project_id,
            session_id=target.session_id,
            branch=target.branch,
            floor_id=target.floor_id,
            placement=f"PLACEMENT_{placement}",
        ),
        parts=[part_pb(part, bodies=bodies) for part in entry.parts],
        origin=pb.StagedOrigin(
            draft_id=origin.draft_id,
            page_id=origin.page_id,
            snapshot_digest=origin.snapshot_digest,
            base_floor_id=origin.base_floor_id,
            base_version=origin.base_version,
        ),
        reason=entry.reason,
        staged_by=entry.staged_by,
        decided_by=decision.decided_by,
        decision_reason=decision.reason,
        result_floor_id=decision.result_floor_id,
        create_time=time_pb(entry.create_time),
        decide_time=time_pb(decision.decide_time),
        expire_time=time_pb(entry.expire_time),
        accepted_stale=decision.stale,
    )


def part_pb(part: StagedPart, *, bodies: bool = True) -> pb.StagedPart:
    match part:
        case StagedConfig(operations_json):
            patch = pb.ConfigPatch(operations_json=operations_json if bodies else "")
            return pb.StagedPart(config_patch=patch)
        case StagedEffects():
            return pb.StagedPart(state_patch=_effects_pb(part) if bodies else pb.StatePatch())
        case StagedPage(given, output):
            page = pb.OutputPage(input=_messages(given), output=_messages(output)) if bodies else None
            return pb.StagedPart(output_page=page or pb.OutputPage())


def _effects_pb(part: StagedEffects) -> pb.StatePatch:
    """The floors that are covered are named by id; their depths are found when it is accepted."""
    shown = effects_pb(stored(part.effects, ""))
    for write, floor_id in zip(shown.memory, part.covers, strict=True):
        write.covers_floor_id = floor_id
    return pb.StatePatch(effects=shown)


def _messages(content: PageContent | None) -> list[message_pb2.Message]:
    return parsed(content.blob) if content else []
