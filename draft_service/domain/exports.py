"""What leaves a draft, and whether it may. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from draft_service.domain.draft import Draft
from kernel.state.model import Scope
from kernel.tree.message import Message, ToolCall, ToolResult
from kernel.tree.model import FloorState, Page
from kernel.verbs.staged_store import (
    Placement,
    StagedConfig,
    StagedEffects,
    StagedOrigin,
    StagedPart,
    StagedTarget,
)


class ExportState(StrEnum):
    PENDING = "pending"
    STAGED = "staged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Export:
    """`payload` is the call that stages it, until it is settled; `failure` text of a definite refusal."""

    draft_id: str
    export_id: str
    state: ExportState
    principal: str
    payload: bytes
    source_page_id: str
    finalize: bool
    create_time: datetime
    staged_write_id: str = ""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that a model proposed. `number` counts them in a draft, from 1."""

    draft_id: str
    proposal_id: str
    number: int
    floor_id: str
    run_id: str
    part: StagedConfig | StagedEffects
    create_time: datetime


@dataclass(frozen=True, slots=True)
class PagePart:
    """An output page of the draft; "" for the last one that can be exported."""

    page_id: str
    with_input: bool = False


@dataclass(frozen=True, slots=True)
class ProposalPart:
    proposal_id: str


ExportPart = PagePart | ProposalPart | StagedConfig | StagedEffects


def why_not(page: Page, state: FloorState, messages: Sequence[Message]) -> str:
    """What keeps an output page from being exported; "" for nothing."""
    if state is not FloorState.COMMITTED:
        return "its floor is not committed"
    if page.partial:
        return "it is only a part of an answer"
    calls = {part.call_id for message in messages for part in message.parts if isinstance(part, ToolCall)}
    answers = {part.call_id for message in messages for part in message.parts if isinstance(part, ToolResult)}
    return "" if calls <= answers else "a tool call in it has no result"


def target_of(draft: Draft, given: StagedTarget) -> StagedTarget:
    """Where it goes: the draft's source, unless another place is named."""
    if given.project_id or given.session_id or given.floor_id:
        return given
    source = draft.source
    if not source.session_id:
        return StagedTarget(source.project_id, "", given.branch, "", given.placement)
    reply = given.placement is Placement.OUTPUT_OF_FLOOR
    floor_id = source.floor_id if reply else ""
    return StagedTarget("", source.session_id, given.branch, floor_id, given.placement)


def origin_of(draft: Draft, target: StagedTarget, page_id: str, parts: Sequence[StagedPart]) -> StagedOrigin:
    """Where it comes from, and what it was written for: the base that was frozen, when it goes back there."""
    source = draft.source
    to_session = bool(source.session_id) and target.session_id == source.session_id
    to_project = bool(target.project_id) and target.project_id == source.project_id
    base_floor_id = source.floor_id if to_session else ""
    version = _base_version(draft, to_session, to_project, parts)
    return StagedOrigin(draft.draft_id, page_id, draft.snapshot_digest, base_floor_id, version)


def _base_version(draft: Draft, to_session: bool, to_project: bool, parts: Sequence[StagedPart]) -> int:
    """Of the configuration with a patch of it, else of the one layer of live values that is written."""
    source = draft.source
    if not to_session and not to_project:
        return 0
    if any(isinstance(part, StagedConfig) for part in parts):
        return source.session_version if to_session else source.project_version
    scopes = {write.scope for part in parts if isinstance(part, StagedEffects) for write in part.effects.live}
    if scopes == {Scope.PROJECT}:
        return source.project_live_version
    return source.session_live_version if scopes == {Scope.SESSION} and to_session else 0


def kinds(parts: Sequence[StagedPart]) -> list[type]:
    """An entry has at most one part of each."""
    return [type(part) for part in parts]
