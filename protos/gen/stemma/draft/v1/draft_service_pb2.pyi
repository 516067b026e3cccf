import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from stemma.draft.v1 import draft_pb2 as _draft_pb2
from stemma.kernel.v1 import config_pb2 as _config_pb2
from stemma.kernel.v1 import effects_pb2 as _effects_pb2
from stemma.kernel.v1 import floor_pb2 as _floor_pb2
from stemma.kernel.v1 import message_pb2 as _message_pb2
from stemma.kernel.v1 import run_pb2 as _run_pb2
from stemma.kernel.v1 import staged_write_pb2 as _staged_write_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CreateDraftRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "project_id", "floor_id", "position", "purpose", "title", "retention_policy", "ttl", "visibility", "include_history", "config", "replace_system_prompt", "metadata", "origin")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    RETENTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_HISTORY_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    REPLACE_SYSTEM_PROMPT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    project_id: str
    floor_id: str
    position: _draft_pb2.DraftPosition
    purpose: str
    title: str
    retention_policy: _draft_pb2.RetentionPolicy
    ttl: _duration_pb2.Duration
    visibility: _draft_pb2.Visibility
    include_history: bool
    config: _config_pb2.Config
    replace_system_prompt: bool
    metadata: _containers.ScalarMap[str, str]
    origin: _draft_pb2.DraftOrigin
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., project_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., position: _Optional[_Union[_draft_pb2.DraftPosition, str]] = ..., purpose: _Optional[str] = ..., title: _Optional[str] = ..., retention_policy: _Optional[_Union[_draft_pb2.RetentionPolicy, str]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., visibility: _Optional[_Union[_draft_pb2.Visibility, str]] = ..., include_history: _Optional[bool] = ..., config: _Optional[_Union[_config_pb2.Config, _Mapping]] = ..., replace_system_prompt: _Optional[bool] = ..., metadata: _Optional[_Mapping[str, str]] = ..., origin: _Optional[_Union[_draft_pb2.DraftOrigin, _Mapping]] = ...) -> None: ...

class CreateDraftResponse(_message.Message):
    __slots__ = ("draft", "branch")
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    draft: _draft_pb2.Draft
    branch: _floor_pb2.Branch
    def __init__(self, draft: _Optional[_Union[_draft_pb2.Draft, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class GetDraftRequest(_message.Message):
    __slots__ = ("draft_id",)
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    draft_id: str
    def __init__(self, draft_id: _Optional[str] = ...) -> None: ...

class GetDraftResponse(_message.Message):
    __slots__ = ("draft",)
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    draft: _draft_pb2.Draft
    def __init__(self, draft: _Optional[_Union[_draft_pb2.Draft, _Mapping]] = ...) -> None: ...

class ListDraftsRequest(_message.Message):
    __slots__ = ("project_id", "session_id", "state", "page_size", "page_token")
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    session_id: str
    state: _draft_pb2.DraftState
    page_size: int
    page_token: str
    def __init__(self, project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., state: _Optional[_Union[_draft_pb2.DraftState, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListDraftsResponse(_message.Message):
    __slots__ = ("drafts", "next_page_token")
    DRAFTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    drafts: _containers.RepeatedCompositeFieldContainer[_draft_pb2.Draft]
    next_page_token: str
    def __init__(self, drafts: _Optional[_Iterable[_Union[_draft_pb2.Draft, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class AppendMessageRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "expected_head", "on_pending", "message")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    message: _message_pb2.Message
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., message: _Optional[_Union[_message_pb2.Message, _Mapping]] = ...) -> None: ...

class AppendMessageResponse(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class RespondInput(_message.Message):
    __slots__ = ("messages",)
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    def __init__(self, messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ...) -> None: ...

class RespondEdit(_message.Message):
    __slots__ = ("floor_id", "messages")
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    def __init__(self, floor_id: _Optional[str] = ..., messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ...) -> None: ...

class RespondRegenerate(_message.Message):
    __slots__ = ("floor_id",)
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    def __init__(self, floor_id: _Optional[str] = ...) -> None: ...

class RespondResume(_message.Message):
    __slots__ = ("floor_id",)
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    def __init__(self, floor_id: _Optional[str] = ...) -> None: ...

class Candidate(_message.Message):
    __slots__ = ("instruction", "temperature", "model")
    INSTRUCTION_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    instruction: str
    temperature: float
    model: str
    def __init__(self, instruction: _Optional[str] = ..., temperature: _Optional[float] = ..., model: _Optional[str] = ...) -> None: ...

class RespondRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "expected_head", "on_pending", "input", "edit", "regenerate", "resume", "candidate_count", "candidates", "overrides", "hold", "cancel_on_disconnect")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    EDIT_FIELD_NUMBER: _ClassVar[int]
    REGENERATE_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    HOLD_FIELD_NUMBER: _ClassVar[int]
    CANCEL_ON_DISCONNECT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    input: RespondInput
    edit: RespondEdit
    regenerate: RespondRegenerate
    resume: RespondResume
    candidate_count: int
    candidates: _containers.RepeatedCompositeFieldContainer[Candidate]
    overrides: _config_pb2.Config
    hold: bool
    cancel_on_disconnect: bool
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., input: _Optional[_Union[RespondInput, _Mapping]] = ..., edit: _Optional[_Union[RespondEdit, _Mapping]] = ..., regenerate: _Optional[_Union[RespondRegenerate, _Mapping]] = ..., resume: _Optional[_Union[RespondResume, _Mapping]] = ..., candidate_count: _Optional[int] = ..., candidates: _Optional[_Iterable[_Union[Candidate, _Mapping]]] = ..., overrides: _Optional[_Union[_config_pb2.Config, _Mapping]] = ..., hold: _Optional[bool] = ..., cancel_on_disconnect: _Optional[bool] = ...) -> None: ...

class RespondResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _run_pb2.RunEvent
    def __init__(self, event: _Optional[_Union[_run_pb2.RunEvent, _Mapping]] = ...) -> None: ...

class RespondResult(_message.Message):
    __slots__ = ("run", "floor", "branch")
    RUN_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class GetTranscriptRequest(_message.Message):
    __slots__ = ("draft_id", "include_snapshot", "page_size", "page_token")
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    draft_id: str
    include_snapshot: bool
    page_size: int
    page_token: str
    def __init__(self, draft_id: _Optional[str] = ..., include_snapshot: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetTranscriptResponse(_message.Message):
    __slots__ = ("snapshot_floors", "floors", "positions", "pending_floor", "branch", "next_page_token")
    SNAPSHOT_FLOORS_FIELD_NUMBER: _ClassVar[int]
    FLOORS_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    PENDING_FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    snapshot_floors: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Floor]
    floors: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Floor]
    positions: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Position]
    pending_floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    next_page_token: str
    def __init__(self, snapshot_floors: _Optional[_Iterable[_Union[_floor_pb2.Floor, _Mapping]]] = ..., floors: _Optional[_Iterable[_Union[_floor_pb2.Floor, _Mapping]]] = ..., positions: _Optional[_Iterable[_Union[_floor_pb2.Position, _Mapping]]] = ..., pending_floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class EditFloorRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "expected_head", "on_pending", "floor_id", "input", "output", "effects")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    floor_id: str
    input: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    output: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    effects: _effects_pb2.Effects
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., floor_id: _Optional[str] = ..., input: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., output: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ...) -> None: ...

class EditFloorResponse(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class RegenerateFloorRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "expected_head", "on_pending", "floor_id", "output", "from_page_id", "effects")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    FROM_PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    floor_id: str
    output: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    from_page_id: str
    effects: _effects_pb2.Effects
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., floor_id: _Optional[str] = ..., output: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., from_page_id: _Optional[str] = ..., effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ...) -> None: ...

class RegenerateFloorResponse(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class CommitFloorRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "floor_id", "page_id", "expected_head", "effects")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    floor_id: str
    page_id: str
    expected_head: str
    effects: _effects_pb2.Effects
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., page_id: _Optional[str] = ..., expected_head: _Optional[str] = ..., effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ...) -> None: ...

class CommitFloorResponse(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class MoveHeadRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "expected_head", "on_pending", "floor_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    floor_id: str
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., floor_id: _Optional[str] = ...) -> None: ...

class MoveHeadResponse(_message.Message):
    __slots__ = ("branch",)
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    branch: _floor_pb2.Branch
    def __init__(self, branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class SelectSiblingRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "expected_head", "on_pending", "floor_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    floor_id: str
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., floor_id: _Optional[str] = ...) -> None: ...

class SelectSiblingResponse(_message.Message):
    __slots__ = ("branch",)
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    branch: _floor_pb2.Branch
    def __init__(self, branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class GetTreeRequest(_message.Message):
    __slots__ = ("draft_id", "page_size", "page_token")
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    draft_id: str
    page_size: int
    page_token: str
    def __init__(self, draft_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetTreeResponse(_message.Message):
    __slots__ = ("floors", "next_page_token")
    FLOORS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    floors: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Floor]
    next_page_token: str
    def __init__(self, floors: _Optional[_Iterable[_Union[_floor_pb2.Floor, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class FinalizeDraftRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class FinalizeDraftResponse(_message.Message):
    __slots__ = ("draft",)
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    draft: _draft_pb2.Draft
    def __init__(self, draft: _Optional[_Union[_draft_pb2.Draft, _Mapping]] = ...) -> None: ...

class DiscardDraftRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class DiscardDraftResponse(_message.Message):
    __slots__ = ("draft",)
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    draft: _draft_pb2.Draft
    def __init__(self, draft: _Optional[_Union[_draft_pb2.Draft, _Mapping]] = ...) -> None: ...

class CancelDraftRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CancelDraftResponse(_message.Message):
    __slots__ = ("draft",)
    DRAFT_FIELD_NUMBER: _ClassVar[int]
    draft: _draft_pb2.Draft
    def __init__(self, draft: _Optional[_Union[_draft_pb2.Draft, _Mapping]] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("draft_id", "run_id")
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    draft_id: str
    run_id: str
    def __init__(self, draft_id: _Optional[str] = ..., run_id: _Optional[str] = ...) -> None: ...

class GetRunResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class CancelRunRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "run_id", "keep")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    KEEP_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    run_id: str
    keep: _run_pb2.Keep
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., run_id: _Optional[str] = ..., keep: _Optional[_Union[_run_pb2.Keep, str]] = ...) -> None: ...

class CancelRunResponse(_message.Message):
    __slots__ = ("run", "floor", "branch")
    RUN_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ..., floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class AttachRunRequest(_message.Message):
    __slots__ = ("draft_id", "run_id", "after")
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    draft_id: str
    run_id: str
    after: str
    def __init__(self, draft_id: _Optional[str] = ..., run_id: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...

class AttachRunResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _run_pb2.RunEvent
    def __init__(self, event: _Optional[_Union[_run_pb2.RunEvent, _Mapping]] = ...) -> None: ...

class ToolOutput(_message.Message):
    __slots__ = ("call_id", "content", "is_error")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    content: str
    is_error: bool
    def __init__(self, call_id: _Optional[str] = ..., content: _Optional[str] = ..., is_error: _Optional[bool] = ...) -> None: ...

class ToolApprovalDecision(_message.Message):
    __slots__ = ("call_id", "approve", "reason")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    APPROVE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    approve: bool
    reason: str
    def __init__(self, call_id: _Optional[str] = ..., approve: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class SubmitToolResultsRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "run_id", "results", "approvals")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    APPROVALS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    run_id: str
    results: _containers.RepeatedCompositeFieldContainer[ToolOutput]
    approvals: _containers.RepeatedCompositeFieldContainer[ToolApprovalDecision]
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., run_id: _Optional[str] = ..., results: _Optional[_Iterable[_Union[ToolOutput, _Mapping]]] = ..., approvals: _Optional[_Iterable[_Union[ToolApprovalDecision, _Mapping]]] = ...) -> None: ...

class SubmitToolResultsResponse(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: _run_pb2.Run
    def __init__(self, run: _Optional[_Union[_run_pb2.Run, _Mapping]] = ...) -> None: ...

class ExportOutputPage(_message.Message):
    __slots__ = ("page_id", "with_input")
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    WITH_INPUT_FIELD_NUMBER: _ClassVar[int]
    page_id: str
    with_input: bool
    def __init__(self, page_id: _Optional[str] = ..., with_input: _Optional[bool] = ...) -> None: ...

class ExportPart(_message.Message):
    __slots__ = ("output_page", "proposal_id", "config_patch", "state_patch")
    OUTPUT_PAGE_FIELD_NUMBER: _ClassVar[int]
    PROPOSAL_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIG_PATCH_FIELD_NUMBER: _ClassVar[int]
    STATE_PATCH_FIELD_NUMBER: _ClassVar[int]
    output_page: ExportOutputPage
    proposal_id: str
    config_patch: _staged_write_pb2.ConfigPatch
    state_patch: _staged_write_pb2.StatePatch
    def __init__(self, output_page: _Optional[_Union[ExportOutputPage, _Mapping]] = ..., proposal_id: _Optional[str] = ..., config_patch: _Optional[_Union[_staged_write_pb2.ConfigPatch, _Mapping]] = ..., state_patch: _Optional[_Union[_staged_write_pb2.StatePatch, _Mapping]] = ...) -> None: ...

class ExportDraftRequest(_message.Message):
    __slots__ = ("request_id", "draft_id", "target", "parts", "reason", "finalize")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    FINALIZE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    draft_id: str
    target: _staged_write_pb2.StagedTarget
    parts: _containers.RepeatedCompositeFieldContainer[ExportPart]
    reason: str
    finalize: bool
    def __init__(self, request_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., target: _Optional[_Union[_staged_write_pb2.StagedTarget, _Mapping]] = ..., parts: _Optional[_Iterable[_Union[ExportPart, _Mapping]]] = ..., reason: _Optional[str] = ..., finalize: _Optional[bool] = ...) -> None: ...

class ExportDraftResponse(_message.Message):
    __slots__ = ("staged_write_id", "source_page_id", "state")
    STAGED_WRITE_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    staged_write_id: str
    source_page_id: str
    state: _draft_pb2.ExportState
    def __init__(self, staged_write_id: _Optional[str] = ..., source_page_id: _Optional[str] = ..., state: _Optional[_Union[_draft_pb2.ExportState, str]] = ...) -> None: ...

class Proposal(_message.Message):
    __slots__ = ("proposal_id", "draft_id", "floor_id", "run_id", "config_patch", "state_patch", "create_time")
    PROPOSAL_ID_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIG_PATCH_FIELD_NUMBER: _ClassVar[int]
    STATE_PATCH_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    proposal_id: str
    draft_id: str
    floor_id: str
    run_id: str
    config_patch: _staged_write_pb2.ConfigPatch
    state_patch: _staged_write_pb2.StatePatch
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, proposal_id: _Optional[str] = ..., draft_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., run_id: _Optional[str] = ..., config_patch: _Optional[_Union[_staged_write_pb2.ConfigPatch, _Mapping]] = ..., state_patch: _Optional[_Union[_staged_write_pb2.StatePatch, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ListProposalsRequest(_message.Message):
    __slots__ = ("draft_id", "page_size", "page_token")
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    draft_id: str
    page_size: int
    page_token: str
    def __init__(self, draft_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListProposalsResponse(_message.Message):
    __slots__ = ("proposals", "next_page_token")
    PROPOSALS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    proposals: _containers.RepeatedCompositeFieldContainer[Proposal]
    next_page_token: str
    def __init__(self, proposals: _Optional[_Iterable[_Union[Proposal, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
